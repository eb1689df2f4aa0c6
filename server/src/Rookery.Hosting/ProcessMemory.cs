using System.Runtime.InteropServices;

namespace Rookery.Hosting;

/// <summary>Limits the .NET runtime and the C library to the memory budget of the process.</summary>
public static partial class ProcessMemory
{
    // Parameters of mallopt(3), from malloc.h of glibc.
    private const int TrimThreshold = -1;
    private const int MapThreshold = -3;
    private const int ArenaMaximum = -8;

    // An option of prctl(2), from linux/prctl.h: PR_SET_THP_DISABLE.
    private const int WithoutHugePages = 41;

    /// <summary>
    /// Sets the limit of the managed heap, and makes the C library and the kernel save memory. Call it before anything
    /// large is allocated.
    /// </summary>
    /// <param name="budgetBytes">The budget of the whole process.</param>
    public static void Bound(long budgetBytes)
    {
        // The most that the managed heap may commit; near it the GC collects and compacts harder. Allocations beyond it
        // end the process, so it is twice what the shares of the budget may hold on the heap
        // (MemoryBudget.ManagedLimitBytes). What the heap commits is charged to the budget (HeapCharge).
        AppContext.SetData("GCHeapHardLimit", (ulong)(budgetBytes / 8 * 5));
        GC.RefreshMemoryLimit();

        // By default glibc keeps an arena of memory per thread, and freed memory stays in it. Two arenas and early
        // trimming keep the resident memory close to the memory in use.
        _ = SetAllocatorOption(ArenaMaximum, 2);
        _ = SetAllocatorOption(MapThreshold, 128 << 10);
        _ = SetAllocatorOption(TrimThreshold, 256 << 10);

        // Debian's kernel gives transparent huge pages to all programs. Within minutes it makes each 2 MiB with one
        // page in use resident as a whole, even after the other pages were returned.
        _ = SetProcessOption(WithoutHugePages, 1, third: 0, fourth: 0, fifth: 0);
    }

    /// <summary>Returns unused memory to the system: managed first, then native.</summary>
    public static void ReleaseUnused()
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
