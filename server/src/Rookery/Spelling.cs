using System.CommandLine;

namespace Rookery;

/// <summary>Suggests the command or option that the user probably meant by a misspelt word.</summary>
internal static class Spelling
{
    // From this length on, two edits make a similar word; in a shorter word, one.
    private const int LongWordLength = 6;

    /// <summary>Returns a question to append to the error message; empty if no name is similar.</summary>
    public static string Suggest(string word, Command command)
    {
        var words = IsOption(word)
            ? command.Options.Where(static option => !option.Hidden).Select(static option => option.Name)
            : command.Subcommands.Where(static sub => !sub.Hidden).Select(static sub => sub.Name);
        string? nearest = words.MinBy(other => Distance(word, other));

        int maxEdits = word.TrimStart('-').Length < LongWordLength ? 1 : 2;
        return nearest is not null && Distance(word, nearest) <= maxEdits ? $" Did you mean {nearest}?" : string.Empty;
    }

    /// <summary>
    /// Returns the edit distance: insertions, deletions, replacements, and exchanges of neighbouring letters.
    /// </summary>
    internal static int Distance(string word, string other)
    {
        // The cost at [row, column] is the distance between the first letters of both words, this many of each.
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

    private static bool IsOption(string word) => word.StartsWith('-');
}
