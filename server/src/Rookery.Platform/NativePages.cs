using System.Runtime.InteropServices;

namespace Rookery.Platform;

/// <summary>
/// Allocates anonymous memory (mmap), for blocks, indexes, filters and large buffers. Released memory leaves the
/// process at once, except for 2 MiB of small mappings, which are reused until <see cref="Trim"/>. In contrast, the
/// garbage collector keeps the memory of large arrays, and malloc keeps all memory below its highest live block.
/// </summary>
public static unsafe partial class NativePages
{
    // The same numbers on linux-x64 and linux-arm64 (asm-generic/mman-common.h).
    private const int ProtectReadWrite = 3;
    private const int PrivateAnonymous = 0x22;
    private const int AdviceDontNeed = 4;
    private const int AdviceNoHugePages = 15;
    private const int MayMove = 1;

    /// <summary>Maps zeroed memory; <paramref name="bytes"/> is rounded up to whole pages of the system.</summary>
    /// <exception cref="InsufficientMemoryException">The system has no memory.</exception>
    public static byte* Map(long bytes)
    {
        if (ReleasedPages.Take(bytes) is var kept && kept != null)
        {
            return kept;
        }

        nint address = MapMemory(address: 0, (nuint)bytes, ProtectReadWrite, PrivateAnonymous, file: -1, offset: 0);
        byte* mapped = CheckMapped(address, bytes);

        // Where huge pages are always enabled, the kernel would later fill released pages again, in units of 2 MiB.
        _ = Advise(address, (nuint)bytes, AdviceNoHugePages);
        return mapped;
    }

    /// <summary>
    /// Grows or shrinks memory from <see cref="Map"/>, possibly at another address. The pages move without being
    /// copied; new pages are zeros.
    /// </summary>
    /// <exception cref="InsufficientMemoryException">The system has no memory; nothing changed.</exception>
    public static byte* Resize(byte* address, long bytes, long newBytes) =>
        CheckMapped(MoveMemory((nint)address, (nuint)bytes, (nuint)newBytes, MayMove), newBytes);

    /// <summary>Releases all memory of one <see cref="Map"/>.</summary>
    public static void Unmap(byte* address, long bytes)
    {
        if (!ReleasedPages.TryKeep(address, bytes))
        {
            _ = UnmapMemory((nint)address, (nuint)bytes);
        }
    }

    /// <summary>Releases the kept small mappings.</summary>
    public static void Trim()
    {
        while (ReleasedPages.TakeAny() is { Bytes: > 0 } kept)
        {
            _ = UnmapMemory(kept.Address, (nuint)kept.Bytes);
        }
    }

    /// <summary>
    /// Releases the memory of the whole system pages within a range, and keeps the addresses mapped. These pages read
    /// as zeros. Partial pages at the ends keep their content.
    /// </summary>
    public static void Discard(byte* address, long bytes)
    {
        // Only pages wholly inside the range may be released. (A system page has 16 KiB on a Raspberry Pi 5.)
        nint page = Environment.SystemPageSize;
        nint from = ((nint)address + page - 1) / page * page;
        nint to = ((nint)address + (nint)bytes) / page * page;
        if (from < to)
        {
            _ = Advise(from, (nuint)(to - from), AdviceDontNeed);
        }
    }

    private static byte* CheckMapped(nint address, long bytes)
    {
        if (address == -1)
        {
#pragma warning disable MA0012 // The runtime throws it for the same reason: the system has no memory to give.
            throw new InsufficientMemoryException($"The system refused {Amount.Bytes(bytes)} of memory.");
#pragma warning restore MA0012
        }

        return (byte*)address;
    }

    [LibraryImport("libc", EntryPoint = "mmap")]
    private static partial nint MapMemory(nint address, nuint length, int protection, int flags, int file, long offset);

    [LibraryImport("libc", EntryPoint = "mremap")]
    private static partial nint MoveMemory(nint address, nuint length, nuint newLength, int flags);

    [LibraryImport("libc", EntryPoint = "munmap")]
    private static partial int UnmapMemory(nint address, nuint length);

    [LibraryImport("libc", EntryPoint = "madvise")]
    private static partial int Advise(nint address, nuint length, int advice);
}
