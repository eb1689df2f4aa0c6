namespace Rookery.Scripting.Syntax;

/// <summary>Finds the ends of interpolated strings of C#, and of the values in them.</summary>
internal static class InterpolatedText
{
    /// <summary>Maximum nesting of strings in values.</summary>
    private const int MaxLevels = 16;

    /// <summary>Returns the position of the quote that ends a string; -1 if there is none.</summary>
    /// <param name="text">The script.</param>
    /// <param name="from">The position after the quote that begins the string.</param>
    /// <param name="isVerbatim">Whether the string is written <c>$@"…"</c>.</param>
    public static int FindEnd(ReadOnlySpan<char> text, int from, bool isVerbatim) =>
        FindEnd(text, from, '"', isVerbatim, isInterpolated: true, 0);

    /// <summary>
    /// Returns the position of what ends an interpolated value: its brace, or the comma or colon before its width or
    /// format; -1 if there is none.
    /// </summary>
    /// <param name="text">A text with the value.</param>
    /// <param name="from">The position of the value.</param>
    public static int FindEndOfValue(ReadOnlySpan<char> text, int from) => FindEndOfValue(text, from, 0);

    private static int FindEndOfValue(ReadOnlySpan<char> text, int from, int nesting)
    {
        int level = 0;
        for (int at = from; at >= 0 && at < text.Length; at++)
        {
            char next = text[at];
            if (level == 0 && next is '}' or ':' or ',')
            {
                return at;
            }

            if (next is '"' or '\'')
            {
                int prefix = text[from..at].LastIndexOfAnyExcept('$', '@') + 1 + from;
                at = FindEnd(
                    text,
                    at + 1,
                    next,
                    text[prefix..at].Contains('@'),
                    text[prefix..at].Contains('$'),
                    nesting
                );
                if (at < 0)
                {
                    return -1;
                }

                continue;
            }

            level +=
                next is '(' or '[' or '{' ? 1
                : next is ')' or ']' or '}' ? -1
                : 0;
        }

        return -1;
    }

    private static int FindEnd(
        ReadOnlySpan<char> text,
        int from,
        char quote,
        bool isVerbatim,
        bool isInterpolated,
        int nesting
    )
    {
        if (nesting > MaxLevels)
        {
            throw TokenCursor.NotSupported($"texts nested deeper than {MaxLevels} levels", 0);
        }

        for (int at = from; at < text.Length; at++)
        {
            char next = text[at];
            bool isDoubled = at + 1 < text.Length && text[at + 1] == next;
            if (next == quote && !(isVerbatim && isDoubled))
            {
                return at;
            }

            if (!isVerbatim && next is '\n' or '\r')
            {
                return -1;
            }

            if (next == quote || (next == '\\' && !isVerbatim) || (isInterpolated && next == '{' && isDoubled))
            {
                at++;
            }
            else if (isInterpolated && next == '{')
            {
                at = FindEndOfValue(text, at + 1, nesting + 1);
                int brace = at < 0 ? -1 : text[at..].IndexOfAny('}', quote);
                if (brace < 0 || text[at + brace] == quote)
                {
                    return -1;
                }

                at += brace;
            }
        }

        return -1;
    }
}
