using System.Numerics;

namespace Rookery.Platform;

/// <summary>
/// Pools the large buffers of the process: request bodies, commands, frames and responses of more than
/// <see cref="SmallestBytes"/>. A few buffers of common sizes are kept for reuse until <see cref="Trim"/>. Thread-safe.
/// </summary>
public static class LargeBuffers
{
    /// <summary>
    /// Up to this size, arrays of the shared pool are used. They are faster, and the pool keeps few of them.
    /// </summary>
    public const int SmallestBytes = 128 << 10;

    private const int LargestKeptBytes = 2 << 20;
    private const long MaxIdleBytes = 8 << 20;
    private const int PageBytes = 64 << 10;

    private static readonly Lock Gate = new();

    // Unused buffers of 256 KiB, 512 KiB, 1 MiB and 2 MiB.
    private static readonly Stack<LargeBuffer>[] IdleBySize = [new(), new(), new(), new()];
    private static long _idleBytes;

    /// <summary>Bytes in use.</summary>
    public static long UsedBytes => LargeBuffer.MappedBytes - IdleBytes;

    /// <summary>Bytes kept for reuse.</summary>
    public static long IdleBytes => Volatile.Read(ref _idleBytes);

    /// <summary>Releases all unused buffers. For a process that has become idle or is short of memory.</summary>
    public static void Trim()
    {
        NativePages.Trim();
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

    /// <summary>Returns a buffer of at least this size, with arbitrary content.</summary>
    /// <exception cref="InsufficientMemoryException">The system has no memory.</exception>
    internal static LargeBuffer Rent(int bytes)
    {
        int size = SizeFor(bytes);
        if (size <= LargestKeptBytes)
        {
            lock (Gate)
            {
                if (IdleBySize[SizeClassOf(size)].TryPop(out var idle))
                {
                    _idleBytes -= size;
                    return idle;
                }
            }
        }

        return new LargeBuffer(size);
    }

    /// <summary>Grows a buffer that is too large to be pooled; pooled sizes are fixed.</summary>
    /// <returns>False if the content must be copied to another buffer.</returns>
    internal static bool TryGrow(LargeBuffer buffer, int bytes)
    {
        if (buffer.Length <= LargestKeptBytes)
        {
            return false;
        }

        buffer.Grow(SizeFor(bytes));
        return true;
    }

    /// <summary>Returns a buffer to the pool.</summary>
    internal static void Return(LargeBuffer buffer)
    {
        int size = buffer.Length;
        if (size <= LargestKeptBytes)
        {
            lock (Gate)
            {
                if (_idleBytes + size <= MaxIdleBytes)
                {
                    IdleBySize[SizeClassOf(size)].Push(buffer);
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

    private static int SizeClassOf(int size) => BitOperations.Log2((uint)size / (2 * SmallestBytes));
}
