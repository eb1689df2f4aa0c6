using Rookery.Platform;

namespace Rookery.Hosting;

/// <summary>
/// Charges the budget for code, stacks, the runtime and the managed heap, as the share "runtime". The charge is renewed
/// after each garbage collection. If it then exceeds the free part of the budget, caches shrink. So memory that no
/// other share counts (buffers of connections, requests, garbage) leaves less to the caches, and the process stays near
/// its budget.
/// </summary>
internal sealed class HeapCharge
{
    // Code, stacks and the runtime of a program that only starts Kestrel.
    private const long RuntimeBytes = 36 << 20;

    private static HeapCharge? _current;

    private readonly MemoryBudget _memory;
    private readonly Func<long> _committedBytes;
    private readonly MemoryShare _share;
    private readonly long _minimumBytes;

    /// <summary>
    /// Charges at least what the runtime and the heap usually take. Without that, caches filled the budget before the
    /// heap grew, and a node of 128 MiB reached 200 MiB on a slow card.
    /// </summary>
    /// <param name="memory">The budget of the process.</param>
    /// <param name="committedBytes">Returns the memory that the managed heap has committed, in bytes.</param>
    public HeapCharge(MemoryBudget memory, Func<long> committedBytes)
    {
        (_memory, _committedBytes) = (memory, committedBytes);
        _minimumBytes = Math.Min(RuntimeBytes + (memory.TotalBytes / 8), memory.TotalBytes / 2);
        _share = memory.AddShare("runtime", memory.TotalBytes);
        _share.Reserve(_minimumBytes);
    }

    /// <summary>
    /// Charges the process's heap from now on, after each garbage collection, until it is charged to another budget.
    /// </summary>
    public static void Follow(MemoryBudget memory)
    {
        _current = new HeapCharge(memory, static () => GC.GetGCMemoryInfo(GCKind.Any).TotalCommittedBytes);
        AfterCollection.Begin(_current);
    }

    /// <summary>
    /// Renews the charge. If the budget is then exceeded, caches shrink by the difference. Not thread-safe.
    /// </summary>
    public void Renew()
    {
        // Shares whose memory is on the heap are charged already.
        long bytes = Math.Max(_minimumBytes, RuntimeBytes + _committedBytes() - _memory.ManagedBytes);
        long increase = bytes - _share.UsedBytes;
        if (increase <= 0)
        {
            _share.Release(-increase);
            return;
        }

        _share.Reserve(increase);
        if (_memory.UsedBytes > _memory.TotalBytes)
        {
            LargeBuffers.Trim();
            _memory.Relieve(0);
        }
    }

    /// <summary>An object without references, whose finalizer runs after the next collection.</summary>
    private sealed class AfterCollection(HeapCharge charge)
    {
        public static void Begin(HeapCharge charge) => _ = new AfterCollection(charge);

#pragma warning disable MA0055 // A finalizer is the runtime's only notice of each collection; it releases nothing.
        ~AfterCollection()
#pragma warning restore MA0055
        {
            try
            {
                if (charge == _current)
                {
                    charge.Renew();
                    Begin(charge);
                }
            }
            catch (OutOfMemoryException)
            {
                // This object survived a collection, so its next finalization may come late.
                GC.ReRegisterForFinalize(this);
            }
        }
    }
}
