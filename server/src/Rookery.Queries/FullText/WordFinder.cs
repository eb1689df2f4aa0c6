using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>A word of a text that was searched for.</summary>
/// <param name="Start">Bytes before it.</param>
/// <param name="Length">Bytes of it.</param>
/// <param name="Kind">Which of the words it is, to be marked as the same each time.</param>
internal readonly record struct FoundWord(int Start, int Length, int Kind);

/// <summary>
/// Finds the words of a search in texts. Those of a phrase are found wherever they stand. Thread-safe.
/// </summary>
internal sealed class WordFinder
{
    private readonly SearchQuery _query;
    private readonly Dictionary<byte[], int>.AlternateLookup<ReadOnlySpan<byte>> _places;
    private readonly (int Kind, TokenPattern Pattern)[] _patterns;

    /// <summary>Of a search.</summary>
    public WordFinder(SearchQuery query)
    {
        _query = query;
        var terms = new Dictionary<byte[], int>(BytesComparer.Instance);
        foreach (byte[] term in query.Terms)
        {
            terms.Add(term, terms.Count);
        }

        _places = terms.GetAlternateLookup<ReadOnlySpan<byte>>();
        _patterns =
        [
            .. query.Clauses.OfType<WildcardClause>().Select((clause, place) => (terms.Count + place, clause.Pattern)),
        ];
    }

    /// <summary>Adds the words of a text, in their order.</summary>
    /// <param name="text">UTF-8.</param>
    /// <param name="found">Takes them.</param>
    /// <param name="work">Counts what that takes; null where nobody waits for it.</param>
    public void Find(ReadOnlySpan<byte> text, List<FoundWord> found, ScanWork? work)
    {
        var sink = new Sink(this, found, work);
        _query.Analyzer.Analyze(text, AnalysisPurpose.Index, 0, ref sink);
    }

    private int KindOf(ReadOnlySpan<byte> token, ScanWork? work)
    {
        if (_places.TryGetValue(token, out int place))
        {
            return place;
        }

        foreach (var (kind, pattern) in _patterns)
        {
            if (pattern.Matches(token, work))
            {
                return kind;
            }
        }

        return -1;
    }

    private readonly struct Sink(WordFinder finder, List<FoundWord> found, ScanWork? work) : ITokenSink
    {
        public bool Take(scoped in Token token)
        {
            if (finder.KindOf(token.Bytes, work) is >= 0 and int kind)
            {
                found.Add(new FoundWord(token.Start, token.Length, kind));
            }

            return true;
        }
    }
}
