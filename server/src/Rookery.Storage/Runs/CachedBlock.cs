using System.Runtime.CompilerServices;
using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// A frame of the cache: one block in memory, or none. Whoever has pinned it may use it until unpinning; only an
/// unpinned frame is evicted.
/// <para>
/// A reader knows a frame by its number, which may be outdated: it pins first and then asks whether the frame still has
/// its block. That is safe, because what a frame holds changes only while <see cref="Free"/> is set or
/// <see cref="Owner"/> is null, and Free is set only on a frame without pins.
/// </para>
/// </summary>
internal sealed unsafe class CachedBlock(int number)
{
    private const int Free = 1 << 30;
    private const byte FrequencyLimit = 3;

    private int _state = Free;
    private int _block;
    private RunReader? _owner;

    /// <summary>What a run's slot calls this frame; from 1.</summary>
    public int Number { get; } = number;

    /// <summary>The run whose block this is; null while it is being filled or holds nothing.</summary>
    public RunReader? Owner => Volatile.Read(ref _owner);

    /// <summary>The block's number in its run.</summary>
    public int Block => _block;

    public byte* Address { get; private set; }

    /// <summary>Length of the memory at <see cref="Address"/>.</summary>
    public int MemoryBytes { get; private set; }

    public BlockView View { get; private set; }

    /// <summary>How often it was asked for since it came or the hand last passed; up to 3.</summary>
    public byte Frequency { get; set; }

    /// <summary>The time, in calls of <see cref="BlockCache.TrimIdle"/>, at which it was last asked for.</summary>
    public int LastAsked { get; set; }

    /// <summary>Whether it is in the queue of blocks that have proved themselves.</summary>
    public bool IsMain { get; set; }

    /// <summary>Takes a pin if the frame holds this block of this run.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryPin(RunReader run, int wanted)
    {
        if ((Interlocked.Increment(ref _state) & Free) == 0 && ReferenceEquals(Owner, run) && _block == wanted)
        {
            return true;
        }

        Interlocked.Decrement(ref _state);
        return false;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Unpin() => Interlocked.Decrement(ref _state);

    /// <summary>
    /// Notes that somebody asked for the block. Races lose a count, which only the order of eviction notices.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Touch(int now)
    {
        if (Frequency < FrequencyLimit)
        {
            Frequency++;
        }

        if (LastAsked != now)
        {
            LastAsked = now;
        }
    }

    /// <summary>Takes a free frame into use, with one pin and no owner yet. Under the cache's lock.</summary>
    public void Fill(byte* address, int memoryBytes, int rawLength, int rows, int now)
    {
        Address = address;
        MemoryBytes = memoryBytes;
        View = new BlockView(address, rawLength, rows);
        Frequency = 0;
        LastAsked = now;

        // Not a plain store: readers with an outdated number may be counting up and down meanwhile.
        Interlocked.Add(ref _state, 1 - Free);
    }

    /// <summary>Shows the filled frame to readers.</summary>
    public void Publish(RunReader run, int number)
    {
        _block = number;
        Volatile.Write(ref _owner, run);
    }

    /// <summary>
    /// Takes an unpinned frame out of use. Under the cache's lock. Its memory is then the caller's to free.
    /// </summary>
    public bool TryEvict(out RunReader? formerOwner)
    {
        formerOwner = null;
        if (Interlocked.CompareExchange(ref _state, Free, 0) != 0)
        {
            return false;
        }

        formerOwner = _owner;
        Volatile.Write(ref _owner, null);
        return true;
    }

    /// <summary>Whether the frame holds no block.</summary>
    public bool IsFree => (Volatile.Read(ref _state) & Free) != 0;

    /// <summary>Forgets the memory after it was freed.</summary>
    public void Clear()
    {
        Invariant.Holds(IsFree, "only an evicted frame gives its memory up");
        Address = null;
        MemoryBytes = 0;
        View = default;
    }
}
