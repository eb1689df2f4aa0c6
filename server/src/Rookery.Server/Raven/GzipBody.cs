using System.Buffers;
using System.IO.Compression;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// A body of any length that may be compressed with gzip. It is unpacked as it is read, some pages at a time, so that
/// it takes no more memory however far it grows.
/// </summary>
internal readonly struct GzipBody
{
    private readonly bool _isCompressed;

    private GzipBody(PipeReader reader, bool isCompressed)
    {
        Reader = reader;
        _isCompressed = isCompressed;
    }

    /// <summary>
    /// The bytes as they were before compression. A read throws <see cref="InvalidDataException"/> where the gzip is
    /// damaged or cut off.
    /// </summary>
    public PipeReader Reader { get; }

    /// <summary>Begins to read a body.</summary>
    /// <exception cref="RefusedException">It is in another encoding: 415.</exception>
    public static GzipBody Open(HttpContext http) =>
        http.Request.Headers.ContentEncoding.ToString().ToLowerInvariant() switch
        {
            "" or "identity" => new GzipBody(http.Request.BodyReader, isCompressed: false),
            "gzip" => new GzipBody(
                PipeReader.Create(new GZipStream(new PackedBytes(http.Request.BodyReader), CompressionMode.Decompress)),
                isCompressed: true
            ),
            var other => throw new RefusedException(
                StatusCodes.Status415UnsupportedMediaType,
                RavenType.NotSupported,
                $"Content-Encoding '{other}' is not supported on {http.Request.Path}; send gzip, or the body as it is."
            ),
        };

    /// <summary>
    /// Gives pages and decompressor back. Not where storing failed while a read waited for bytes: that read still goes
    /// on into those pages.
    /// </summary>
    public ValueTask CompleteAsync() => _isCompressed ? Reader.CompleteAsync() : ValueTask.CompletedTask;

    /// <summary>
    /// The body as it came. A token ends a read as <see cref="PipeReader.CancelPendingRead"/> does: the server takes a
    /// read that was ended by a token for open, and could read nothing behind a refusal.
    /// </summary>
    internal sealed class PackedBytes(PipeReader body) : Stream
    {
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
            await using var interrupt = cancellationToken.UnsafeRegister(
                static body => ((PipeReader)body!).CancelPendingRead(),
                body
            );
            while (true)
            {
                var read = await body.ReadAsync(CancellationToken.None);
                int count = 0;
                try
                {
                    cancellationToken.ThrowIfCancellationRequested();
                    count = (int)Math.Min(read.Buffer.Length, buffer.Length);
                    read.Buffer.Slice(0, count).CopyTo(buffer.Span);
                }
                finally
                {
                    body.AdvanceTo(read.Buffer.GetPosition(count));
                }

                // An interruption may come just behind the read that it was meant for, and meets the next one then.
                if (count > 0 || read.IsCompleted || buffer.IsEmpty)
                {
                    return count;
                }
            }
        }

        public override Task<int> ReadAsync(
            byte[] buffer,
            int offset,
            int count,
            CancellationToken cancellationToken
        ) => ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

        public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        public override void Flush() => throw new NotSupportedException();
    }
}
