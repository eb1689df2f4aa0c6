using Rookery.Search.Analysis;

namespace Rookery.Queries.Summaries;

/// <summary>Measures of the similarity of two words.</summary>
internal enum SimilarityMeasure
{
    /// <summary>RavenDB's name for its default, <see cref="Levenshtein"/>.</summary>
    None,

    /// <summary>1 - d / n, where d is the edit distance and n the length of the longer word.</summary>
    Levenshtein,

    /// <summary>The Jaro similarity, raised if the words have a common prefix.</summary>
    JaroWinkler,

    /// <summary>The similarity by common pairs of characters.</summary>
    NGram,
}

/// <summary>Computes the similarity of two words, from 0 to 1, as Lucene's spell checker does.</summary>
internal static class TextSimilarity
{
    private const double MaxPrefixWeight = 0.1;
    private const double PrefixThreshold = 0.7;
    private const int PairLength = 2;

    /// <summary>Returns the similarity; 0 if it is below a bound.</summary>
    /// <param name="measure">The measure.</param>
    /// <param name="one">The code points of one word.</param>
    /// <param name="other">The code points of the other word.</param>
    /// <param name="min">The minimum similarity.</param>
    public static double Of(SimilarityMeasure measure, ReadOnlySpan<int> one, ReadOnlySpan<int> other, double min)
    {
        double similarity = measure switch
        {
            SimilarityMeasure.JaroWinkler => JaroWinkler(one, other),
            SimilarityMeasure.NGram => Pairs(one, other),
            _ => Levenshtein(one, other, min),
        };
        return similarity >= min ? similarity : 0;
    }

    private static double Levenshtein(ReadOnlySpan<int> one, ReadOnlySpan<int> other, double min)
    {
        int longer = Math.Max(one.Length, other.Length);
        int max = (int)((1 - min) * longer) + 1;
        int edits = EditDistance.Measure(one, other, max);

        // Not 1 - edits / longer: in floating point, 1 - 4 / 5 is less than 0.2, and an accuracy of 0.2 would exclude
        // the word.
        return longer == 0 || edits > max ? 0 : (double)(longer - edits) / longer;
    }

    private static double JaroWinkler(ReadOnlySpan<int> one, ReadOnlySpan<int> other)
    {
        // The matches depend on which word is walked. As in Lucene, it is the shorter one.
        var shorter = one.Length > other.Length ? other : one;
        var longer = one.Length > other.Length ? one : other;
        int window = Math.Max((longer.Length / 2) - 1, 0);
        Span<bool> isTaken = stackalloc bool[longer.Length];
        Span<int> matched = stackalloc int[shorter.Length];
        int matches = 0;
        for (int at = 0; at < shorter.Length; at++)
        {
            for (int place = Math.Max(0, at - window); place < Math.Min(longer.Length, at + window + 1); place++)
            {
                if (!isTaken[place] && shorter[at] == longer[place])
                {
                    isTaken[place] = true;
                    matched[matches++] = shorter[at];
                    break;
                }
            }
        }

        if (matches == 0)
        {
            return 0;
        }

        int misplaced = 0;
        for (int place = 0, next = 0; place < longer.Length; place++)
        {
            if (isTaken[place])
            {
                misplaced += matched[next++] == longer[place] ? 0 : 1;
            }
        }

        // Two misplaced matches are one transposition.
        double jaro =
            (
                ((double)matches / one.Length)
                + ((double)matches / other.Length)
                + ((matches - (misplaced / 2)) / (double)matches)
            ) / 3;
        double prefixWeight = Math.Min(MaxPrefixWeight, 1.0 / longer.Length);
        return jaro < PrefixThreshold ? jaro : jaro + (prefixWeight * one.CommonPrefixLength(other) * (1 - jaro));
    }

    private static double Pairs(ReadOnlySpan<int> one, ReadOnlySpan<int> other)
    {
        if (one.Length < PairLength || other.Length < PairLength)
        {
            int common = 0;
            for (int at = 0; at < Math.Min(one.Length, other.Length); at++)
            {
                common += one[at] == other[at] ? 1 : 0;
            }

            return common == 0 ? 0 : (double)common / Math.Max(one.Length, other.Length);
        }

        Span<float> above = stackalloc float[one.Length + 1];
        Span<float> row = stackalloc float[one.Length + 1];
        for (int column = 0; column <= one.Length; column++)
        {
            above[column] = column;
        }

        for (int line = 1; line <= other.Length; line++)
        {
            row[0] = line;
            for (int column = 1; column <= one.Length; column++)
            {
                // Compares the pairs that end here. A word's first pair begins with padding before the word. If both
                // pairs do, only their second characters count.
                bool isFirstSame = (column > 1 ? one[column - 2] : 0) == (line > 1 ? other[line - 2] : 0);
                float weight = column == 1 && line == 1 ? 1 : 0.5f;
                float different = (isFirstSame ? 0 : 0.5f) + (one[column - 1] == other[line - 1] ? 0 : weight);
                row[column] = Math.Min(Math.Min(row[column - 1] + 1, above[column] + 1), above[column - 1] + different);
            }

            row.CopyTo(above);
        }

        int longer = Math.Max(one.Length, other.Length);
        return (double)(longer - above[one.Length]) / longer;
    }
}
