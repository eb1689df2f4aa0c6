using System.Buffers;

namespace Rookery.Documents.Commands;

/// <summary>
/// The pool of buffers for commands and frames, which are up to megabytes large. The runtime's shared pool keeps such arrays for a minute or more of collections, by thread;
/// this one forgets them when told to. Thread-safe.
/// </summary>
public static class LargeBuffers
{
    // Smaller ones are the shared pool's: it is faster, and what it keeps of them is little.
    private const int SmallestBytes = 128 << 10;

    // Larger ones are made as they are needed and left to the collector: a frame of many commands and a chunk of a bulk load stay below, and a few kept ones of 16 MiB would be half of a small node's heap.
    private const int LargestBytes = 2 << 20;
    private const int BuffersOfASize = 8;

    private static ArrayPool<byte> large = NewPool();

    /// <summary>Forgets all buffers that nobody holds: the next collection frees them. For a process that has become idle.</summary>
    public static void Trim() => Volatile.Write(ref large, NewPool());

    /// <summary>A buffer of at least <paramref name="bytes"/>, with any content.</summary>
    internal static byte[] Rent(int bytes) => bytes > SmallestBytes ? Volatile.Read(ref large).Rent(bytes) : ArrayPool<byte>.Shared.Rent(bytes);

    /// <summary>Takes a buffer back, once.</summary>
    internal static void Return(byte[] buffer)
    {
        if (buffer.Length > SmallestBytes)
        {
            // It may have come from the pool before the last trim: this one keeps it or lets it go.
            Volatile.Read(ref large).Return(buffer);
        }
        else if (buffer.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    private static ArrayPool<byte> NewPool() => ArrayPool<byte>.Create(LargestBytes, BuffersOfASize);
}
