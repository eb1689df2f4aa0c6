using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>Opens the postings that an answer reads, and counts what is decoded.</summary>
/// <param name="work">The answer's limits.</param>
internal sealed class OpenedPostings(AnswerWork work)
{
    // Memory of a cursor's decoded block, with frequencies.
    private const int CursorBytes = 2048;

    private readonly List<PostingsCursor> _opened = [];

    /// <summary>Returns the entries that contain a term; null if none does.</summary>
    public PostingsCursor? Open(SegmentField field, ReadOnlySpan<byte> term)
    {
        var postings = field.Postings(term);
        return postings is null ? null : Register(postings);
    }

    /// <summary>Returns a cursor that can be opened for one term of a field after another.</summary>
    public PostingsCursor NewCursor(SegmentField field) => Register(field.NewPostings());

    /// <summary>Adds the number of postings decoded by these cursors to the answer's count.</summary>
    public void CountDecoded()
    {
        foreach (var postings in _opened)
        {
            work.CountPostings(postings.Decoded);
        }

        _opened.Clear();
    }

    private PostingsCursor Register(PostingsCursor postings)
    {
        work.Memory.Reserve(CursorBytes);
        _opened.Add(postings);
        return postings;
    }
}
