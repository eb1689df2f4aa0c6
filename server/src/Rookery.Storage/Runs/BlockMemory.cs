using System.Runtime.CompilerServices;
using Rookery.Disk;

namespace Rookery.Storage;

/// <summary>
/// The frames of the cache, their memory, and who has to go when it runs out. New blocks wait in a small queue (a tenth of the memory) and move to the main
/// queue only when asked for again, or when they come back soon after leaving, so that a walk over everything does not push out what point reads use
/// (S3-FIFO: Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023). Runs remember in the slot of a block when it left: a ghost queue for nothing.
/// All under one lock, which only misses take, for well under a microsecond.
/// </summary>
internal sealed unsafe class BlockMemory : IDisposable
{
    private const int SmallQueueShare = 10;
    private const int EvictionsBeforeClearingSegment = 8;
    private const int GhostMask = 0x3fff_ffff;

    private readonly Lock gate = new();
    private readonly BlockArena arena = new();
    private readonly MemoryShare share;
    private readonly Stack<CachedBlock> free = new();
    private Queue<CachedBlock> small = new();
    private Queue<CachedBlock> main = new();
    private CachedBlock[] frames = [];
    private int frameCount;
    private long capacityBytes;
    private long fixedBytes;
    private long blockBytes;
    private long smallBytes;
    private int evictions;

    public BlockMemory(MemoryShare share)
    {
        this.share = share;
        capacityBytes = share.LimitBytes;
    }

    public long CapacityBytes
    {
        get => Volatile.Read(ref capacityBytes);
        set
        {
            lock (gate)
            {
                capacityBytes = value;
                FitCapacity();
            }
        }
    }

    public long UsedBytes
    {
        get
        {
            lock (gate)
            {
                return arena.MappedBytes + fixedBytes;
            }
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public CachedBlock Frame(int number) => Volatile.Read(ref frames)[number - 1];

    /// <summary>Whether a slot with this content belongs to a block that left the small queue so recently that it would have deserved to stay.</summary>
    public bool IsGhost(int slot) => slot < 0 && ((Volatile.Read(ref evictions) + slot + 1) & GhostMask) < Volatile.Read(ref frameCount);

    /// <summary>A frame with memory for a block, pinned. Evicts others when there is no room.</summary>
    public CachedBlock Take(int memoryBytes, int rawLength, int rows, int now, bool intoMain)
    {
        lock (gate)
        {
            byte* address = TakeMemory(memoryBytes);
            var frame = free.Count > 0 ? free.Pop() : AddFrame();
            frame.Fill(address, memoryBytes, rawLength, rows, now);
            Enqueue(frame, intoMain);
            blockBytes += memoryBytes;
            return frame;
        }
    }

    public void AddFixed(long bytes)
    {
        lock (gate)
        {
            share.Reserve(bytes);
            fixedBytes += bytes;
            FitCapacity();
        }
    }

    public void Forget(RunReader run, long bytes)
    {
        lock (gate)
        {
            share.Release(bytes);
            fixedBytes -= bytes;
            foreach (int slot in run.Slots)
            {
                if (slot > 0 && slot <= frameCount && ReferenceEquals(frames[slot - 1].Owner, run))
                {
                    _ = TryEvict(frames[slot - 1]);
                }
            }
        }
    }

    /// <summary>Evicts what was last asked for before <paramref name="since"/> and gives free memory to the system.</summary>
    public void TrimIdle(int since, int now)
    {
        Invariant.Holds(now > since, "time goes on");
        lock (gate)
        {
            foreach (var frame in frames.AsSpan(0, frameCount))
            {
                if (!frame.IsFree && frame.LastAsked < since)
                {
                    _ = TryEvict(frame);
                }
            }

            small = WithoutFree(small);
            main = WithoutFree(main);
            share.Release((long)arena.Shrink(int.MaxValue) * BlockArena.SegmentBytes);
            FitCapacity();
            arena.DiscardFree();
        }
    }

    public void Dispose()
    {
        lock (gate)
        {
            capacityBytes = 0;
            FitCapacity();
        }
    }

    private byte* TakeMemory(int bytes)
    {
        for (int evicted = 0; ; evicted++)
        {
            byte* address = arena.TryAllocate(bytes);
            if (address is not null)
            {
                return address;
            }

            bool mayGrow = arena.MappedBytes + fixedBytes + BlockArena.SegmentBytes <= capacityBytes && share.TryReserve(BlockArena.SegmentBytes);
            if (mayGrow)
            {
                arena.Grow();
            }
            else if (evicted % EvictionsBeforeClearingSegment == EvictionsBeforeClearingSegment - 1)
            {
                // Free units lie scattered between blocks of other sizes: make one place wholly free.
                ClearSegment(evicted / EvictionsBeforeClearingSegment);
            }
            else if (!EvictOne())
            {
                // Readers hold everything. They must go on, so this is memory above the capacity; the next trim takes it back.
                share.Reserve(BlockArena.SegmentBytes);
                arena.Grow();
            }
        }
    }

    private bool EvictOne()
    {
        // Each frame passes at most four times: three counts down, and out.
        for (int left = 4 * (small.Count + main.Count); left > 0 && small.Count + main.Count > 0; left--)
        {
            bool fromSmall = main.Count == 0 || (small.Count > 0 && smallBytes * SmallQueueShare >= blockBytes);
            var frame = (fromSmall ? small : main).Dequeue();
            if (frame.IsFree)
            {
                free.Push(frame);
                continue;
            }

            if (frame.Frequency > 0 && fromSmall)
            {
                Promote(frame);
            }
            else if (frame.Frequency > 0)
            {
                frame.Frequency--;
                main.Enqueue(frame);
            }
            else if (TryEvict(frame))
            {
                free.Push(frame);
                return true;
            }
            else
            {
                (fromSmall ? small : main).Enqueue(frame);
            }
        }

        return false;
    }

    /// <summary>Frees the memory of an unpinned frame. The frame itself stays where it is queued until its turn comes.</summary>
    private bool TryEvict(CachedBlock frame)
    {
        if (!frame.TryEvict(out var run))
        {
            return false;
        }

        if (run is not null)
        {
            evictions++;
            Volatile.Write(ref run.Slots[frame.Block], frame.IsMain ? 0 : -(evictions & GhostMask) - 1);
        }

        smallBytes -= frame.IsMain ? 0 : frame.MemoryBytes;
        blockBytes -= frame.MemoryBytes;
        arena.Free(frame.Address, frame.MemoryBytes);
        frame.Clear();
        return true;
    }

    private void ClearSegment(int number)
    {
        if (arena.MappedBytes == 0)
        {
            return;
        }

        number %= (int)(arena.MappedBytes / BlockArena.SegmentBytes);
        foreach (var frame in frames.AsSpan(0, frameCount))
        {
            if (!frame.IsFree && arena.SegmentOf(frame.Address) == number)
            {
                _ = TryEvict(frame);
            }
        }
    }

    /// <summary>Clears segments, highest addresses first, until the capacity is kept or readers hold what is left.</summary>
    private void FitCapacity()
    {
        for (int segment = (int)(arena.MappedBytes / BlockArena.SegmentBytes) - 1; segment >= 0 && arena.MappedBytes + fixedBytes > capacityBytes; segment--)
        {
            ClearSegment(segment);
            share.Release((long)arena.Shrink(1) * BlockArena.SegmentBytes);
        }
    }

    private void Promote(CachedBlock frame)
    {
        smallBytes -= frame.MemoryBytes;
        frame.Frequency = 0;
        Enqueue(frame, intoMain: true);
    }

    private void Enqueue(CachedBlock frame, bool intoMain)
    {
        frame.IsMain = intoMain;
        smallBytes += intoMain ? 0 : frame.MemoryBytes;
        (intoMain ? main : small).Enqueue(frame);
    }

    private Queue<CachedBlock> WithoutFree(Queue<CachedBlock> queue)
    {
        var kept = new Queue<CachedBlock>(queue.Count(frame => !frame.IsFree));
        foreach (var frame in queue)
        {
            if (frame.IsFree)
            {
                free.Push(frame);
            }
            else
            {
                kept.Enqueue(frame);
            }
        }

        return kept;
    }

    private CachedBlock AddFrame()
    {
        if (frameCount == frames.Length)
        {
            // Readers look frames up without the lock: they see the old array or the new one, and both have what they ask for.
            var larger = new CachedBlock[Math.Max(64, frames.Length * 2)];
            frames.CopyTo(larger, 0);
            Volatile.Write(ref frames, larger);
        }

        var frame = new CachedBlock(frameCount + 1);
        frames[frameCount++] = frame;
        return frame;
    }
}
