using System.Text;

namespace Rookery.Queries.Language;

/// <summary>Splits a query's text into tokens, in one pass.</summary>
internal sealed class RqlTokenizer(string text)
{
    private static readonly string[] Pairs = ["!=", "<=", ">=", "==", "<>"];
    private static readonly string[] Singles = ["(", ")", "=", "<", ">", ",", "{", "}", "[", "]", ";", "*", "."];
    private bool _isAfterDot;

    /// <summary>Number of characters read.</summary>
    public int Position { get; private set; }

    /// <summary>Moves to a position, after a script that was read without tokens.</summary>
    public void JumpTo(int position) => Position = position;

    /// <summary>
    /// Returns the next token. At the end of the text, every call returns <see cref="RqlTokenKind.End"/>.
    /// </summary>
    /// <exception cref="QueryException">A text or comment does not end, or a character is not allowed.</exception>
    public RqlToken Next()
    {
        SkipBlanks();
        int start = Position;
        if (start == text.Length)
        {
            return new RqlToken(RqlTokenKind.End, "", start);
        }

        char first = text[start];
        // A step of a path, after a dot, may begin with a digit.
        bool isStep = _isAfterDot;
        _isAfterDot = first == '.';
        if (first is '\'' or '"')
        {
            Position = RqlQuotedText.Read(text, start, out string value);
            return new RqlToken(RqlTokenKind.Text, value, start);
        }

        if (first == '$')
        {
            return new RqlToken(RqlTokenKind.Parameter, ReadParameter(), start);
        }

        if (IsNameStart(first) || (isStep && char.IsAsciiDigit(first)))
        {
            return new RqlToken(
                RqlTokenKind.Word,
                ReadWhile(static c => IsNameStart(c) || char.IsDigit(c) || c == '-'),
                start
            );
        }

        return
            char.IsAsciiDigit(first) || (first == '-' && start + 1 < text.Length && char.IsAsciiDigit(text[start + 1]))
            ? new RqlToken(RqlTokenKind.Number, ReadNumber(), start)
            : new RqlToken(RqlTokenKind.Symbol, ReadSymbol(), start);
    }

    private static bool IsNameStart(char c) => char.IsLetter(c) || c is '_' or '@';

    private void SkipBlanks()
    {
        while (Position < text.Length)
        {
            if (char.IsWhiteSpace(text[Position]))
            {
                Position++;
            }
            else if (RqlComment.TrySkip(text, Position, out int end))
            {
                Position = end;
            }
            else
            {
                break;
            }
        }
    }

    private string ReadParameter()
    {
        int start = Position++;
        string name = ReadWhile(static c => char.IsLetterOrDigit(c) || c == '_');
        return name.Length > 0
            ? name
            : throw new QueryException(QueryFault.Invalid, "A parameter needs a name after its '$'.", start);
    }

    private string ReadWhile(Func<char, bool> belongs)
    {
        int start = Position;
        while (Position < text.Length && belongs(text[Position]))
        {
            Position++;
        }

        return text[start..Position];
    }

    /// <summary>
    /// Reads digits with <c>_</c> between them, a fraction and an exponent. Returns them without leading zeros and
    /// underscores.
    /// </summary>
    private string ReadNumber()
    {
        int start = Position;
        bool isNegative = text[Position] == '-';
        Position += isNegative ? 1 : 0;
        string whole = ReadWhile(static c => char.IsAsciiDigit(c) || c == '_')
            .Replace("_", "", StringComparison.Ordinal)
            .TrimStart('0');
        int fractionStart = Position;
        if (IsDigitAt(Position + 1) && text[Position] == '.')
        {
            Position++;
            ReadWhile(char.IsAsciiDigit);
        }

        if (Position < text.Length && text[Position] is 'e' or 'E')
        {
            int sign = Position + 1 < text.Length && text[Position + 1] is '+' or '-' ? 1 : 0;
            if (IsDigitAt(Position + 1 + sign))
            {
                Position += 1 + sign;
                ReadWhile(char.IsAsciiDigit);
            }
        }

        if (Position < text.Length && IsNameStart(text[Position]))
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"A number ends where '{text[Position]}' stands; a name that begins with a digit needs quotes.",
                Position
            );
        }

        return string.Concat(
            isNegative ? "-" : "",
            whole.Length == 0 ? "0" : whole,
            text.AsSpan(fractionStart, Position - fractionStart)
        );
    }

    private bool IsDigitAt(int position) => position < text.Length && char.IsAsciiDigit(text[position]);

    private string ReadSymbol()
    {
        var remaining = text.AsSpan(Position);
        foreach (string[] symbols in (ReadOnlySpan<string[]>)[Pairs, Singles])
        {
            foreach (string symbol in symbols)
            {
                if (remaining.StartsWith(symbol, StringComparison.Ordinal))
                {
                    Position += symbol.Length;
                    return symbol;
                }
            }
        }

        Rune.DecodeFromUtf16(remaining, out var character, out _);
        throw new QueryException(QueryFault.Invalid, $"The character '{character}' has no meaning here.", Position);
    }
}
