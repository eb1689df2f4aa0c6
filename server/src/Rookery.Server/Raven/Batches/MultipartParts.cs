using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.WebUtilities;
using Rookery.Json;

namespace Rookery.Server.Raven.Batches;

/// <summary>
/// Reads the parts of a multipart body one after the other. While it looks for the next part, it reads at most
/// <see cref="MaxBytesBetweenParts"/>: <see cref="MultipartReader"/> keeps a line of headers without an end in memory
/// until the body ends, and only then compares its length with the limit.
/// </summary>
/// <param name="boundary">The boundary between the parts.</param>
/// <param name="body">The body. Each part must be read whole before the next.</param>
internal sealed class MultipartParts(string boundary, Stream body) : IDisposable
{
    // A preamble and the headers of a part, of 16 KiB each, and what the reader reads ahead.
    private const int MaxBytesBetweenParts = (2 * MultipartReader.DefaultHeadersLengthLimit) + (8 << 10);

    private readonly BoundedStream _body = new(body);
    private MultipartReader? _reader;

    /// <inheritdoc/>
    public void Dispose() => _body.Dispose();

    /// <summary>Returns the next part; null after the last one.</summary>
    /// <exception cref="InvalidDataException">The headers are malformed or too long.</exception>
    /// <exception cref="RefusedException">The content of the part is encoded.</exception>
    public async Task<MultipartSection?> ReadNextAsync()
    {
        _reader ??= new MultipartReader(boundary, _body);
        _body.BytesLeft = MaxBytesBetweenParts;
        var part = await _reader.ReadNextSectionAsync();
        _body.BytesLeft = long.MaxValue;
        if (part is not null)
        {
            RefuseEncoding(part, "Content-Encoding", ["identity"]);
            RefuseEncoding(part, "Content-Transfer-Encoding", ["binary", "8bit", "7bit"]);
        }

        return part;
    }

    private static void RefuseEncoding(MultipartSection part, string header, ReadOnlySpan<string> accepted)
    {
        if (part.Headers?.TryGetValue(header, out var values) != true)
        {
            return;
        }

        string encoding = values.ToString().Trim();
        foreach (string one in accepted)
        {
            if (string.Equals(one, encoding, StringComparison.OrdinalIgnoreCase))
            {
                return;
            }
        }

        throw new RefusedException(
            StatusCodes.Status415UnsupportedMediaType,
            RavenType.BadRequest,
            $"A part of the batch has the {header} '{ShortText.Of(encoding, 40)}'. Nothing was stored; send the bytes "
                + "of each part as they are."
        );
    }

    /// <summary>A stream that fails once more bytes are read than are left.</summary>
    private sealed class BoundedStream(Stream inner) : Stream
    {
        public long BytesLeft { get; set; } = long.MaxValue;

        public override bool CanRead => true;

        public override bool CanSeek => false;

        public override bool CanWrite => false;

        public override long Length => throw new NotSupportedException();

        public override long Position
        {
            get => throw new NotSupportedException();
            set => throw new NotSupportedException();
        }

        public override async ValueTask<int> ReadAsync(
            Memory<byte> buffer,
            CancellationToken cancellationToken = default
        )
        {
            int read = await inner.ReadAsync(buffer, cancellationToken);
            BytesLeft -= read;
            return BytesLeft >= 0
                ? read
                : throw new InvalidDataException(
                    $"The headers of a part exceed {MultipartReader.DefaultHeadersLengthLimit >> 10} KiB."
                );
        }

        public override Task<int> ReadAsync(
            byte[] buffer,
            int offset,
            int count,
            CancellationToken cancellationToken
        ) => ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

        public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override void Flush() { }

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
    }
}
