using System.Runtime.InteropServices;
using System.Text;

namespace Rookery.Hosting.Logging;

/// <summary>Thrown if the reader of the output has closed it, as `head` does when it has enough lines.</summary>
public sealed class OutputClosedException() : IOException("The output is closed: its reader has ended.");

/// <summary>Thrown if the output could not be written, for example to a full disk, or is closed.</summary>
/// <param name="error">The error number (errno).</param>
public sealed class OutputFailedException(int error)
    : IOException($"The output could not be written: {ReasonOf(error)}")
{
    /// <summary>EBADF: the descriptor is not open.</summary>
    internal const int BadDescriptor = 9;

    /// <summary>Whether the output was closed before the command began.</summary>
    public bool IsClosed => error == BadDescriptor;

    /// <summary>The reason as a sentence, in the kernel's words.</summary>
    public string Reason => ReasonOf(error);

    private static string ReasonOf(int error) =>
        error == BadDescriptor ? "it is closed." : $"{Marshal.GetPInvokeErrorMessage(error)}.";
}

/// <summary>
/// Stdout or stderr without a buffer. .NET's own console stream ignores a closed pipe, so a command without a reader
/// would never end.
/// </summary>
public sealed partial class StandardStream : Stream
{
    private const int GetDescriptorFlags = 1; // F_GETFD
    private const int ClosesOnExecute = 1; // FD_CLOEXEC
    private const int Interrupted = 4; // EINTR
    private const int TryAgain = 11; // EAGAIN
    private const int BrokenPipe = 32; // EPIPE
    private const short IsWritable = 4; // POLLOUT
    private const short HasNoReader = 8; // POLLERR
    private const int PipeBytes = 4096; // PIPE_BUF

    private readonly int _descriptor;
    private readonly bool _isOpen;

    /// <summary>Opens a descriptor that this process inherited.</summary>
    internal StandardStream(int descriptor) => (_descriptor, _isOpen) = (descriptor, IsInherited(descriptor));

    /// <summary>Stdout, for results.</summary>
    public static StandardStream Output { get; } = new(1);

    /// <summary>Stderr, for messages.</summary>
    public static StandardStream Error { get; } = new(2);

    /// <summary>Opens stdin; an empty stream if it is closed.</summary>
    public static Stream OpenInput() => IsInherited(0) ? Console.OpenStandardInput() : Null;

    /// <inheritdoc/>
    public override bool CanRead => false;

    /// <inheritdoc/>
    public override bool CanSeek => false;

    /// <inheritdoc/>
    public override bool CanWrite => true;

    /// <inheritdoc/>
    public override long Length => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <inheritdoc/>
    public override void Flush()
    {
        // There is no buffer.
    }

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void SetLength(long value) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    /// <inheritdoc/>
    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <inheritdoc/>
    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        Write(buffer.Span);
        return ValueTask.CompletedTask;
    }

    /// <summary>Writes a text, or the part of it that the reader reads in time.</summary>
    /// <returns>False if the time was over and a part of the text was dropped. True if all was written, or if the
    /// output is closed or fails: then nobody reads it.</returns>
    public bool TryWriteWithin(string text, TimeSpan timeout)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(text);
        try
        {
            return WriteWithin(bytes, timeout) == bytes.Length;
        }
        catch (Exception unwritten) when (unwritten is OutputFailedException or OutputClosedException)
        {
            return true;
        }
    }

    /// <summary>
    /// Writes the bytes that the reader reads in time, for a caller that must not wait for a stalled reader.
    /// </summary>
    /// <param name="buffer">The bytes.</param>
    /// <param name="timeout">How long to wait for the reader, in all.</param>
    /// <returns>The number of bytes written.</returns>
    public int WriteWithin(ReadOnlySpan<byte> buffer, TimeSpan timeout)
    {
        long startedAt = TimeProvider.System.GetTimestamp();
        int written = 0;
        while (written < buffer.Length)
        {
            if (_isOpen && !HasRoomWithin(timeout, startedAt))
            {
                break;
            }

            // poll(2) reports a pipe as writable if it takes at least this many bytes (PIPE_BUF).
            var part = buffer.Slice(written, Math.Min(PipeBytes, buffer.Length - written));
            Write(part);
            written += part.Length;
        }

        return written;
    }

    /// <summary>
    /// Writes all bytes. Waits without a limit for a reader that has stopped reading, as every Unix command does: a
    /// pipe to `less` can be idle for hours. A node's log uses <see cref="WriteWithin"/>.
    /// </summary>
    /// <exception cref="OutputClosedException">The reader has closed the output.</exception>
    /// <exception cref="OutputFailedException">The output cannot be written.</exception>
    public override unsafe void Write(ReadOnlySpan<byte> buffer)
    {
        if (!_isOpen)
        {
            throw new OutputFailedException(OutputFailedException.BadDescriptor);
        }

        while (!buffer.IsEmpty)
        {
            nint written;
            fixed (byte* from = buffer)
            {
                written = WriteTo(_descriptor, from, (nuint)buffer.Length);
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
                    _ = WaitForRoom(Timeout.Infinite);
                    break;
                case BrokenPipe:
                    throw new OutputClosedException();
                default:
                    throw new OutputFailedException(error);
            }
        }
    }

    /// <summary>
    /// Throws if the reader has closed the output. A command that waits long without writing calls this, so that the
    /// command ends when its reader ends.
    /// </summary>
    /// <exception cref="OutputClosedException">The reader has closed the output.</exception>
    public void ThrowIfUnread()
    {
        var writer = new Poll { Descriptor = _descriptor };
        if (_isOpen && PollOne(ref writer, count: 1, milliseconds: 0) > 0 && (writer.ReturnedEvents & HasNoReader) != 0)
        {
            throw new OutputClosedException();
        }
    }

    /// <summary>
    /// Waits until the descriptor is writable or has failed. A signal does not end the wait: the line being written
    /// would be lost, and often it is the one that reports the signal.
    /// </summary>
    /// <returns>False if the time is over: a write could block for ever.</returns>
    private bool HasRoomWithin(TimeSpan timeout, long startedAt)
    {
        while (true)
        {
            var remaining = timeout - TimeProvider.System.GetElapsedTime(startedAt);
            if (WaitForRoom((int)Math.Max(0, remaining.TotalMilliseconds)) is { } hasRoom)
            {
                return hasRoom;
            }
        }
    }

    /// <summary>Polls until the descriptor is writable or has failed.</summary>
    /// <param name="milliseconds">The time limit; -1 for none.</param>
    /// <returns>False if the time is over; null if a signal interrupted the wait.</returns>
    private bool? WaitForRoom(int milliseconds)
    {
        var poll = new Poll { Descriptor = _descriptor, Events = IsWritable };
        int ready = PollOne(ref poll, count: 1, milliseconds);
        return ready < 0 && Marshal.GetLastPInvokeError() == Interrupted ? null : ready > 0;
    }

    // If a standard descriptor is closed, a file of .NET can have its number. Such files have the flag close-on-exec,
    // and inherited descriptors do not.
    private static bool IsInherited(int descriptor)
    {
        int flags = Control(descriptor, GetDescriptorFlags);
        return flags >= 0 && (flags & ClosesOnExecute) == 0;
    }

    [LibraryImport("libc", EntryPoint = "fcntl")]
    private static partial int Control(int descriptor, int command);

    [LibraryImport("libc", EntryPoint = "poll", SetLastError = true)]
    private static partial int PollOne(ref Poll descriptor, nuint count, int milliseconds);

    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    private static unsafe partial nint WriteTo(int descriptor, byte* bytes, nuint count);

    /// <summary>struct pollfd.</summary>
    [StructLayout(LayoutKind.Sequential)]
    private struct Poll
    {
        public int Descriptor;
        public short Events;
        public short ReturnedEvents;
    }
}
