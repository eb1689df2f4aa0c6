using System.Globalization;
using System.Text;

namespace Rookery.Queries.Language;

/// <summary>
/// Parses texts in quotes. A doubled quote means one quote. A backslash escapes a quote, a slash, a backslash,
/// <c>n</c>, <c>r</c>, <c>t</c>, and <c>u</c> with four hexadecimal digits. Before any other character the backslash is
/// kept, so that a pattern like <c>'\d+'</c> needs no doubling.
/// </summary>
internal static class RqlQuotedText
{
    /// <summary>
    /// Parses the text whose opening quote is at <paramref name="start"/>. Returns the position after its closing
    /// quote.
    /// </summary>
    /// <exception cref="QueryException">The text does not end.</exception>
    public static int Read(string text, int start, out string value)
    {
        char quote = text[start];
        var read = new StringBuilder();
        int position = start + 1;
        while (position < text.Length)
        {
            char current = text[position++];
            if (current == quote)
            {
                if (position == text.Length || text[position] != quote)
                {
                    value = read.ToString();
                    return position;
                }

                position++;
            }
            else if (current == '\\' && position < text.Length)
            {
                position = ReadEscaped(text, position, read);
                continue;
            }

            read.Append(current);
        }

        throw new QueryException(QueryFault.Invalid, $"This text does not end: a closing {quote} is missing.", start);
    }

    private static int ReadEscaped(string text, int position, StringBuilder read)
    {
        const int CodeDigits = 4;
        char escaped = text[position];
        if (
            escaped == 'u'
            && text.Length - position > CodeDigits
            && ushort.TryParse(
                text.AsSpan(position + 1, CodeDigits),
                NumberStyles.AllowHexSpecifier,
                CultureInfo.InvariantCulture,
                out ushort code
            )
        )
        {
            read.Append((char)code);
            return position + 1 + CodeDigits;
        }

        _ = escaped switch
        {
            '\'' or '"' or '\\' or '/' => read.Append(escaped),
            'n' => read.Append('\n'),
            'r' => read.Append('\r'),
            't' => read.Append('\t'),
            _ => read.Append('\\').Append(escaped),
        };
        return position + 1;
    }
}
