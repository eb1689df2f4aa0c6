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
    private const int FirstFew = 64;

    // A list of this length takes an eighth of the bitmap's memory.
    private readonly int _mostFew = Math.Max(FirstFew, entries / (8 * 8 * sizeof(int)));
    private int[] _few = [];
    private ulong[] _words = [];
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

        if (_words.Length > 0)
        {
            return new BitmapCursor(_words, Math.Min(_count, entries));
        }

        var sorted = _few.AsSpan(0, (int)_count);
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
        return new SortedCursor(_few, kept);
    }

    private void Add(int entry)
    {
        if (_words.Length == 0)
        {
            if (_count < _mostFew)
            {
                Reserve();
                _few[_count++] = entry;
                return;
            }

            int length = (entries + WordBits - 1) / WordBits;
            work.Memory.Take((long)length * sizeof(ulong));
            _words = new ulong[length];
            foreach (int one in _few.AsSpan(0, (int)_count))
            {
                _words[one / WordBits] |= 1UL << (one % WordBits);
            }
        }

        _words[entry / WordBits] |= 1UL << (entry % WordBits);
        _count++;
    }

    private void Reserve()
    {
        if (_count == _few.Length)
        {
            int longer = Math.Min(_mostFew, Math.Max(FirstFew, 2 * _few.Length));
            work.Memory.Take((long)(longer - _few.Length) * sizeof(int));
            Array.Resize(ref _few, longer);
        }
    }
}
