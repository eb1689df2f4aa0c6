using System.Runtime.CompilerServices;
using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// The frames of the block cache, their memory, and their eviction. New blocks enter a small queue (a tenth of the
/// memory). They move to the main queue when they are requested again, or if they return soon after their eviction, so
/// that a full scan does not evict blocks of point reads (S3-FIFO: Yang et al., "FIFO queues are all you need for cache
/// eviction", SOSP 2023). The paper's ghost queue is not needed, because a block's slot in its run records when it was
/// evicted. One lock protects everything. Only misses take it, for less than a microsecond.
/// </summary>
internal sealed unsafe class BlockMemory : IDisposable
{
    // The small queue gets the block memory divided by this.
    private const int SmallQueueDivisor = 10;

    // When other consumers need memory, the cache keeps at least its limit divided by this.
    private const int KeptDivisor = 4;
    private const int EvictionsBeforeClearingSegment = 8;

    // The slot of a block that left the small queue contains -1 minus the number of evictions until then, modulo 2^30.
    private const int GhostMask = 0x3fff_ffff;

    private readonly Lock _gate = new();
    private readonly BlockArena _arena;
    private readonly MemoryShare _share;
    private readonly Stack<CachedBlock> _freeFrames = new();
    private Queue<CachedBlock> _small = new();
    private Queue<CachedBlock> _main = new();
    private CachedBlock[] _frames = [];
    private int _frameCount;
    private long _capacityBytes;
    private long _fixedBytes;
    private long _blockBytes;
    private long _smallBytes;
    private int _evictions;

    public BlockMemory(MemoryShare share, BlockArena arena)
    {
        _share = share;
        _arena = arena;
        _capacityBytes = share.LimitBytes;
    }

    public long CapacityBytes
    {
        get => Volatile.Read(ref _capacityBytes);
        set
        {
            lock (_gate)
            {
                _capacityBytes = value;
                FitCapacity();
            }
        }
    }

    public long UsedBytes
    {
        get
        {
            lock (_gate)
            {
                return _arena.MappedBytes + _fixedBytes;
            }
        }
    }

    /// <summary>Bytes that <see cref="Yield"/> can release, if readers pin few blocks.</summary>
    public long YieldableBytes
    {
        get
        {
            lock (_gate)
            {
                return Math.Max(0, _arena.MappedBytes + _fixedBytes - Math.Max(_fixedBytes, KeptBytes));
            }
        }
    }

    private long KeptBytes => _share.LimitBytes / KeptDivisor;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public CachedBlock Frame(int number) => Volatile.Read(ref _frames)[number - 1];

    /// <summary>
    /// Returns whether a slot's value means that the block left the small queue so recently that it should enter the
    /// main queue.
    /// </summary>
    public bool IsGhost(int slot)
    {
        int evictionsSince = (Volatile.Read(ref _evictions) + slot + 1) & GhostMask;
        return slot < 0 && evictionsSince < Volatile.Read(ref _frameCount);
    }

    /// <summary>Returns a pinned frame with memory for a block. Evicts others if necessary.</summary>
    public CachedBlock Take(int memoryBytes, int rawLength, int rows, int trimNumber, bool intoMain)
    {
        lock (_gate)
        {
            byte* address = AllocateMemory(memoryBytes);
            var frame = _freeFrames.Count > 0 ? _freeFrames.Pop() : AddFrame();
            frame.Fill(address, memoryBytes, rawLength, rows, trimNumber);
            Enqueue(frame, intoMain);
            _blockBytes += memoryBytes;
            return frame;
        }
    }

    /// <summary>Counts memory of an open run outside of blocks, such as its index.</summary>
    public void AddFixed(long bytes)
    {
        lock (_gate)
        {
            _share.Reserve(bytes);
            _fixedBytes += bytes;
            FitCapacity();
        }
    }

    /// <summary>Releases the fixed memory of a run that is closed, and evicts its blocks.</summary>
    public void Forget(RunReader run, long bytes)
    {
        lock (_gate)
        {
            _share.Release(bytes);
            _fixedBytes -= bytes;
            foreach (int slot in run.Slots)
            {
                if (slot > 0 && slot <= _frameCount && ReferenceEquals(_frames[slot - 1].Owner, run))
                {
                    _ = TryEvict(_frames[slot - 1]);
                }
            }
        }
    }

    /// <summary>
    /// Evicts blocks that were last requested before <paramref name="since"/>, and returns free memory to the system.
    /// </summary>
    public void TrimIdle(int since, int trimNumber)
    {
        Invariant.Holds(trimNumber > since, "trims are numbered upwards");
        lock (_gate)
        {
            foreach (var frame in _frames.AsSpan(0, _frameCount))
            {
                if (!frame.IsFree && frame.LastRequested < since)
                {
                    _ = TryEvict(frame);
                }
            }

            _small = WithoutFree(_small);
            _main = WithoutFree(_main);
            _share.Release((long)_arena.Shrink(int.MaxValue) * BlockArena.SegmentBytes);
            FitCapacity();
            _arena.DiscardFree();
        }
    }

    /// <summary>Evicts blocks until <paramref name="bytes"/> are released, or a quarter of the limit is left.</summary>
    public void Yield(long bytes)
    {
        lock (_gate)
        {
            FitCapacity(Math.Max(_arena.MappedBytes + _fixedBytes - bytes, KeptBytes));
        }
    }

    public void Dispose()
    {
        lock (_gate)
        {
            _capacityBytes = 0;
            FitCapacity();
        }
    }

    private byte* AllocateMemory(int bytes)
    {
        for (int evicted = 0; ; evicted++)
        {
            byte* address = _arena.TryAllocate(bytes);
            if (address is not null)
            {
                return address;
            }

            bool mayGrow =
                _arena.MappedBytes + _fixedBytes + BlockArena.SegmentBytes <= _capacityBytes
                && _share.TryReserve(BlockArena.SegmentBytes);
            if (mayGrow)
            {
                MapReservedSegment();
            }
            else if (evicted % EvictionsBeforeClearingSegment == EvictionsBeforeClearingSegment - 1)
            {
                // Free units are scattered between blocks of other sizes: evict all blocks of one segment.
                ClearSegment(evicted / EvictionsBeforeClearingSegment);
            }
            else if (!EvictOne())
            {
                // Readers pin all blocks. They must be able to continue, so the capacity is exceeded until the next
                // trim.
                _share.Reserve(BlockArena.SegmentBytes);
                MapReservedSegment();
            }
        }
    }

    private void MapReservedSegment()
    {
        try
        {
            _arena.Grow();
        }
        catch
        {
            _share.Release(BlockArena.SegmentBytes); // only mapped segments are released later
            throw;
        }
    }

    private bool EvictOne()
    {
        // Each frame reaches the head of the queue at most four times: three decrements of its frequency, then its
        // eviction.
        int attempts = 4 * (_small.Count + _main.Count);
        while (attempts > 0 && _small.Count + _main.Count > 0)
        {
            attempts--;
            bool fromSmall = _main.Count == 0 || (_small.Count > 0 && _smallBytes * SmallQueueDivisor >= _blockBytes);
            var queue = fromSmall ? _small : _main;
            var frame = queue.Dequeue();
            if (frame.IsFree)
            {
                _freeFrames.Push(frame);
                continue;
            }

            if (frame.Frequency > 0 && fromSmall)
            {
                Promote(frame);
            }
            else if (frame.Frequency > 0)
            {
                frame.Frequency--;
                _main.Enqueue(frame);
            }
            else if (TryEvict(frame))
            {
                _freeFrames.Push(frame);
                return true;
            }
            else
            {
                queue.Enqueue(frame);
            }
        }

        return false;
    }

    /// <summary>Frees the memory of an unpinned frame. The frame itself stays in its queue until its turn.</summary>
    private bool TryEvict(CachedBlock frame)
    {
        if (!frame.TryEvict(out var run))
        {
            return false;
        }

        if (run is not null)
        {
            _evictions++;
            Volatile.Write(ref run.Slots[frame.Block], frame.IsMain ? 0 : -(_evictions & GhostMask) - 1);
        }

        _smallBytes -= frame.IsMain ? 0 : frame.MemoryBytes;
        _blockBytes -= frame.MemoryBytes;
        _arena.Free(frame.Address, frame.MemoryBytes);
        frame.Clear();
        return true;
    }

    private void ClearSegment(int number)
    {
        if (_arena.MappedBytes == 0)
        {
            return;
        }

        number %= (int)(_arena.MappedBytes / BlockArena.SegmentBytes);
        foreach (var frame in _frames.AsSpan(0, _frameCount))
        {
            if (!frame.IsFree && _arena.SegmentOf(frame.Address) == number)
            {
                _ = TryEvict(frame);
            }
        }
    }

    /// <summary>
    /// Clears segments, highest addresses first, until the memory fits the capacity or all remaining blocks are pinned.
    /// </summary>
    private void FitCapacity() => FitCapacity(_capacityBytes);

    private void FitCapacity(long capacityBytes)
    {
        int segment = (int)(_arena.MappedBytes / BlockArena.SegmentBytes);
        while (segment > 0 && _arena.MappedBytes + _fixedBytes > capacityBytes)
        {
            segment--;
            ClearSegment(segment);
            _share.Release((long)_arena.Shrink(1) * BlockArena.SegmentBytes);
        }
    }

    private void Promote(CachedBlock frame)
    {
        _smallBytes -= frame.MemoryBytes;
        frame.Frequency = 0;
        Enqueue(frame, intoMain: true);
    }

    private void Enqueue(CachedBlock frame, bool intoMain)
    {
        frame.IsMain = intoMain;
        if (intoMain)
        {
            _main.Enqueue(frame);
            return;
        }

        _smallBytes += frame.MemoryBytes;
        _small.Enqueue(frame);
    }

    private Queue<CachedBlock> WithoutFree(Queue<CachedBlock> queue)
    {
        var kept = new Queue<CachedBlock>(queue.Count(frame => !frame.IsFree));
        foreach (var frame in queue)
        {
            if (frame.IsFree)
            {
                _freeFrames.Push(frame);
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
        if (_frameCount == _frames.Length)
        {
            // Readers look up frames without the lock: they see the old or the new array, and both contain their frame.
            var larger = new CachedBlock[Math.Max(64, _frames.Length * 2)];
            _frames.CopyTo(larger, 0);
            Volatile.Write(ref _frames, larger);
        }

        var frame = new CachedBlock(_frameCount + 1);
        _frames[_frameCount++] = frame;
        return frame;
    }
}
