using Rookery.Access;

namespace Rookery.Data;

/// <summary>
/// The body of a response that may pause long, such as that of a streamed query which reads many documents between two
/// results. If the node hangs, a read fails as <see cref="ResponseWait.BoundLongWorkAsync"/> describes.
/// </summary>
/// <param name="body">The body.</param>
/// <param name="node">The node that sends the body.</param>
/// <param name="time">The clock.</param>
/// <param name="cancellation">Ends synchronous reads.</param>
internal sealed class BoundedReads(Stream body, NodeConnection node, TimeProvider time, CancellationToken cancellation)
    : Stream
{
    /// <inheritdoc/>
    public override bool CanRead => true;

    /// <inheritdoc/>
    public override bool CanSeek => false;

    /// <inheritdoc/>
    public override bool CanWrite => false;

    /// <inheritdoc/>
    public override long Length => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellation).AsTask().GetAwaiter().GetResult();

    /// <inheritdoc/>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        // Most parts have arrived already, so their reads need no time limit.
        var reading = body.ReadAsync(buffer, cancellationToken);
        return reading.IsCompletedSuccessfully
            ? reading.Result
            : await ResponseWait.BoundLongWorkAsync(node, time, _ => reading.AsTask(), cancellation: cancellationToken);
    }

    /// <inheritdoc/>
    public override void Flush() => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void SetLength(long value) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            body.Dispose();
        }

        base.Dispose(disposing);
    }
}
