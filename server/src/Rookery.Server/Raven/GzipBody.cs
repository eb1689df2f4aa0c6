using System.Buffers;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Rookery.Platform;
using Rookery.Platform.Compression;

namespace Rookery.Server.Raven;

/// <summary>
/// A request body of any length, compressed with gzip or not. It is decompressed as it is read, a few pages at a time,
/// so the memory it takes does not depend on its length.
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
    /// The decompressed bytes. A read throws <see cref="InvalidDataException"/> where the gzip is damaged or
    /// incomplete, and <see cref="TrailingBytesException"/> where other bytes follow it.
    /// </summary>
    public PipeReader Reader { get; }

    /// <summary>Opens the body of a request.</summary>
    /// <exception cref="RefusedException">The body has another encoding: 415.</exception>
    public static GzipBody Open(HttpContext http) =>
        http.Request.Headers.ContentEncoding.ToString().ToLowerInvariant() switch
        {
            "" or "identity" => new GzipBody(http.Request.BodyReader, isCompressed: false),
            "gzip" => new GzipBody(
                PipeReader.Create(new GzipInputStream(new PackedBytes(http.Request.BodyReader))),
                isCompressed: true
            ),
            var other => throw new RefusedException(
                StatusCodes.Status415UnsupportedMediaType,
                RavenType.NotSupported,
                $"Content-Encoding '{other}' is not supported on {http.Request.Path}; send gzip, or the body as it is."
            ),
        };

    /// <summary>
    /// Releases pages and decompressor. Must not be called while a read is pending, for example after storing failed:
    /// that read still writes into the pages.
    /// </summary>
    public ValueTask CompleteAsync() => _isCompressed ? Reader.CompleteAsync() : ValueTask.CompletedTask;

    /// <summary>
    /// The compressed body as a stream. Cancelling a token ends the pending read by
    /// <see cref="PipeReader.CancelPendingRead"/>. Kestrel would treat a read that was cancelled by its own token as
    /// still open, and could not read the rest of the body after an error.
    /// </summary>
    internal sealed class PackedBytes(PipeReader body) : ReadOnlyStream
    {
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

                // A cancellation that arrives just after its read ends the next read instead.
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
    }
}
