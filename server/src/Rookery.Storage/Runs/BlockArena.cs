using System.Numerics;
using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// Native memory for blocks: segments of 1 MiB, divided into units of 4 KiB with one bit each. A block takes adjacent
/// units, so free memory serves blocks of any size; with size classes, one class could not use the free memory of
/// another. A completely free segment is returned to the system. Not thread-safe: the cache calls it under its lock.
/// </summary>
/// <param name="map">Maps a segment; null for memory of the system.</param>
internal sealed unsafe class BlockArena(Func<nint>? map = null)
{
    public const int UnitBytes = 4096;
    public const int SegmentBytes = 1024 * 1024;
    private const int UnitsPerSegment = SegmentBytes / UnitBytes;
    private const int Words = UnitsPerSegment / 64;

    private readonly List<Segment> _segments = [];

    // Number of the segment in which the next allocation looks first.
    private int _firstTried;

    /// <summary>Bytes mapped.</summary>
    public long MappedBytes => (long)_segments.Count * SegmentBytes;

    /// <summary>Allocates <paramref name="bytes"/> contiguous bytes; null if no segment has them.</summary>
    public byte* TryAllocate(int bytes)
    {
        int units = Units(bytes);
        for (int tried = 0; tried < _segments.Count; tried++)
        {
            int index = (_firstTried + tried) % _segments.Count;
            var segment = _segments[index];
            int unit = segment.FreeUnits < units ? -1 : segment.FindFree(units);
            if (unit >= 0)
            {
                segment.Set(unit, units);
                _firstTried = index;
                return segment.Address + ((long)unit * UnitBytes);
            }
        }

        return null;
    }

    /// <summary>Frees memory of <see cref="TryAllocate"/>.</summary>
    public void Free(byte* address, int bytes)
    {
        int index = SegmentOf(address);
        _segments[index].Clear((int)((address - _segments[index].Address) / UnitBytes), Units(bytes));
        _firstTried = index;
    }

    /// <summary>Maps another segment.</summary>
    /// <exception cref="InsufficientMemoryException">The system has no memory; nothing changed.</exception>
    public void Grow()
    {
        var segment = new Segment(map is null ? NativePages.Map(SegmentBytes) : (byte*)map());
        int index = _segments.FindIndex(other => other.Address > segment.Address);
        _segments.Insert(index < 0 ? _segments.Count : index, segment);
        _firstTried = index < 0 ? _segments.Count - 1 : index;
    }

    /// <summary>Unmaps up to <paramref name="maxSegments"/> completely free segments.</summary>
    /// <returns>The number of unmapped segments.</returns>
    public int Shrink(int maxSegments)
    {
        int unmapped = 0;
        for (int index = _segments.Count - 1; index >= 0 && unmapped < maxSegments; index--)
        {
            if (_segments[index].FreeUnits == UnitsPerSegment)
            {
                NativePages.Unmap(_segments[index].Address, SegmentBytes);
                _segments.RemoveAt(index);
                unmapped++;
            }
        }

        _firstTried = 0;
        return unmapped;
    }

    /// <summary>Returns the pages of free units to the system; their segments stay mapped.</summary>
    public void DiscardFree()
    {
        foreach (var segment in _segments)
        {
            segment.DiscardFree();
        }
    }

    /// <summary>
    /// Returns the number of the segment that contains <paramref name="address"/>. Numbers change when segments are
    /// mapped or unmapped.
    /// </summary>
    public int SegmentOf(byte* address)
    {
        int low = 0;
        int high = _segments.Count;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (_segments[middle].Address <= address)
            {
                low = middle + 1;
            }
            else
            {
                high = middle;
            }
        }

        Invariant.Holds(
            low > 0 && address < _segments[low - 1].Address + SegmentBytes,
            "a block lies in a mapped segment"
        );
        return low - 1;
    }

    private static int Units(int bytes) => (bytes + UnitBytes - 1) / UnitBytes;

    /// <summary>One mapping; a set bit marks a unit in use.</summary>
    private sealed class Segment(byte* address)
    {
        // One bit for each unit: unit n is bit n & 63 of word n >> 6.
        private readonly ulong[] _used = new ulong[Words];

        public byte* Address { get; } = address;

        public int FreeUnits { get; private set; } = UnitsPerSegment;

        /// <summary>Returns the first of <paramref name="units"/> adjacent free units; -1 if there are none.</summary>
        public int FindFree(int units)
        {
            int unit = 0;
            while (unit + units <= UnitsPerSegment)
            {
                int free = FreeFrom(unit, units);
                if (free >= units)
                {
                    return unit;
                }

                unit += free;
                unit += UsedFrom(unit);
            }

            return -1;
        }

        public void Set(int unit, int units) => Mark(unit, units, inUse: true);

        public void Clear(int unit, int units) => Mark(unit, units, inUse: false);

        public void DiscardFree()
        {
            for (int unit = 0; unit < UnitsPerSegment; unit += UsedFrom(unit))
            {
                int free = FreeFrom(unit, UnitsPerSegment - unit);
                NativePages.Discard(Address + ((long)unit * UnitBytes), (long)free * UnitBytes);
                unit += free;
                if (unit == UnitsPerSegment)
                {
                    return;
                }
            }
        }

        private void Mark(int unit, int units, bool inUse)
        {
            for (int index = unit; index < unit + units; index++)
            {
                ulong bit = 1UL << (index & 63);
                bool wasInUse = (_used[index >> 6] & bit) != 0;
                Invariant.Holds(wasInUse != inUse, "a unit of cache memory has one owner");
                _used[index >> 6] ^= bit;
            }

            FreeUnits += inUse ? -units : units;
        }

        /// <summary>
        /// Returns the number of free units from <paramref name="unit"/> on; may stop counting at
        /// <paramref name="enough"/>.
        /// </summary>
        private int FreeFrom(int unit, int enough) => CountEqualFrom(unit, enough, complement: 0);

        private int UsedFrom(int unit) => CountEqualFrom(unit, UnitsPerSegment, complement: ulong.MaxValue);

        // Counts adjacent units, from a unit on, that are free (complement 0) or used (all bits set), 64 at a time.
        private int CountEqualFrom(int unit, int enough, ulong complement)
        {
            int length = 0;
            while (unit + length < UnitsPerSegment && length < enough)
            {
                int at = unit + length;
                int inWord = BitOperations.TrailingZeroCount((_used[at >> 6] ^ complement) >> (at & 63));
                int bitsLeft = 64 - (at & 63);
                if (inWord < bitsLeft)
                {
                    return length + inWord;
                }

                length += bitsLeft;
            }

            return length;
        }
    }
}
