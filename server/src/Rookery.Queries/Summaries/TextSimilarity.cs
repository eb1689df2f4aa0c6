using Rookery.Search.Analysis;

namespace Rookery.Queries.Summaries;

/// <summary>Measures of the similarity of two words.</summary>
internal enum SimilarityMeasure
{
    /// <summary>RavenDB's name for its default, <see cref="Levenshtein"/>.</summary>
    None,

    /// <summary>1 minus the edit distance divided by the length of the longer word.</summary>
    Levenshtein,

    /// <summary>The Jaro similarity, raised if the words have a common prefix.</summary>
    JaroWinkler,

    /// <summary>The similarity by common pairs of characters.</summary>
    NGram,
}

/// <summary>Computes the similarity of two words, from 0 to 1, as Lucene's spell checker does.</summary>
internal static class TextSimilarity
{
    private const int MaxPrefix = 4;
    private const double PrefixWeight = 0.1;
    private const double PrefixThreshold = 0.7;

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
        if (longer == 0 || !EditDistance.IsWithin(one, other, max))
        {
            return 0;
        }

        int edits = 0;
        while (!EditDistance.IsWithin(one, other, edits))
        {
            edits++;
        }

        return 1 - ((double)edits / longer);
    }

    private static double JaroWinkler(ReadOnlySpan<int> one, ReadOnlySpan<int> other)
    {
        int window = Math.Max((Math.Max(one.Length, other.Length) / 2) - 1, 0);
        Span<bool> isTaken = stackalloc bool[other.Length];
        Span<int> matched = stackalloc int[one.Length];
        int matches = 0;
        for (int at = 0; at < one.Length; at++)
        {
            for (int place = Math.Max(0, at - window); place < Math.Min(other.Length, at + window + 1); place++)
            {
                if (!isTaken[place] && one[at] == other[place])
                {
                    isTaken[place] = true;
                    matched[matches++] = one[at];
                    break;
                }
            }
        }

        if (matches == 0)
        {
            return 0;
        }

        int misplaced = 0;
        for (int place = 0, next = 0; place < other.Length; place++)
        {
            if (isTaken[place])
            {
                misplaced += matched[next++] == other[place] ? 0 : 1;
            }
        }

        // Two misplaced matches are one transposition.
        double jaro =
            (
                ((double)matches / one.Length)
                + ((double)matches / other.Length)
                + ((matches - (misplaced / 2)) / (double)matches)
            ) / 3;
        int prefix = one.CommonPrefixLength(other);
        return jaro < PrefixThreshold ? jaro : jaro + (Math.Min(prefix, MaxPrefix) * PrefixWeight * (1 - jaro));
    }

    /// <summary>
    /// Kondrak's distance over pairs ("N-gram similarity and distance", 2005). Each word is padded with one character
    /// at its start.
    /// </summary>
    private static double Pairs(ReadOnlySpan<int> one, ReadOnlySpan<int> other)
    {
        if (one.IsEmpty || other.IsEmpty)
        {
            return 0;
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
                // The pair that ends here. The first pair begins with the padding before the word.
                int firstOne = column > 1 ? one[column - 2] : 0;
                int firstOther = line > 1 ? other[line - 2] : 0;
                float different = (firstOne == firstOther ? 0 : 0.5f) + (one[column - 1] == other[line - 1] ? 0 : 0.5f);
                row[column] = Math.Min(Math.Min(row[column - 1] + 1, above[column] + 1), above[column - 1] + different);
            }

            row.CopyTo(above);
        }

        return 1 - (above[one.Length] / Math.Max(one.Length, other.Length));
    }
}
