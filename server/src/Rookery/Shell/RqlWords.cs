namespace Rookery.Shell;

/// <summary>The words of a statement before the cursor.</summary>
/// <param name="Words">The whole words, with the quotes of quoted ones.</param>
/// <param name="From">The beginning of the word at the cursor.</param>
/// <param name="Typed">The typed part of the word at the cursor.</param>
/// <param name="IsInside">Whether the cursor is inside a comment or a script, or in a quoted text that is no
/// source.</param>
internal sealed record RqlWords(IReadOnlyList<string> Words, int From, string Typed, bool IsInside)
{
    /// <summary>Reads a part of a text.</summary>
    public static RqlWords Read(string text, int start, int cursor)
    {
        var words = new List<string>();
        int depth = 0;
        int position = start;
        while (position < cursor)
        {
            int begin = position;
            char current = text[position];
            position = End(text, position, cursor);
            bool isComment = current == '/' && position - begin > 1;
            bool isOpen = position == cursor;
            depth += current switch
            {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            if (isComment || char.IsWhiteSpace(current))
            {
                if (isComment && isOpen && text[cursor - 1] != '\n')
                {
                    return new RqlWords(words, cursor, string.Empty, IsInside: true);
                }

                continue;
            }

            bool isQuoted = current is '\'' or '"';
            bool isClosed = isQuoted && position - begin > 1 && text[position - 1] == current;
            if (isOpen && (IsPart(current) || (isQuoted && !isClosed)))
            {
                bool isSource = words.Count > 0 && IsBeforeSource(words[^1]);
                return new RqlWords(
                    words,
                    begin,
                    text[begin..cursor],
                    depth > 0 || (isQuoted && !isSource) || current == '$'
                );
            }

            words.Add(text[begin..position]);
        }

        return new RqlWords(words, cursor, string.Empty, depth > 0);
    }

    private static bool IsBeforeSource(string word) =>
        word.Equals("from", StringComparison.OrdinalIgnoreCase)
        || word.Equals("index", StringComparison.OrdinalIgnoreCase);

    // A path such as lines[].product is one word.
    private static bool IsPart(char letter) =>
        char.IsLetterOrDigit(letter) || letter is '_' or '@' or '$' or '.' or '-' or '[' or ']';

    private static int End(string text, int position, int cursor)
    {
        char first = text[position];
        if (first is '\'' or '"')
        {
            for (int end = position + 1; end < cursor; end++)
            {
                if (text[end] == '\\')
                {
                    end++;
                }
                else if (text[end] == first)
                {
                    return end + 1;
                }
            }

            return cursor;
        }

        var rest = text.AsSpan(position, cursor - position);
        if (rest.StartsWith("//", StringComparison.Ordinal))
        {
            int length = rest.IndexOf('\n');
            return length < 0 ? cursor : position + length + 1;
        }

        if (rest.StartsWith("/*", StringComparison.Ordinal))
        {
            int length = rest.IndexOf("*/", StringComparison.Ordinal);
            return length < 0 ? cursor : position + length + 2;
        }

        int next = position + 1;
        while (IsPart(first) && next < cursor && IsPart(text[next]))
        {
            next++;
        }

        return next;
    }
}
