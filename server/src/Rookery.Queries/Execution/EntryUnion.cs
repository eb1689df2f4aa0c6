using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Execution;

/// <summary>
/// Collects the entries of many terms in one set. A small set is a list that is sorted at the end. A larger set is a
/// bitmap with a bit for each entry of the segment.
/// </summary>
/// <param name="entries">Number of entries of the segment.</param>
/// <param name="work">The answer's limits.</param>
internal sealed class EntryUnion(int entries, AnswerWork work)
{
    private const int WordBits = 64;
    private const int BitsPerByte = 8;
    private const int MinBitmapFactor = 8;
    private const int MinListLength = 64;

    // A list of this length takes an eighth of the bitmap's memory.
    private readonly int _maxListLength = Math.Max(
        MinListLength,
        entries / (MinBitmapFactor * BitsPerByte * sizeof(int))
    );
    private int[] _list = [];
    private ulong[] _bitmap = [];
    private long _count;

    /// <summary>
    /// Adds all entries of a cursor that is positioned before its first entry. The cursor is not used afterwards.
    /// </summary>
    public void Add(EntryCursor cursor)
    {
        work.Step(cursor.Cost);
        for (int entry = cursor.MoveNext(); entry != EntryCursor.End; entry = cursor.MoveNext())
        {
            Add(entry);
        }
    }

    /// <summary>Adds consecutive entries.</summary>
    public void Add(int first, int length)
    {
        for (int entry = first; entry < first + length; entry++)
        {
            Add(entry);
        }
    }

    /// <summary>Returns a cursor over the set. Called once, after the last entry was added.</summary>
    public EntryCursor ToCursor()
    {
        if (_count == 0)
        {
            return EmptyCursor.Instance;
        }

        if (_bitmap.Length > 0)
        {
            return new BitmapCursor(_bitmap, Math.Min(_count, entries));
        }

        var sorted = _list.AsSpan(0, (int)_count);
        sorted.Sort();
        int kept = 1;
        foreach (int entry in sorted[1..])
        {
            if (entry != sorted[kept - 1])
            {
                sorted[kept++] = entry;
            }
        }

        _count = kept;
        return new SortedCursor(_list, kept);
    }

    private void Add(int entry)
    {
        if (_bitmap.Length == 0)
        {
            if (_count < _maxListLength)
            {
                GrowList();
                _list[_count++] = entry;
                return;
            }

            int length = (entries + WordBits - 1) / WordBits;
            work.Memory.Reserve((long)length * sizeof(ulong));
            _bitmap = new ulong[length];
            foreach (int entryOfList in _list.AsSpan(0, (int)_count))
            {
                _bitmap[entryOfList / WordBits] |= 1UL << (entryOfList % WordBits);
            }
        }

        _bitmap[entry / WordBits] |= 1UL << (entry % WordBits);
        _count++;
    }

    private void GrowList()
    {
        if (_count == _list.Length)
        {
            int length = Math.Min(_maxListLength, Math.Max(MinListLength, 2 * _list.Length));
            work.Memory.Reserve((long)(length - _list.Length) * sizeof(int));
            Array.Resize(ref _list, length);
        }
    }
}
