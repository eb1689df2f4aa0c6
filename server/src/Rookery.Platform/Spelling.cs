namespace Rookery.Platform;

/// <summary>Suggests the known name that was probably meant by a misspelt one.</summary>
public static class Spelling
{
    // From this length on, two edits make a similar word; in a shorter word, one.
    private const int LongWordLength = 6;

    // A name that a client sends may be megabytes long, and the distance costs the product of both lengths.
    private const int MaxWordLength = 64;

    /// <summary>Returns a question to append to an error message, such as " Did you mean 'Query'?"; empty if no name is
    /// similar.</summary>
    /// <param name="word">The unknown name.</param>
    /// <param name="names">The known names.</param>
    public static string Suggest(string word, params ReadOnlySpan<string> names) =>
        FindSimilar(word, names) is { } name ? $" Did you mean '{name}'?" : string.Empty;

    /// <summary>Returns the known name that equals the word apart from case, or that is within one edit of a short word
    /// or two of a longer one; null if there is none.</summary>
    /// <param name="word">The unknown name.</param>
    /// <param name="names">The known names.</param>
    public static string? FindSimilar(string word, params ReadOnlySpan<string> names)
    {
        if (word.Length > MaxWordLength)
        {
            return null;
        }

        string? nearest = null;
        int leastDistance = (word.TrimStart('-').Length < LongWordLength ? 1 : 2) + 1;
        foreach (string name in names)
        {
            int distance = string.Equals(word, name, StringComparison.OrdinalIgnoreCase) ? 0 : Distance(word, name);
            // The word itself may be known and be refused for another reason; then it is not suggested.
            if (distance < leastDistance && !string.Equals(word, name, StringComparison.Ordinal))
            {
                (nearest, leastDistance) = (name, distance);
            }
        }

        return nearest;
    }

    /// <summary>
    /// Returns the edit distance: insertions, deletions, replacements, and exchanges of neighbouring letters.
    /// </summary>
    public static int Distance(string word, string other)
    {
        // The cost at [row, column] is the distance between the first `row` letters of one word and the first `column`
        // letters of the other.
        int[,] costs = new int[word.Length + 1, other.Length + 1];
        for (int row = 0; row <= word.Length; row++)
        {
            costs[row, 0] = row;
        }

        for (int column = 0; column <= other.Length; column++)
        {
            costs[0, column] = column;
        }

        for (int row = 1; row <= word.Length; row++)
        {
            for (int column = 1; column <= other.Length; column++)
            {
                int replacement = word[row - 1] == other[column - 1] ? 0 : 1;
                costs[row, column] = Math.Min(
                    Math.Min(costs[row - 1, column], costs[row, column - 1]) + 1,
                    costs[row - 1, column - 1] + replacement
                );
                if (row > 1 && column > 1 && word[row - 1] == other[column - 2] && word[row - 2] == other[column - 1])
                {
                    costs[row, column] = Math.Min(costs[row, column], costs[row - 2, column - 2] + 1);
                }
            }
        }

        return costs[word.Length, other.Length];
    }
}
