namespace Rookery.Queries.FullText;

/// <summary>
/// Word statistics of all documents, for scores. Counted by the first pass of a scan, or read from an index.
/// </summary>
public sealed class SearchStatistics
{
    private readonly long[] _documentFrequencies;

    /// <summary>Creates statistics without documents.</summary>
    public SearchStatistics(SearchQuery query) => _documentFrequencies = new long[query.Terms.Count];

    /// <summary>Creates statistics from an index.</summary>
    /// <param name="documents">Number of documents that have a token in the field.</param>
    /// <param name="tokens">Total number of tokens of the field.</param>
    /// <param name="documentFrequencies">For each of <see cref="SearchQuery.Terms"/>, the number of documents that
    /// contain it.</param>
    public SearchStatistics(long documents, long tokens, ReadOnlySpan<long> documentFrequencies)
    {
        Documents = documents;
        Tokens = tokens;
        _documentFrequencies = documentFrequencies.ToArray();
    }

    /// <summary>Number of documents that have a token in the field.</summary>
    public long Documents { get; private set; }

    /// <summary>Total number of tokens of the field.</summary>
    public long Tokens { get; private set; }

    /// <summary>Average tokens of a document; 1 if there are no documents.</summary>
    public double AverageLength => Documents > 0 ? (double)Tokens / Documents : 1;

    /// <summary>Returns the number of documents that contain a term.</summary>
    /// <param name="term">Its position in <see cref="SearchQuery.Terms"/>.</param>
    public long DocumentFrequency(int term) => _documentFrequencies[term];

    /// <summary>
    /// Counts the document that a matcher has read. Call it for every document with the field, not only for matches.
    /// </summary>
    public void Count(SearchMatcher matcher)
    {
        if (matcher.Length is 0)
        {
            return;
        }

        Documents++;
        Tokens += matcher.Length;
        var frequencies = matcher.TermFrequencies;
        for (int term = 0; term < frequencies.Length; term++)
        {
            _documentFrequencies[term] += frequencies[term] > 0 ? 1 : 0;
        }
    }
}
