namespace Rookery.Queries.Summaries;

/// <summary>
/// Compares words by their n-grams: runs of n letters. As in Lucene's spell checker, only words that share an n-gram
/// are suggested for each other. A word has n-grams of two lengths, which its own length determines.
/// </summary>
internal static class LetterGrams
{
    /// <summary>Returns whether two words have a common n-gram.</summary>
    public static bool AreShared(ReadOnlySpan<int> word, ReadOnlySpan<int> other)
    {
        int shortest = Math.Max(ShortestOf(word.Length), ShortestOf(other.Length));
        int longest = Math.Min(ShortestOf(word.Length), ShortestOf(other.Length)) + 1;
        if (shortest > longest)
        {
            return false;
        }

        // Words that share a longer n-gram share a shorter one, too.
        for (int start = 0; start + shortest <= word.Length; start++)
        {
            if (other.IndexOf(word.Slice(start, shortest)) >= 0)
            {
                return true;
            }
        }

        return false;
    }

    // Words have n-grams of this length, and of one letter more.
    private static int ShortestOf(int length) =>
        length switch
        {
            > 5 => 3,
            5 => 2,
            _ => 1,
        };
}
