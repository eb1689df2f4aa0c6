using System.Runtime.InteropServices;
using System.Text;

namespace Rookery.Hosting.Logging;

/// <summary>Who read the output went away, as `head` does when it has enough.</summary>
public sealed class OutputClosedException() : IOException("Nobody reads the output any more.");

/// <summary>The output took no more, as a disk that is full, or is closed.</summary>
/// <param name="error">The kernel's number for the reason.</param>
public sealed class OutputFailedException(int error)
    : IOException($"The output could not be written: {ReasonOf(error)}")
{
    /// <summary>The kernel's number for a descriptor that is not open.</summary>
    internal const int BadDescriptor = 9;

    /// <summary>Whether there is none: it was closed before the command began.</summary>
    public bool IsClosed => error == BadDescriptor;

    /// <summary>Why, as the kernel says it, as a sentence.</summary>
    public string Reason => ReasonOf(error);

    private static string ReasonOf(int error) =>
        error == BadDescriptor ? "it is closed." : $"{Marshal.GetPInvokeErrorMessage(error)}.";
}

/// <summary>
/// Stdout or stderr, without a buffer. The framework's own goes on for ever when nobody reads any more, because it
/// takes that for success.
/// </summary>
public sealed partial class StandardStream : Stream
{
    private const int GetDescriptorFlags = 1;
    private const int ClosesOnExecute = 1;
    private const int Interrupted = 4;
    private const int TryAgain = 11;
    private const int BrokenPipe = 32;
    private const short IsWritable = 4;
    private const short HasNoReader = 8;
    private const int PipeBytes = 4096;

    private readonly int _descriptor;
    private readonly bool _isOpen;

    /// <summary>Writes to a descriptor that was handed to this process.</summary>
    internal StandardStream(int descriptor) => (_descriptor, _isOpen) = (descriptor, IsInherited(descriptor));

    /// <summary>Where results go.</summary>
    public static StandardStream Output { get; } = new(1);

    /// <summary>Where messages go.</summary>
    public static StandardStream Error { get; } = new(2);

    /// <summary>Stdin; empty where it is closed.</summary>
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
        // Nothing is held back.
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

    /// <summary>Writes a text as it is, as far as somebody reads it in time.</summary>
    /// <returns>False where a reader took only a part, or nothing; true too where nobody wants to read it.</returns>
    public bool TryWriteWithin(string text, TimeSpan patience)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(text);
        try
        {
            return WriteWithin(bytes, patience) == bytes.Length;
        }
        catch (Exception unwritten) when (unwritten is OutputFailedException or OutputClosedException)
        {
            return true;
        }
    }

    /// <summary>Writes what a reader takes in time, for who must not wait for one that reads nothing.</summary>
    /// <param name="buffer">The bytes.</param>
    /// <param name="patience">How long room is waited for, in all.</param>
    /// <returns>How many were written: all, or those for which there was room.</returns>
    public int WriteWithin(ReadOnlySpan<byte> buffer, TimeSpan patience)
    {
        int written = 0;
        for (long begun = TimeProvider.System.GetTimestamp(); written < buffer.Length; )
        {
            if (_isOpen && !HasRoomWithin(patience, begun))
            {
                break;
            }

            // A pipe that has room has room for so much.
            var part = buffer.Slice(written, Math.Min(PipeBytes, buffer.Length - written));
            Write(part);
            written += part.Length;
        }

        return written;
    }

    /// <inheritdoc/>
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

    /// <summary>Ends a command that has nothing to write for a while, and whose reader went away.</summary>
    /// <exception cref="OutputClosedException">Nobody reads any more.</exception>
    public void EndIfUnread()
    {
        var writer = new Poll { Descriptor = _descriptor };
        if (_isOpen && PollOne(ref writer, 1, 0) > 0 && (writer.Found & HasNoReader) != 0)
        {
            throw new OutputClosedException();
        }
    }

    /// <summary>
    /// Waits until something can be written, or it is known that nothing can. A signal ends no wait: the line at hand,
    /// often the one that tells of the signal, would be lost.
    /// </summary>
    /// <returns>False when the time is over: a write could then wait without end.</returns>
    private bool HasRoomWithin(TimeSpan patience, long begun)
    {
        while (true)
        {
            var left = patience - TimeProvider.System.GetElapsedTime(begun);
            if (WaitForRoom((int)Math.Max(0, left.TotalMilliseconds)) is { } hasRoom)
            {
                return hasRoom;
            }
        }
    }

    /// <summary>Waits for room; null when a signal came meanwhile.</summary>
    private bool? WaitForRoom(int milliseconds)
    {
        var room = new Poll { Descriptor = _descriptor, Events = IsWritable };
        int found = PollOne(ref room, 1, milliseconds);
        return found < 0 && Marshal.GetLastPInvokeError() == Interrupted ? null : found > 0;
    }

    // Where one is closed, files of the runtime's own take its number. They close on exec; what was handed to this
    // process does not.
    private static bool IsInherited(int descriptor) =>
        Control(descriptor, GetDescriptorFlags) is >= 0 and var flags && (flags & ClosesOnExecute) == 0;

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
        public short Found;
    }
}
