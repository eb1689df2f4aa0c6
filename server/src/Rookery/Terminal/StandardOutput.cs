using System.Runtime.InteropServices;

namespace Rookery.Terminal;

/// <summary>Who read the output went away, as `head` does when it has enough.</summary>
internal sealed class OutputClosedException() : IOException("Nobody reads the output any more.");

/// <summary>Stdout, without a buffer. The framework's own goes on for ever when nobody reads any more, because it takes that for success.</summary>
internal sealed partial class StandardOutput : Stream
{
    private const int Descriptor = 1;
    private const int Interrupted = 4;
    private const int TryAgain = 11;
    private const int BrokenPipe = 32;

    public override bool CanRead => false;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override void Flush()
    {
        // Nothing is held back.
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) => WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        Write(buffer.Span);
        return ValueTask.CompletedTask;
    }

    public override unsafe void Write(ReadOnlySpan<byte> buffer)
    {
        while (!buffer.IsEmpty)
        {
            nint written;
            fixed (byte* from = buffer)
            {
                written = WriteTo(Descriptor, from, (nuint)buffer.Length);
            }

            if (written >= 0)
            {
                buffer = buffer[(int)written..];
                continue;
            }

            int error = Marshal.GetLastPInvokeError();
            switch (error)
            {
                case Interrupted:
                    break;
                case TryAgain:
                    Thread.Yield();
                    break;
                case BrokenPipe:
                    throw new OutputClosedException();
                default:
                    throw new IOException($"The output could not be written: {Marshal.GetPInvokeErrorMessage(error)}.");
            }
        }
    }

    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    private static unsafe partial nint WriteTo(int descriptor, byte* bytes, nuint count);
}
