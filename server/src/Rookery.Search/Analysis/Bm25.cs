namespace Rookery.Search.Analysis;

/// <summary>
/// How relevant a text is to a token: Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25
/// and Beyond", 2009), with Lucene's form of the inverse document frequency, which is never negative. A scan and an
/// index compute it by these functions, so that both agree.
/// </summary>
public static class Bm25
{
    /// <summary>How soon more of the same token counts no more.</summary>
    public const double K1 = 1.2;

    /// <summary>How much the length of a text counts.</summary>
    public const double B = 0.75;

    /// <summary>How rare a token is: <c>ln(1 + (N − n + ½) / (n + ½))</c>.</summary>
    /// <param name="documents">Documents that have a token in the field.</param>
    /// <param name="documentFrequency">Those of them that have this one.</param>
    public static double InverseDocumentFrequency(long documents, long documentFrequency) =>
        Math.Log(1 + ((documents - documentFrequency + 0.5) / (documentFrequency + 0.5)));

    /// <summary>
    /// How much a token's occurrences in one text weigh: <c>f (k₁ + 1) / (f + k₁ (1 − b + b · length / average))</c>.
    /// Grows with the frequency, falls with the length.
    /// </summary>
    /// <param name="frequency">How often it is there.</param>
    /// <param name="length">Tokens of the text.</param>
    /// <param name="averageLength">Tokens of such texts on average, above 0.</param>
    public static double Weight(int frequency, int length, double averageLength) =>
        frequency * (K1 + 1) / (frequency + (K1 * (1 - B + (B * length / averageLength))));
}
