using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>Postings that an answer reads, so that they can be counted.</summary>
/// <param name="work">Of the answer.</param>
internal sealed class OpenedPostings(AnswerWork work)
{
    // What a cursor holds decoded, and of a text as much again for frequencies.
    private const int CursorBytes = 2048;

    private readonly List<PostingsCursor> _opened = [];

    /// <summary>The entries in which a term stands; null when it stands nowhere.</summary>
    public PostingsCursor? Open(SegmentField field, ReadOnlySpan<byte> term)
    {
        var postings = field.Postings(term);
        return postings is null ? null : Keep(postings);
    }

    /// <summary>A cursor of a field, to be opened for one term after the other.</summary>
    public PostingsCursor New(SegmentField field) => Keep(field.NewPostings());

    /// <summary>Tells how many postings were decoded.</summary>
    public void Count()
    {
        foreach (var postings in _opened)
        {
            work.CountPostings(postings.Decoded);
        }

        _opened.Clear();
    }

    private PostingsCursor Keep(PostingsCursor postings)
    {
        work.Memory.Take(CursorBytes);
        _opened.Add(postings);
        return postings;
    }
}
