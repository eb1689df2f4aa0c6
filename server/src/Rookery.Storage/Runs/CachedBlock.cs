using System.Runtime.CompilerServices;
using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// A frame of the block cache: it contains one block, or none. A pinned frame is never evicted; its users unpin it.
/// </summary>
/// <remarks>
/// A reader finds a frame by its number, and the frame may contain another block by then. So the reader pins the frame
/// first, then checks that it contains the right block. That is safe: the content changes only while <see cref="Free"/>
/// is set or <see cref="Owner"/> is null, and Free is set only on a frame without pins.
/// </remarks>
internal sealed unsafe class CachedBlock(int number)
{
    private const int Free = 1 << 30;
    private const byte FrequencyLimit = 3;

    private int _state = Free; // the number of pins, and the flag Free
    private int _block;
    private RunReader? _owner;

    /// <summary>Number of the frame in a run's slots; from 1.</summary>
    public int Number { get; } = number;

    /// <summary>The run of the block; null while the frame is being filled or empty.</summary>
    public RunReader? Owner => Volatile.Read(ref _owner);

    /// <summary>Number of the block in its run.</summary>
    public int Block => _block;

    public byte* Address { get; private set; }

    /// <summary>Length of the memory at <see cref="Address"/>.</summary>
    public int MemoryBytes { get; private set; }

    public BlockView View { get; private set; }

    /// <summary>Number of recent requests, at most 3. Eviction decrements it, and evicts the block only at 0.</summary>
    public byte Frequency { get; set; }

    /// <summary>
    /// Number of the <see cref="BlockCache.TrimIdle"/> call before which the block was last requested.
    /// </summary>
    public int LastRequested { get; set; }

    /// <summary>Whether the frame is in the main queue.</summary>
    public bool IsMain { get; set; }

    /// <summary>Pins the frame if it contains this block of this run.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryPin(RunReader run, int block)
    {
        if ((Interlocked.Increment(ref _state) & Free) == 0 && ReferenceEquals(Owner, run) && _block == block)
        {
            return true;
        }

        Interlocked.Decrement(ref _state);
        return false;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Unpin() => Interlocked.Decrement(ref _state);

    /// <summary>
    /// Counts a request for the block. Concurrent calls may lose a count, which only affects the order of eviction.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Touch(int trimNumber)
    {
        if (Frequency < FrequencyLimit)
        {
            Frequency++;
        }

        if (LastRequested != trimNumber)
        {
            LastRequested = trimNumber;
        }
    }

    /// <summary>
    /// Takes a free frame into use, with one pin and no owner yet. The caller holds the cache's lock.
    /// </summary>
    public void Fill(byte* address, int memoryBytes, int rawLength, int rows, int trimNumber)
    {
        Address = address;
        MemoryBytes = memoryBytes;
        View = new BlockView(address, rawLength, rows);
        Frequency = 0;
        LastRequested = trimNumber;

        // Adds a pin and removes the flag. Not a plain store: readers with an outdated number may change the count
        // meanwhile.
        Interlocked.Add(ref _state, 1 - Free);
    }

    /// <summary>Makes the filled frame visible to readers.</summary>
    public void Publish(RunReader run, int number)
    {
        _block = number;
        Volatile.Write(ref _owner, run);
    }

    /// <summary>
    /// Takes an unpinned frame out of use. The caller holds the cache's lock and frees the memory afterwards.
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

    /// <summary>Whether the frame contains no block.</summary>
    public bool IsFree => (Volatile.Read(ref _state) & Free) != 0;

    /// <summary>Resets the frame after its memory was freed.</summary>
    public void Clear()
    {
        Invariant.Holds(IsFree, "only an evicted frame gives its memory up");
        Address = null;
        MemoryBytes = 0;
        View = default;
    }
}
