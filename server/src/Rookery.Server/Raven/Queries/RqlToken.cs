using System.Text;

namespace Rookery.Server.Raven.Queries;

/// <summary>The kinds of words in a query's text.</summary>
internal enum RqlTokenKind
{
    End,

    /// <summary>A name or keyword: letters, digits, <c>_ @ . [ ] -</c>.</summary>
    Word,

    /// <summary>Text in single or double quotes, escapes resolved.</summary>
    Text,

    /// <summary>A parameter: <c>$name</c>, without the dollar sign.</summary>
    Parameter,

    Number,

    /// <summary>One or two characters of punctuation or an operator.</summary>
    Symbol,
}

/// <summary>A word of a query's text.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Text">Its text, without quotes or dollar sign.</param>
/// <param name="Position">Characters before it.</param>
internal readonly record struct RqlToken(RqlTokenKind Kind, string Text, int Position)
{
    /// <summary>Whether it is this keyword; keywords have no case.</summary>
    public bool IsKeyword(string keyword) => Kind == RqlTokenKind.Word && Text.Equals(keyword, StringComparison.OrdinalIgnoreCase);

    public bool IsSymbol(string symbol) => Kind == RqlTokenKind.Symbol && Text.Equals(symbol, StringComparison.Ordinal);
}

/// <summary>Cuts a query's text into words.</summary>
internal sealed class RqlTokenizer(string query)
{
    private int _position;

    /// <summary>The next word; <see cref="RqlTokenKind.End"/> again and again at the end.</summary>
    /// <exception cref="RefusedException">A string or comment does not end, or a character has no meaning.</exception>
    public RqlToken Next()
    {
        SkipBlanks();
        int start = _position;
        if (start == query.Length)
        {
            return new RqlToken(RqlTokenKind.End, "", start);
        }

        char first = query[start];
        if (first is '\'' or '"')
        {
            return new RqlToken(RqlTokenKind.Text, ReadQuoted(first), start);
        }

        if (first == '$')
        {
            _position++;
            string name = ReadWhile(static c => char.IsLetterOrDigit(c) || c == '_');
            return name.Length > 0
                ? new RqlToken(RqlTokenKind.Parameter, name, start)
                : throw RefusedException.InvalidQuery($"The query names a parameter without a name at position {start}.");
        }

        if (char.IsAsciiDigit(first))
        {
            return new RqlToken(RqlTokenKind.Number, ReadWhile(static c => char.IsAsciiDigit(c) || c == '.'), start);
        }

        if (char.IsLetter(first) || first is '_' or '@')
        {
            return new RqlToken(RqlTokenKind.Word, ReadWhile(static c => char.IsLetterOrDigit(c) || c is '_' or '@' or '.' or '[' or ']' or '-'), start);
        }

        bool isPair = start + 1 < query.Length && query.AsSpan(start, 2) is "!=" or "<=" or ">=" or "==" or "<>";
        _position += isPair ? 2 : 1;
        return "()=<>!,{};*-+/".Contains(first, StringComparison.Ordinal)
            ? new RqlToken(RqlTokenKind.Symbol, query[start.._position], start)
            : throw RefusedException.InvalidQuery($"The query has a character without meaning at position {start}: '{first}'.");
    }

    private void SkipBlanks()
    {
        while (_position < query.Length)
        {
            if (char.IsWhiteSpace(query[_position]))
            {
                _position++;
            }
            else if (query.AsSpan(_position).StartsWith("//", StringComparison.Ordinal))
            {
                int end = query.IndexOf('\n', _position);
                _position = end < 0 ? query.Length : end + 1;
            }
            else if (query.AsSpan(_position).StartsWith("/*", StringComparison.Ordinal))
            {
                int end = query.IndexOf("*/", _position + 2, StringComparison.Ordinal);
                _position = end >= 0 ? end + 2 : throw RefusedException.InvalidQuery($"The comment that begins at position {_position} of the query does not end.");
            }
            else
            {
                break;
            }
        }
    }

    private string ReadWhile(Func<char, bool> belongs)
    {
        int start = _position;
        while (_position < query.Length && belongs(query[_position]))
        {
            _position++;
        }

        return query[start.._position];
    }

    private string ReadQuoted(char quote)
    {
        int start = _position++;
        var text = new StringBuilder();
        while (_position < query.Length)
        {
            char current = query[_position++];
            if (current == quote)
            {
                if (_position == query.Length || query[_position] != quote)
                {
                    return text.ToString();
                }

                _position++; // a doubled quote stands for one
            }
            else if (current == '\\' && _position < query.Length)
            {
                current = query[_position++];
            }

            text.Append(current);
        }

        throw RefusedException.InvalidQuery($"The text that begins at position {start} of the query does not end: a closing {quote} is missing.");
    }
}
