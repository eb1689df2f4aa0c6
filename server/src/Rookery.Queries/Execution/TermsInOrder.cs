using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>
/// The entries of one segment in the order of a field's values, read from its dictionary term by term. A short page
/// needs only a few terms. The field has at most one value for each entry, so each entry appears once. Not thread-safe.
/// </summary>
/// <param name="terms">The terms of the field.</param>
/// <param name="entries">A cursor for their entries.</param>
/// <param name="ranked">The ordinals of the terms that have a rank: From is included, To is not. Entries of other terms
/// rank like entries without a value.</param>
/// <param name="isDescending">Whether the greatest value comes first.</param>
/// <param name="lacksValues">Whether some entries have no value. Entries without a value are not returned.</param>
internal sealed class TermsInOrder(
    TermCursor terms,
    PostingsCursor entries,
    (long From, long To) ranked,
    bool isDescending,
    bool lacksValues
)
{
    // A dictionary is read only forwards, so a descending order reads this many terms ahead at a time.
    private const int TermsReadAhead = 64;

    /// <summary>The entries of the current term.</summary>
    public PostingsCursor Entries => entries;

    /// <summary>Whether entries without a value exist. They come last in the order, and are not returned.</summary>
    public bool EndsEarly => lacksValues;

    /// <summary>
    /// Moves from term to term and returns the rank of each; 0 for terms without a rank, which come first in an
    /// ascending order.
    /// </summary>
    public IEnumerable<long> Ranks()
    {
        // Ascending: first the terms without a rank, then the others.
        for (bool isThere = !isDescending && OpenUnranked(first: true); isThere; isThere = OpenUnranked(first: false))
        {
            yield return 0;
        }

        for (
            bool isThere = !isDescending && terms.SeekOrdinal(ranked.From);
            isThere && terms.Ordinal < ranked.To;
            isThere = terms.MoveNext()
        )
        {
            entries.Open(terms.Postings);
            yield return terms.Ordinal + 1;
        }

        // Descending: first the terms with a rank, from the last, then the others.
        var ahead = isDescending ? new ReadOnlyMemory<byte>[TermsReadAhead] : [];
        for (long to = isDescending ? ranked.To : ranked.From; to > ranked.From; )
        {
            long from = Math.Max(ranked.From, to - TermsReadAhead);
            ReadAhead(from, ahead.AsSpan(0, (int)(to - from)));
            for (; to > from; to--)
            {
                entries.Open(ahead[(int)(to - 1 - from)]);
                yield return to;
            }
        }

        for (bool isThere = isDescending && OpenUnranked(first: true); isThere; isThere = OpenUnranked(first: false))
        {
            yield return 0;
        }
    }

    private bool OpenUnranked(bool first)
    {
        long next = first ? 0 : terms.Ordinal + 1;
        next = next >= ranked.From && next < ranked.To ? ranked.To : next;
        if (!terms.SeekOrdinal(next))
        {
            return false;
        }

        entries.Open(terms.Postings);
        return true;
    }

    private void ReadAhead(long from, Span<ReadOnlyMemory<byte>> postings)
    {
        bool isThere = terms.SeekOrdinal(from);
        foreach (ref var one in postings)
        {
            one = isThere ? terms.Postings : throw SegmentFormat.Malformed();
            isThere = terms.MoveNext();
        }
    }
}
