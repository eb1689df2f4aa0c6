using System.Runtime.CompilerServices;
using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// Decompressed blocks of runs in native memory. A hit takes no lock and no hash: every run keeps the number of the
/// frame of each of its blocks. A miss is read once, however many ask. Safe for any number of threads.
/// </summary>
internal sealed unsafe class BlockCache : IDisposable
{
    /// <summary>In a run's slot: somebody is reading the block.</summary>
    private const int Loading = int.MaxValue;

    private readonly object[] _waiting = [.. Enumerable.Range(0, 16).Select(_ => new object())];
    private readonly BlockMemory _memory;
    private int _now;

    /// <summary>
    /// Makes an empty cache whose capacity is the limit of <paramref name="share"/>. Blocks that readers hold may
    /// exceed it for as long as they do.
    /// </summary>
    public BlockCache(MemoryShare share) => _memory = new BlockMemory(share);

    /// <summary>
    /// Native memory that blocks, and index and filter of every open run, may use together. At first the limit of the
    /// share; setting a lower one evicts at once.
    /// </summary>
    public long CapacityBytes
    {
        get => _memory.CapacityBytes;
        set => _memory.CapacityBytes = value;
    }

    /// <summary>Native memory taken from the system, index and filter of every open run included.</summary>
    public long UsedBytes => _memory.UsedBytes;

    /// <summary>
    /// Gives the memory of blocks back that nobody asked for since the last call: call it about every half minute from
    /// a timer.
    /// </summary>
    public void TrimIdle() => _memory.TrimIdle(Volatile.Read(ref _now), Interlocked.Increment(ref _now));

    /// <inheritdoc/>
    public void Dispose() => _memory.Dispose();

    /// <summary>
    /// Counts memory of a run's index and filter, which stays until <see cref="ReleaseFixed"/>; blocks make room for
    /// it.
    /// </summary>
    internal void AddFixed(long bytes) => _memory.AddFixed(bytes);

    /// <summary>Gives back what <see cref="AddFixed"/> took, when a run closes, and the memory of its blocks.</summary>
    internal void ReleaseFixed(long bytes, RunReader run) => _memory.Forget(run, bytes);

    /// <summary>A block, pinned; null when <paramref name="damage"/> says why it cannot be had.</summary>
    /// <param name="run">The run, to which the caller holds a reference.</param>
    /// <param name="block">The block's number.</param>
    /// <param name="isPointRead">Whether asking counts as a sign that it will be asked for again; a walk asks for every
    /// block once.</param>
    /// <param name="damage">What is wrong.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal CachedBlock? Pin(RunReader run, int block, bool isPointRead, out RunDamage? damage)
    {
        int slot = Volatile.Read(ref run.Slots[block]);
        if (slot is > 0 and < Loading)
        {
            var frame = _memory.Frame(slot);
            if (frame.TryPin(run, block))
            {
                damage = null;
                if (isPointRead)
                {
                    frame.Touch(_now);
                }

                return frame;
            }
        }

        return PinSlowly(run, block, isPointRead, out damage);
    }

    private CachedBlock? PinSlowly(RunReader run, int block, bool isPointRead, out RunDamage? damage)
    {
        damage = null;
        ref int slot = ref run.Slots[block];
        var spin = default(SpinWait);
        while (true)
        {
            int seen = Volatile.Read(ref slot);
            if (seen == Loading)
            {
                WaitForLoad(ref slot, block);
            }
            else if (seen > 0)
            {
                var frame = _memory.Frame(seen);
                if (frame.TryPin(run, block))
                {
                    if (isPointRead)
                    {
                        frame.Touch(_now);
                    }

                    return frame;
                }

                // Being evicted: the slot changes in a moment.
                spin.SpinOnce();
            }
            else if (Interlocked.CompareExchange(ref slot, Loading, seen) == seen)
            {
                return Load(run, block, _memory.IsGhost(seen), out damage);
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
    /// Fills a frame with a block that was read. The frame is pinned and not yet shown to others; null when the payload
    /// is not a block.
    /// </summary>
    internal CachedBlock? Fill(in SealedBlock sealedBlock, RunReader run, int block, bool wasEvictedRecently)
    {
        var frame = _memory.Take(
            sealedBlock.MemoryBytes,
            sealedBlock.RawLength,
            sealedBlock.Rows,
            _now,
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
