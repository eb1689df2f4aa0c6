using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>
/// The entries of one segment in the order of a field's values, read from the field's dictionary term by term. A short
/// page needs only a few terms. The field has at most one value for each entry, so each entry appears once. Not
/// thread-safe.
/// </summary>
/// <remarks>
/// The rank of a term is its ordinal plus 1. Null, and values that the order does not compare, have no rank: their
/// entries sort like entries without a value, before all ranks in an ascending order and after them in a descending
/// one.
/// </remarks>
/// <param name="terms">The terms of the field.</param>
/// <param name="entries">Reads the entries of a term.</param>
/// <param name="ranked">The ordinals of the terms that have a rank: From is included, To is not.</param>
/// <param name="isDescending">Whether the greatest value comes first.</param>
/// <param name="omitsEntries">Whether some entries have no value. Only a descending order allows that: it has these
/// entries last, and they are not returned.</param>
internal sealed class TermsInOrder(
    TermCursor terms,
    PostingsCursor entries,
    (long From, long To) ranked,
    bool isDescending,
    bool omitsEntries
)
{
    // A dictionary is read only forwards, so a descending order reads this many terms ahead at a time.
    private const int TermsReadAhead = 64;

    /// <summary>The entries of the current term.</summary>
    public PostingsCursor Entries => entries;

    /// <summary>Whether some entries have no value, and are therefore not returned.</summary>
    public bool OmitsEntries => omitsEntries;

    /// <summary>Moves from term to term and returns the rank of each; 0 for a term without a rank.</summary>
    /// <exception cref="InvalidDataException">The dictionary cannot be decoded.</exception>
    public IEnumerable<long> ReadRanks() => isDescending ? ReadDescending() : ReadAscending();

    private IEnumerable<long> ReadAscending()
    {
        for (bool hasTerm = OpenUnranked(ordinal: 0); hasTerm; hasTerm = OpenUnranked(terms.Ordinal + 1))
        {
            yield return 0;
        }

        for (
            bool hasTerm = terms.SeekOrdinal(ranked.From);
            hasTerm && terms.Ordinal < ranked.To;
            hasTerm = terms.MoveNext()
        )
        {
            entries.Open(terms.Postings);
            yield return terms.Ordinal + 1;
        }
    }

    private IEnumerable<long> ReadDescending()
    {
        var ahead = new ReadOnlyMemory<byte>[TermsReadAhead];
        for (long to = ranked.To; to > ranked.From; )
        {
            long from = Math.Max(ranked.From, to - TermsReadAhead);
            ReadPostings(from, ahead.AsSpan(0, (int)(to - from)));
            for (; to > from; to--)
            {
                entries.Open(ahead[(int)(to - 1 - from)]);
                yield return to;
            }
        }

        for (bool hasTerm = OpenUnranked(ordinal: 0); hasTerm; hasTerm = OpenUnranked(terms.Ordinal + 1))
        {
            yield return 0;
        }
    }

    /// <summary>Opens the first term without a rank, at or after an ordinal.</summary>
    /// <returns>False if there is none.</returns>
    private bool OpenUnranked(long ordinal)
    {
        bool isRanked = ordinal >= ranked.From && ordinal < ranked.To;
        if (!terms.SeekOrdinal(isRanked ? ranked.To : ordinal))
        {
            return false;
        }

        entries.Open(terms.Postings);
        return true;
    }

    /// <summary>Reads the payloads, which <see cref="PostingsCursor.Open"/> takes, of successive terms.</summary>
    private void ReadPostings(long from, Span<ReadOnlyMemory<byte>> postings)
    {
        bool hasTerm = terms.SeekOrdinal(from);
        foreach (ref var payload in postings)
        {
            payload = hasTerm ? terms.Postings : throw SegmentFormat.Malformed();
            hasTerm = terms.MoveNext();
        }
    }
}
