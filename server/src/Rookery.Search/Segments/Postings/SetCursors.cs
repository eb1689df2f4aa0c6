using System.Numerics;
using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Segments.Postings;

/// <summary>The empty set of entries.</summary>
public sealed class EmptyCursor : EntryCursor
{
    /// <summary>The only instance.</summary>
    public static readonly EmptyCursor Instance = new();

    private EmptyCursor() => Current = End;

    /// <inheritdoc/>
    public override long Cost => 0;

    /// <inheritdoc/>
    public override bool CanTest => true;

    /// <inheritdoc/>
    public override bool Contains(int entry) => false;

    /// <inheritdoc/>
    public override int MoveNext() => End;

    /// <inheritdoc/>
    public override int Advance(int target) => End;
}

/// <summary>All entries of a segment.</summary>
public sealed class AllCursor(int entries) : EntryCursor
{
    /// <inheritdoc/>
    public override long Cost => entries;

    /// <inheritdoc/>
    public override bool CanTest => true;

    /// <inheritdoc/>
    public override bool Contains(int entry) => (uint)entry < (uint)entries;

    /// <inheritdoc/>
    public override int CountRest()
    {
        int remaining = Current == End ? 0 : entries - 1 - Current;
        Current = End;
        return remaining;
    }

    /// <inheritdoc/>
    public override int MoveNext() => Current == End ? End : To(Current + 1);

    /// <inheritdoc/>
    public override int Advance(int target) => target <= Current ? Current : To(target);

    private int To(int entry) => Current = entry < entries ? entry : End;
}

/// <summary>
/// The entries whose sort key is in a range, found by testing every entry. Fast in an intersection in which another
/// cursor leads.
/// </summary>
public sealed class OrdinalRangeCursor(PackedColumn column, long from, long toExclusive) : EntryCursor
{
    /// <inheritdoc/>
    public override long Cost => column.Count;

    /// <inheritdoc/>
    public override bool CanTest => true;

    /// <inheritdoc/>
    public override bool Contains(int entry) =>
        (long)column[entry] - 1 is var ordinal && ordinal >= from && ordinal < toExclusive;

    /// <inheritdoc/>
    public override int MoveNext() => Current == End ? End : Find(Current + 1);

    /// <inheritdoc/>
    public override int Advance(int target) => target <= Current ? Current : Find(target);

    private int Find(int entry)
    {
        for (; entry < column.Count; entry++)
        {
            if (Contains(entry))
            {
                return Current = entry;
            }
        }

        return Current = End;
    }
}

/// <summary>Entries in a bitmap.</summary>
public sealed class BitmapCursor(ulong[] words, long count) : EntryCursor
{
    private const int WordBits = 64;

    /// <inheritdoc/>
    public override long Cost => count;

    /// <inheritdoc/>
    public override bool CanTest => true;

    /// <inheritdoc/>
    public override bool Contains(int entry) => (words[entry / WordBits] & (1UL << (entry % WordBits))) != 0;

    /// <inheritdoc/>
    public override int MoveNext() => Current == End ? End : Find(Current + 1);

    /// <inheritdoc/>
    public override int Advance(int target) => target <= Current ? Current : Find(target);

    /// <inheritdoc/>
    public override int CountRest()
    {
        int remaining = 0;
        int next = Current + 1;
        if (Current != End && next < words.Length * WordBits)
        {
            remaining = BitOperations.PopCount(words[next / WordBits] >> (next % WordBits));
            foreach (ulong word in words.AsSpan((next / WordBits) + 1))
            {
                remaining += BitOperations.PopCount(word);
            }
        }

        Current = End;
        return remaining;
    }

    private int Find(int entry)
    {
        int place = entry / WordBits;
        if (place >= words.Length)
        {
            return Current = End;
        }

        // The shifts clear the bits below the entry.
        ulong word = words[place] >> (entry % WordBits) << (entry % WordBits);
        while (word == 0)
        {
            if (++place == words.Length)
            {
                return Current = End;
            }

            word = words[place];
        }

        return Current = (place * WordBits) + BitOperations.TrailingZeroCount(word);
    }
}

/// <summary>Entries in a sorted list without duplicates.</summary>
/// <param name="entries">The entries.</param>
/// <param name="count">Number of entries in the list.</param>
public sealed class SortedCursor(int[] entries, int count) : EntryCursor
{
    private int _next;

    /// <inheritdoc/>
    public override long Cost => count;

    /// <inheritdoc/>
    public override bool CanTest => true;

    /// <inheritdoc/>
    public override bool Contains(int entry) => entries.AsSpan(0, count).BinarySearch(entry) >= 0;

    /// <inheritdoc/>
    public override int MoveNext() => Current = _next < count ? entries[_next++] : End;

    /// <inheritdoc/>
    public override int Advance(int target)
    {
        if (target <= Current)
        {
            return Current;
        }

        int index = entries.AsSpan(_next, count - _next).BinarySearch(target);
        _next += index < 0 ? ~index : index;
        return MoveNext();
    }

    /// <inheritdoc/>
    public override int CountRest()
    {
        int remaining = count - _next;
        _next = count;
        Current = End;
        return remaining;
    }
}

/// <summary>The entries of one cursor that are not in another.</summary>
public sealed class ExceptCursor(EntryCursor included, EntryCursor excluded) : EntryCursor
{
    /// <inheritdoc/>
    public override long Cost => included.Cost;

    /// <inheritdoc/>
    public override bool CanTest => included.CanTest && excluded.CanTest;

    /// <inheritdoc/>
    public override bool Contains(int entry) => included.Contains(entry) && !excluded.Contains(entry);

    /// <inheritdoc/>
    public override int MoveNext() => Skip(included.MoveNext());

    /// <inheritdoc/>
    public override int Advance(int target) => target <= Current ? Current : Skip(included.Advance(target));

    private int Skip(int entry)
    {
        while (entry != End && excluded.Advance(entry) == entry)
        {
            entry = included.MoveNext();
        }

        return Current = entry;
    }
}

/// <summary>The entries of a cursor that are live.</summary>
public sealed class LiveCursor(EntryCursor cursor, LiveEntries live) : EntryCursor
{
    /// <inheritdoc/>
    public override long Cost => cursor.Cost;

    /// <inheritdoc/>
    public override int MoveNext() => Skip(cursor.MoveNext());

    /// <inheritdoc/>
    public override int Advance(int target) => target <= Current ? Current : Skip(cursor.Advance(target));

    private int Skip(int entry)
    {
        while (entry != End && !live.IsLive(entry))
        {
            entry = cursor.MoveNext();
        }

        return Current = entry;
    }
}
