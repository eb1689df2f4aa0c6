namespace Rookery.Scripting.Syntax;

/// <summary>Finds the ends of templates and of values in templates, which may contain templates again.</summary>
internal static class TemplateText
{
    // Maximum nesting of templates in values of templates.
    private const int MaxLevels = 100;

    /// <summary>Returns the offset of the back quote that ends a template; -1 if there is none.</summary>
    /// <param name="text">The script.</param>
    /// <param name="from">The offset after the opening back quote.</param>
    public static int FindEnd(string text, int from) => FindEnd(text, from, level: 0);

    /// <summary>Returns the offset of the brace that ends a value; -1 if there is none.</summary>
    /// <param name="text">The script, or the content of the template.</param>
    /// <param name="from">The offset after the opening brace.</param>
    public static int FindEndOfValue(string text, int from) => FindEndOfValue(text, from, level: 0);

    private static int FindEnd(string text, int from, int level)
    {
        if (level > MaxLevels)
        {
            throw new ScriptException(ScriptFault.TooLarge, $"Templates nest deeper than {MaxLevels} levels", from);
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
                case '/' when PatternText.BeginsAt(text, from, at):
                    at = PatternText.FindEnd(text, at);
                    if (at < 0)
                    {
                        return -1;
                    }

                    break;
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

    /// <summary>
    /// Returns the offset of the last character of the text, template or comment that begins at an offset; the offset
    /// itself if none begins there; -1 if it does not end.
    /// </summary>
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
