using System.Runtime.InteropServices;

namespace Rookery.Platform;

/// <summary>
/// Released mappings, which the next mapping of the same size reuses. Each munmap interrupts all other processors on
/// which the process runs: without reuse, it took 30 % of the processor time of the simulated power cuts, which open
/// and close many small runs.
/// </summary>
internal static unsafe class ReleasedPages
{
    /// <summary>The largest mapping that is kept, in bytes: a chunk of a memtable.</summary>
    private const int MaxMappingBytes = 256 << 10;

    /// <summary>The maximum number of bytes that are kept in all.</summary>
    private const int MaxKeptBytes = 2 << 20;

    private static readonly Lock Gate = new();

    // By the number of pages of a mapping.
    private static readonly Stack<nint>?[] Kept = new Stack<nint>?[PagesOf(MaxMappingBytes) + 1];
    private static long _keptBytes;

    /// <summary>Returns a kept mapping of this size, zeroed; null for none.</summary>
    public static byte* Take(long bytes)
    {
        if (bytes > MaxMappingBytes)
        {
            return null;
        }

        int pages = PagesOf(bytes);
        int mappedBytes = pages * Environment.SystemPageSize;
        nint address;
        lock (Gate)
        {
            if (Kept[pages] is not { } mappings || !mappings.TryPop(out address))
            {
                return null;
            }

            _keptBytes -= mappedBytes;
        }

        // The whole last page, because a later growth of the mapping may expose its end.
        NativeMemory.Clear((byte*)address, (nuint)mappedBytes);
        return (byte*)address;
    }

    /// <summary>Keeps a mapping for the next <see cref="Take"/>.</summary>
    /// <returns>Whether it was kept. If not, the caller unmaps it.</returns>
    public static bool TryKeep(byte* address, long bytes)
    {
        if (bytes > MaxMappingBytes)
        {
            return false;
        }

        int pages = PagesOf(bytes);
        int mappedBytes = pages * Environment.SystemPageSize;
        lock (Gate)
        {
            if (_keptBytes + mappedBytes > MaxKeptBytes)
            {
                return false;
            }

            (Kept[pages] ??= new Stack<nint>()).Push((nint)address);
            _keptBytes += mappedBytes;
            return true;
        }
    }

    /// <summary>Takes any kept mapping, to be unmapped.</summary>
    /// <returns>Its address, and its length in bytes; 0 if none is kept.</returns>
    public static (nint Address, int Bytes) TakeAny()
    {
        lock (Gate)
        {
            for (int pages = 0; pages < Kept.Length; pages++)
            {
                if (Kept[pages] is { } mappings && mappings.TryPop(out nint address))
                {
                    int mappedBytes = pages * Environment.SystemPageSize;
                    _keptBytes -= mappedBytes;
                    return (address, mappedBytes);
                }
            }

            return default;
        }
    }

    private static int PagesOf(long bytes) =>
        (int)((bytes + Environment.SystemPageSize - 1) / Environment.SystemPageSize);
}
