using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Execution;

/// <summary>
/// Joins the entries of many terms into one set: each term costs its postings, and nothing stays of it. Few are kept as
/// they are, and put into order at the end; more as bits, which take as much memory however many there are.
/// </summary>
/// <param name="entries">Entries of the segment.</param>
/// <param name="work">Of the answer.</param>
internal sealed class EntryUnion(int entries, AnswerWork work)
{
    private const int WordBits = 64;
    private const int FirstFew = 64;

    // An eighth of what bits would take.
    private readonly int _mostFew = Math.Max(FirstFew, entries / (8 * 8 * sizeof(int)));
    private int[] _few = [];
    private ulong[] _words = [];
    private long _count;

    /// <summary>Adds the entries of a cursor that has not begun.</summary>
    public void Add(EntryCursor cursor)
    {
        work.Step(cursor.Cost);
        for (int entry = cursor.MoveNext(); entry != EntryCursor.End; entry = cursor.MoveNext())
        {
            Add(entry);
        }
    }

    /// <summary>Adds a run of entries.</summary>
    public void Add(int first, int length)
    {
        for (int entry = first; entry < first + length; entry++)
        {
            Add(entry);
        }
    }

    /// <summary>All of them.</summary>
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
