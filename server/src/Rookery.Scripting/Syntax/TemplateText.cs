namespace Rookery.Scripting.Syntax;

/// <summary>Finds the ends of templates and of the values inside them, which may hold templates themselves.</summary>
internal static class TemplateText
{
    private const int MostLevels = 100;

    /// <summary>Where the back quote of a template stands that ends it; -1 where none does.</summary>
    /// <param name="text">The script.</param>
    /// <param name="from">Behind the back quote that begins it.</param>
    public static int FindEnd(string text, int from) => FindEnd(text, from, 0);

    /// <summary>Where the brace stands that ends a value; -1 where none does.</summary>
    /// <param name="text">The script, or the inside of the template.</param>
    /// <param name="from">Behind the brace that begins it.</param>
    public static int FindEndOfValue(string text, int from) => FindEndOfValue(text, from, 0);

    private static int FindEnd(string text, int from, int level)
    {
        if (level > MostLevels)
        {
            throw new ScriptException(ScriptFault.TooLarge, $"Templates nest deeper than {MostLevels} levels", from);
        }

        for (int at = from; at >= 0 && at < text.Length; at++)
        {
            if (text[at] == '`')
            {
                return at;
            }

            if (text[at] == '\\')
            {
                at++;
            }
            else if (string.CompareOrdinal(text, at, "${", 0, 2) == 0)
            {
                at = FindEndOfValue(text, at + 2, level + 1);
                if (at < 0)
                {
                    return -1;
                }
            }
        }

        return -1;
    }

    private static int FindEndOfValue(string text, int from, int level)
    {
        int braces = 1;
        for (int at = from; at < text.Length; at++)
        {
            switch (text[at])
            {
                case '{':
                    braces++;
                    break;
                case '}' when --braces == 0:
                    return at;
                case '"' or '\'' or '`' or '/':
                    at = FindEndOfToken(text, at, level);
                    if (at < 0)
                    {
                        return -1;
                    }

                    break;
            }
        }

        return -1;
    }

    /// <summary>The last character of the text, template or comment that begins at a place, or the place.</summary>
    private static int FindEndOfToken(string text, int at, int level)
    {
        switch (text[at])
        {
            case '`':
                return FindEnd(text, at + 1, level + 1);
            case '/':
                bool isLine = string.CompareOrdinal(text, at, "//", 0, 2) == 0;
                bool isBlock = string.CompareOrdinal(text, at, "/*", 0, 2) == 0;
                int end =
                    isLine ? text.AsSpan(at).IndexOfAny("\n\r\u2028\u2029") + at
                    : isBlock ? text.IndexOf("*/", at + 2, StringComparison.Ordinal) + 1
                    : at;
                return end < at ? -1 : end;
            default:
                char quote = text[at];
                for (at++; at < text.Length && text[at] != quote; at++)
                {
                    at += text[at] == '\\' ? 1 : 0;
                }

                return at < text.Length ? at : -1;
        }
    }
}
