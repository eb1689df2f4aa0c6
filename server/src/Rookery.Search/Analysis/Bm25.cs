namespace Rookery.Search.Analysis;

/// <summary>
/// Okapi BM25 scores (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009), with
/// Lucene's form of the inverse document frequency, which is never negative. Scans and indexes use the same functions,
/// so their scores agree.
/// </summary>
public static class Bm25
{
    /// <summary>Parameter k₁: the greater, the more further occurrences of a token add to the weight.</summary>
    public const double K1 = 1.2;

    /// <summary>Parameter b, from 0 to 1: the greater, the more long texts are weighted down.</summary>
    public const double B = 0.75;

    /// <summary>
    /// Returns the inverse document frequency, the rarity of a token: <c>ln(1 + (N − n + ½) / (n + ½))</c>.
    /// </summary>
    /// <param name="documents">Number of documents that have any token in the field.</param>
    /// <param name="documentFrequency">Number of documents that have this token in the field.</param>
    public static double InverseDocumentFrequency(long documents, long documentFrequency) =>
        Math.Log(1 + ((documents - documentFrequency + 0.5) / (documentFrequency + 0.5)));

    /// <summary>
    /// Returns the weight of a token's occurrences in one text: <c>f (k₁ + 1) / (f + k₁ (1 − b + b · length /
    /// average))</c>. Grows with the frequency, and falls with the length.
    /// </summary>
    /// <param name="frequency">Occurrences of the token in the text; an inexact occurrence counts less than 1.</param>
    /// <param name="length">Number of tokens of the text.</param>
    /// <param name="averageLength">Average number of tokens of such texts, above 0.</param>
    public static double Weight(double frequency, int length, double averageLength) =>
        frequency * (K1 + 1) / (frequency + (K1 * (1 - B + (B * length / averageLength))));
}
