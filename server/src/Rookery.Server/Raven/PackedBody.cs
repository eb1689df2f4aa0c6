using System.Buffers;
using System.IO.Pipelines;

namespace Rookery.Server.Raven;

/// <summary>
/// The body of a request as a stream, for who unpacks it. A read that is cancelled is closed in the request too: one
/// that stays open there keeps the rest of the body from being read, and then a refusal is lost.
/// </summary>
/// <param name="body">The body.</param>
internal sealed class PackedBody(PipeReader body) : Stream
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

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        await using var interrupt = cancellationToken.UnsafeRegister(
            static reader => ((PipeReader)reader!).CancelPendingRead(), body);
        var read = await body.ReadAsync(CancellationToken.None);
        if (read.IsCanceled)
        {
            body.AdvanceTo(read.Buffer.Start);
            throw new OperationCanceledException(cancellationToken);
        }

        var taken = read.Buffer.Slice(0, Math.Min(buffer.Length, read.Buffer.Length));
        taken.CopyTo(buffer.Span);
        body.AdvanceTo(taken.End);
        return (int)taken.Length;
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Flush()
    {
    }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();
}
