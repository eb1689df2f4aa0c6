namespace Rookery.Queries.Language;

/// <summary>Splits a text into RQL statements, each of which ends with a semicolon.</summary>
public static class RqlStatement
{
    /// <summary>
    /// Returns the position of the semicolon that ends the statement at <paramref name="start"/>. Semicolons in quoted
    /// texts, comments and scripts do not end it. Returns -1 if the statement is not complete.
    /// </summary>
    public static int FindEnd(string text, int start)
    {
        try
        {
            int position = start;
            while (position < text.Length)
            {
                char current = text[position];
                if (RqlComment.TrySkip(text, position, out int afterComment))
                {
                    position = afterComment;
                    continue;
                }

                switch (current)
                {
                    case ';':
                        return position;
                    case '\'' or '"':
                        position = RqlQuotedText.Read(text, position, out _);
                        break;
                    case '{':
                        position = ScriptEnd.Find(text, position) + 1;
                        break;
                    default:
                        position++;
                        break;
                }
            }
        }
        catch (QueryException)
        {
            // A text, a comment or a script does not end.
        }

        return -1;
    }

    /// <summary>Returns the position of the first character that is neither blank nor in a comment.</summary>
    public static int SkipBlanks(string text, int start)
    {
        int position = start;
        try
        {
            while (position < text.Length)
            {
                if (RqlComment.TrySkip(text, position, out int afterComment))
                {
                    position = afterComment;
                }
                else if (char.IsWhiteSpace(text[position]))
                {
                    position++;
                }
                else
                {
                    break;
                }
            }
        }
        catch (QueryException)
        {
            // The comment at this position does not end.
        }

        return position;
    }
}
