using Rookery.Indexing.Segments;

namespace Rookery.Indexing.Execution;

/// <summary>Joins the entries of many terms into one set of bits: each term costs its postings, and nothing stays of it.</summary>
/// <param name="entries">Entries of the segment.</param>
/// <param name="work">Of the answer.</param>
internal sealed class EntryUnion(int entries, AnswerWork work)
{
    private const int WordBits = 64;

    private ulong[] words = [];
    private long count;

    /// <summary>Adds the entries of a cursor that has not begun.</summary>
    public void Add(EntryCursor cursor)
    {
        Reserve();
        work.Step(cursor.Cost);
        for (int entry = cursor.MoveNext(); entry != EntryCursor.End; entry = cursor.MoveNext())
        {
            words[entry / WordBits] |= 1UL << (entry % WordBits);
            count++;
        }
    }

    /// <summary>Adds a run of entries.</summary>
    public void Add(int first, int length)
    {
        Reserve();
        for (int entry = first; entry < first + length; entry++)
        {
            words[entry / WordBits] |= 1UL << (entry % WordBits);
        }

        count += length;
    }

    /// <summary>All of them.</summary>
    public EntryCursor ToCursor() => count == 0 ? EmptyCursor.Instance : new BitmapCursor(words, Math.Min(count, entries));

    private void Reserve()
    {
        if (words.Length == 0)
        {
            int length = (entries + WordBits - 1) / WordBits;
            work.Memory.Take((long)length * sizeof(ulong));
            words = new ulong[length];
        }
    }
}
