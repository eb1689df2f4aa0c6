using System.Numerics;

namespace Rookery.Platform;

/// <summary>
/// All large buffers of the process: bodies, commands, frames and answers of more than <see cref="SmallestBytes"/>.
/// Those of the sizes of ordinary frames and chunks of a bulk load are kept for the next use, a few of them, until
/// <see cref="Trim"/>. Thread-safe.
/// </summary>
public static class LargeBuffers
{
    /// <summary>Up to here arrays of the shared pool are faster, and what it keeps of them is little.</summary>
    public const int SmallestBytes = 128 << 10;

    private const int LargestKeptBytes = 2 << 20;
    private const long MostIdleBytes = 8 << 20;
    private const int PageBytes = 64 << 10;

    private static readonly Lock Gate = new();
    private static readonly Stack<LargeBuffer>[] IdleBySize = [new(), new(), new(), new()];
    private static long _idleBytes;

    /// <summary>Bytes that somebody holds now.</summary>
    public static long UsedBytes => LargeBuffer.MappedBytes - IdleBytes;

    /// <summary>Bytes that are kept for the next use.</summary>
    public static long IdleBytes => Volatile.Read(ref _idleBytes);

    /// <summary>
    /// Gives back all buffers that nobody holds: for a process that has become idle, or short of memory.
    /// </summary>
    public static void Trim()
    {
        lock (Gate)
        {
            foreach (var idle in IdleBySize)
            {
                while (idle.TryPop(out var buffer))
                {
                    buffer.Free();
                }
            }

            _idleBytes = 0;
        }
    }

    /// <summary>A buffer of at least so many bytes, with any content.</summary>
    /// <exception cref="InsufficientMemoryException">The system refused.</exception>
    internal static LargeBuffer Rent(int bytes)
    {
        int size = SizeFor(bytes);
        if (size <= LargestKeptBytes)
        {
            lock (Gate)
            {
                if (IdleBySize[PlaceOf(size)].TryPop(out var idle))
                {
                    _idleBytes -= size;
                    return idle;
                }
            }
        }

        return new LargeBuffer(size);
    }

    /// <summary>Makes a buffer that is too long to be kept longer; a kept one has its size for good.</summary>
    /// <returns>False when it has to be copied to another.</returns>
    internal static bool TryGrow(LargeBuffer buffer, int bytes)
    {
        if (buffer.Length <= LargestKeptBytes)
        {
            return false;
        }

        buffer.Grow(SizeFor(bytes));
        return true;
    }

    /// <summary>Takes a buffer back, once.</summary>
    internal static void Return(LargeBuffer buffer)
    {
        int size = buffer.Length;
        if (size <= LargestKeptBytes)
        {
            lock (Gate)
            {
                if (_idleBytes + size <= MostIdleBytes)
                {
                    IdleBySize[PlaceOf(size)].Push(buffer);
                    _idleBytes += size;
                    return;
                }
            }
        }

        buffer.Free();
    }

    private static int SizeFor(int bytes) =>
        bytes <= LargestKeptBytes
            ? (int)BitOperations.RoundUpToPowerOf2((uint)Math.Max(bytes, 2 * SmallestBytes))
            : (int)Math.Min(((long)bytes + PageBytes - 1) / PageBytes * PageBytes, Array.MaxLength);

    private static int PlaceOf(int size) => BitOperations.Log2((uint)size / (2 * SmallestBytes));
}
