using Rookery.Queries.Language;

namespace Rookery.Shell;

/// <summary>Splits the text that a user typed, or a script, into statements.</summary>
internal static class ShellText
{
    /// <summary>
    /// Takes the complete statements from the beginning of a text: RQL up to its semicolon, and commands of the shell,
    /// which begin with a backslash, up to the end of their line.
    /// </summary>
    /// <param name="text">The text.</param>
    /// <param name="rest">The position of what is left, which is not a complete statement.</param>
    /// <returns>The statements and their positions.</returns>
    public static IReadOnlyList<(string Statement, int Position)> Split(string text, out int rest)
    {
        var statements = new List<(string Statement, int Position)>();
        int position = 0;
        while (true)
        {
            int start = RqlStatement.SkipBlanks(text, position);
            bool isCommand = start < text.Length && text[start] == '\\';
            int end = isCommand ? LineEnd(text, start) : RqlStatement.FindEnd(text, start);
            if (end < 0)
            {
                rest = position;
                return statements;
            }

            if (end > start)
            {
                statements.Add((text[start..end].Trim(), start));
            }

            position = Math.Min(end + 1, text.Length);
        }
    }

    /// <summary>Returns whether a text has only complete statements.</summary>
    public static bool IsComplete(string text)
    {
        Split(text, out int rest);
        return RqlStatement.SkipBlanks(text, rest) == text.Length;
    }

    private static int LineEnd(string text, int start) =>
        text.IndexOf('\n', start) is >= 0 and var end ? end : text.Length;
}
