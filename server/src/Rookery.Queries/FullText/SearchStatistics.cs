namespace Rookery.Queries.FullText;

/// <summary>
/// What relevance needs to know of all documents: the first pass of a scan counts it, an index knows it.
/// </summary>
public sealed class SearchStatistics
{
    private readonly long[] _documentFrequencies;

    /// <summary>Of no document yet.</summary>
    public SearchStatistics(SearchQuery query) => _documentFrequencies = new long[query.Terms.Count];

    /// <summary>As an index knows them.</summary>
    /// <param name="documents">Documents that have a token in the field.</param>
    /// <param name="tokens">Tokens of the field in all of them.</param>
    /// <param name="documentFrequencies">For each of <see cref="SearchQuery.Terms"/>, the documents that have
    /// it.</param>
    public SearchStatistics(long documents, long tokens, ReadOnlySpan<long> documentFrequencies)
    {
        Documents = documents;
        Tokens = tokens;
        _documentFrequencies = documentFrequencies.ToArray();
    }

    /// <summary>Documents that have a token in the field.</summary>
    public long Documents { get; private set; }

    /// <summary>Tokens of the field in all of them.</summary>
    public long Tokens { get; private set; }

    /// <summary>Tokens of a document on average; 1 where there is none.</summary>
    public double AverageLength => Documents > 0 ? (double)Tokens / Documents : 1;

    /// <summary>Documents that have a token.</summary>
    /// <param name="term">Its place among <see cref="SearchQuery.Terms"/>.</param>
    public long DocumentFrequency(int term) => _documentFrequencies[term];

    /// <summary>
    /// Counts the document that a matcher has read. Every document with the field, not only those that match.
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
