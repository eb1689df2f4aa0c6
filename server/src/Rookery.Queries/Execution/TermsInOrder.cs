using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>
/// The entries of one segment in the order of a field's values, read from its dictionary term by term: who wants few of
/// many entries meets them first. Of a field of which each entry has one value at most, so that it is met once. For one
/// thread.
/// </summary>
/// <param name="terms">The values of the field.</param>
/// <param name="entries">A cursor for them.</param>
/// <param name="ranked">The terms that have a rank: from the first to before the last. All others stand with those that
/// have no value.</param>
/// <param name="isDescending">Whether the greatest comes first.</param>
/// <param name="lacksValues">Whether some entries have no value, and are not met.</param>
internal sealed class TermsInOrder(
    TermCursor terms,
    PostingsCursor entries,
    (long From, long To) ranked,
    bool isDescending,
    bool lacksValues
)
{
    // A dictionary is read forwards: backwards, so many terms at a time.
    private const int Ahead = 64;

    /// <summary>The entries of the term at hand.</summary>
    public PostingsCursor Entries => entries;

    /// <summary>Whether entries follow that are not met, because they have no value.</summary>
    public bool EndsEarly => lacksValues;

    /// <summary>
    /// Goes from term to term, and gives the rank of each; 0 of those without one, which come first where the order
    /// ascends.
    /// </summary>
    public IEnumerable<long> Ranks()
    {
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

        var ahead = isDescending ? new ReadOnlyMemory<byte>[Ahead] : [];
        for (long to = isDescending ? ranked.To : ranked.From; to > ranked.From; )
        {
            long from = Math.Max(ranked.From, to - Ahead);
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
