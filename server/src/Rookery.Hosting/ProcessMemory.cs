using System.Runtime.InteropServices;
using Rookery.Platform;

namespace Rookery.Hosting;

/// <summary>Binds the runtime and the C library to the memory budget of the process.</summary>
public static partial class ProcessMemory
{
    // Parameters of mallopt(3), from malloc.h of glibc.
    private const int TrimThreshold = -1;
    private const int MapThreshold = -3;
    private const int ArenaMaximum = -8;

    // An option of prctl(2), from linux/prctl.h: PR_SET_THP_DISABLE.
    private const int WithoutHugePages = 41;

    // A bare Kestrel program.
    private const long RuntimeBytes = 36 << 20;

    /// <summary>
    /// Bounds the managed heap and makes the C library and the kernel spare memory. Call before anything large is
    /// allocated.
    /// </summary>
    /// <param name="budgetBytes">The budget of the whole process.</param>
    public static void Bound(long budgetBytes)
    {
        // Code, stacks and the runtime itself take about 36 MiB (a bare Kestrel program); memtable and block cache are
        // native memory of their own. What the managed heap may commit at most is half of the budget: the GC collects
        // and compacts harder as it comes near.
        AppContext.SetData("GCHeapHardLimit", (ulong)(budgetBytes / 2));
        GC.RefreshMemoryLimit();

        // glibc keeps an arena per thread by default, and what was freed inside it: two arenas and early trimming hold
        // resident memory near what is used.
        _ = SetAllocatorOption(ArenaMaximum, 2);
        _ = SetAllocatorOption(MapThreshold, 128 << 10);
        _ = SetAllocatorOption(TrimThreshold, 256 << 10);

        // A kernel that gives huge pages to all, as Debian's does, makes each 2 MiB of which one page is in use
        // resident as a whole, in minutes, also what was given back.
        _ = SetProcessOption(WithoutHugePages, 1, 0, 0, 0);
    }

    /// <summary>
    /// Charges the budget with what code, stacks, the runtime and the managed heap usually take, so that caches keep to
    /// what is left: with all of the budget theirs, a node of 128 MiB reached 200 on a slow card.
    /// </summary>
    public static void Charge(MemoryBudget memory)
    {
        long bytes = Math.Min(RuntimeBytes + (memory.TotalBytes / 8), memory.TotalBytes / 2);
        memory.AddShare("runtime", bytes).Reserve(bytes);
    }

    /// <summary>Gives unused memory back to the system: managed, then native.</summary>
    public static void GiveBack()
    {
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
        _ = TrimAllocator(0);
    }

    [LibraryImport("libc", EntryPoint = "mallopt")]
    private static partial int SetAllocatorOption(int parameter, int value);

    [LibraryImport("libc", EntryPoint = "prctl")]
    private static partial int SetProcessOption(int option, nuint value, nuint third, nuint fourth, nuint fifth);

    [LibraryImport("libc", EntryPoint = "malloc_trim")]
    private static partial int TrimAllocator(nuint keepBytes);
}
