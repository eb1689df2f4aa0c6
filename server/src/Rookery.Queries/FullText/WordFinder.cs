using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>A searched word found in a text.</summary>
/// <param name="Start">Its start in the text. In bytes, or in characters after conversion.</param>
/// <param name="Length">Its length, in the same unit.</param>
/// <param name="Kind">Number of the searched word. Words with equal numbers are highlighted with the same tag.</param>
internal readonly record struct FoundWord(int Start, int Length, int Kind);

/// <summary>
/// Finds the words of a search in texts, for highlights. Words of a phrase are found outside the phrase, too.
/// Thread-safe.
/// </summary>
internal sealed class WordFinder
{
    private readonly SearchQuery _query;
    private readonly Dictionary<byte[], int>.AlternateLookup<ReadOnlySpan<byte>> _termNumbers;
    private readonly (int Kind, TokenPattern Pattern)[] _patterns;

    /// <summary>Creates a finder for a search.</summary>
    public WordFinder(SearchQuery query)
    {
        _query = query;
        var terms = new Dictionary<byte[], int>(BytesComparer.Instance);
        foreach (byte[] term in query.Terms)
        {
            terms.Add(term, terms.Count);
        }

        _termNumbers = terms.GetAlternateLookup<ReadOnlySpan<byte>>();
        _patterns =
        [
            .. query.Clauses.OfType<WildcardClause>().Select((clause, index) => (terms.Count + index, clause.Pattern)),
        ];
    }

    /// <summary>Adds the searched words of a text, in order.</summary>
    /// <param name="text">The text in UTF-8.</param>
    /// <param name="found">Receives the words.</param>
    /// <param name="work">Counts the work against the time limit; null for no limit.</param>
    public void Find(ReadOnlySpan<byte> text, List<FoundWord> found, ScanWork? work)
    {
        var sink = new Sink(this, found, work);
        _query.Analyzer.Analyze(text, AnalysisPurpose.Index, firstPosition: 0, ref sink);
    }

    private int KindOf(ReadOnlySpan<byte> token, ScanWork? work)
    {
        if (_termNumbers.TryGetValue(token, out int term))
        {
            return term;
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
        public bool Add(scoped in Token token)
        {
            if (finder.KindOf(token.Bytes, work) is >= 0 and int kind)
            {
                found.Add(new FoundWord(token.Start, token.Length, kind));
            }

            return true;
        }
    }
}
