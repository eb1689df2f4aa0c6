using System.Runtime.CompilerServices;
using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// A cache of decompressed blocks in native memory. A hit takes no lock and computes no hash: every run stores, for
/// each of its blocks, the number of the cache frame that contains it. If several threads request a missing block, one
/// reads it. Thread-safe.
/// </summary>
internal sealed unsafe class BlockCache : IDisposable
{
    /// <summary>Value of a run's slot while a thread reads the block.</summary>
    private const int Loading = int.MaxValue;

    // Objects on which threads wait for a load. Blocks whose numbers have the same remainder share one.
    private readonly object[] _waiting = [.. Enumerable.Range(0, 16).Select(_ => new object())];
    private readonly BlockMemory _memory;
    private int _trimNumber;

    /// <summary>
    /// Creates an empty cache whose capacity is the limit of <paramref name="share"/>. Pinned blocks may exceed it.
    /// </summary>
    public BlockCache(MemoryShare share)
    {
        _memory = new BlockMemory(share, new BlockArena());
        share.AllowYielding(() => _memory.YieldableBytes, _memory.Yield);
    }

    /// <summary>
    /// Native memory for blocks and for the index and filter of every open run, in bytes. Initially the limit of the
    /// share; a lower value evicts immediately.
    /// </summary>
    public long CapacityBytes
    {
        get => _memory.CapacityBytes;
        set => _memory.CapacityBytes = value;
    }

    /// <summary>Native memory in use, including the index and filter of every open run.</summary>
    public long UsedBytes => _memory.UsedBytes;

    /// <summary>Evicts blocks that no read requested since the last call. Call it about every half minute.</summary>
    public void TrimIdle()
    {
        int lastTrim = Volatile.Read(ref _trimNumber);
        _memory.TrimIdle(since: lastTrim, Interlocked.Increment(ref _trimNumber));
    }

    /// <inheritdoc/>
    public void Dispose() => _memory.Dispose();

    /// <summary>
    /// Counts the memory of a run's index and filter, until <see cref="ReleaseFixed"/>; evicts blocks if necessary.
    /// </summary>
    internal void AddFixed(long bytes) => _memory.AddFixed(bytes);

    /// <summary>
    /// Subtracts the memory counted by <see cref="AddFixed"/> and evicts the run's blocks, when the run closes.
    /// </summary>
    internal void ReleaseFixed(long bytes, RunReader run) => _memory.Forget(run, bytes);

    /// <summary>Returns a pinned block; null if it is damaged.</summary>
    /// <param name="run">The run; the caller holds a reference.</param>
    /// <param name="block">Number of the block.</param>
    /// <param name="isPointRead">Whether the read counts as a use that delays eviction. False for cursors, which read
    /// every block only once.</param>
    /// <param name="damage">The damage, or null.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal CachedBlock? Pin(RunReader run, int block, bool isPointRead, out RunDamage? damage)
    {
        if (PinFromMemory(run, block, isPointRead) is { } frame)
        {
            damage = null;
            return frame;
        }

        return PinSlowly(run, block, isPointRead, out damage);
    }

    /// <summary>
    /// Returns a pinned block, without waiting; null if it is not in memory, or is being loaded or evicted.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal CachedBlock? PinFromMemory(RunReader run, int block, bool isPointRead)
    {
        int slot = Volatile.Read(ref run.Slots[block]);
        if (slot is > 0 and < Loading)
        {
            var frame = _memory.Frame(slot);
            if (frame.TryPin(run, block))
            {
                if (isPointRead)
                {
                    frame.Touch(_trimNumber);
                }

                return frame;
            }
        }

        return null;
    }

    private CachedBlock? PinSlowly(RunReader run, int block, bool isPointRead, out RunDamage? damage)
    {
        damage = null;
        ref int slot = ref run.Slots[block];
        var spin = default(SpinWait);
        while (true)
        {
            int current = Volatile.Read(ref slot);
            if (current == Loading)
            {
                WaitForLoad(ref slot, block);
            }
            else if (current > 0)
            {
                var frame = _memory.Frame(current);
                if (frame.TryPin(run, block))
                {
                    if (isPointRead)
                    {
                        frame.Touch(_trimNumber);
                    }

                    return frame;
                }

                // The frame is being evicted: the slot changes in a moment.
                spin.SpinOnce();
            }
            else if (Interlocked.CompareExchange(ref slot, Loading, current) == current)
            {
                return Load(run, block, _memory.IsGhost(current), out damage);
            }
        }
    }

    private CachedBlock? Load(RunReader run, int block, bool wasEvictedRecently, out RunDamage? damage)
    {
        int outcome = 0;
        try
        {
            var frame = run.ReadBlock(block, this, wasEvictedRecently, out damage);
            outcome = frame?.Number ?? 0;
            return frame;
        }
        finally
        {
            object waiters = _waiting[block % _waiting.Length];
            lock (waiters)
            {
                Volatile.Write(ref run.Slots[block], outcome);
                Monitor.PulseAll(waiters);
            }
        }
    }

    /// <summary>
    /// Fills a frame with a block that was read. The frame is pinned and not visible to other threads yet; null if the
    /// payload is malformed.
    /// </summary>
    internal CachedBlock? Fill(in SealedBlock sealedBlock, RunReader run, int block, bool wasEvictedRecently)
    {
        var frame = _memory.Take(
            sealedBlock.MemoryBytes,
            sealedBlock.RawLength,
            sealedBlock.Rows,
            _trimNumber,
            wasEvictedRecently
        );
        if (!sealedBlock.TryUnpack(frame.Address))
        {
            frame.Unpin();
            return null;
        }

        frame.Publish(run, block);
        return frame;
    }

    private void WaitForLoad(ref int slot, int block)
    {
        object waiters = _waiting[block % _waiting.Length];
        lock (waiters)
        {
            while (Volatile.Read(ref slot) == Loading)
            {
                Monitor.Wait(waiters);
            }
        }
    }
}
