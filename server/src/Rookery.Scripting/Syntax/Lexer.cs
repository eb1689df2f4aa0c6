using System.Globalization;
using System.Text;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Syntax;

/// <summary>Splits a script into tokens. JavaScript and C# differ only in their text and number literals.</summary>
/// <param name="text">The script.</param>
/// <param name="isCSharp">Whether the script is C#. Then <c>@"…"</c> is a text, and <c>'a'</c> is a character: a text
/// token whose number is 1.</param>
internal sealed class Lexer(string text, bool isCSharp)
{
    /// <summary>Maximum characters of a script.</summary>
    public const int MaxCharacters = 64 * 1024;

    /// <summary>The punctuators, longest first, so that the first match is the longest.</summary>
    private static readonly string[] Punctuators =
    [
        ">>>=",
        "...",
        "===",
        "!==",
        "**=",
        "<<=",
        ">>=",
        ">>>",
        "&&=",
        "||=",
        "??=",
        "=>",
        "==",
        "!=",
        "<=",
        ">=",
        "&&",
        "||",
        "??",
        "?.",
        "++",
        "--",
        "+=",
        "-=",
        "*=",
        "/=",
        "%=",
        "&=",
        "|=",
        "^=",
        "<<",
        ">>",
        "**",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ".",
        ";",
        ",",
        "<",
        ">",
        "+",
        "-",
        "*",
        "/",
        "%",
        "&",
        "|",
        "^",
        "!",
        "~",
        "?",
        ":",
        "=",
        "@",
        "#",
    ];

    private int _position;

    // Whether an operand must follow, so that a slash begins a regular expression and does not divide.
    private bool _isOperandNext;

    /// <summary>Returns all tokens of the text; the last is <see cref="TokenKind.End"/>.</summary>
    /// <param name="offset">The position of this text in the whole script.</param>
    /// <exception cref="ScriptException">The text is too long, or has an invalid token.</exception>
    public List<Token> ReadAll(int offset = 0)
    {
        if (text.Length > MaxCharacters)
        {
            throw new ScriptException(
                ScriptFault.TooLarge,
                $"The script has {text.Length} characters, and at most {MaxCharacters} are allowed",
                position: 0
            );
        }

        var tokens = new List<Token>();
        try
        {
            do
            {
                _isOperandNext = !isCSharp && PatternText.MayFollow(tokens);
                var token = Next();
                tokens.Add(token with { Position = token.Position + offset });
            } while (tokens[^1].Kind != TokenKind.End);
        }
        catch (ScriptException refusal) when (offset > 0)
        {
            throw new ScriptException(refusal.Fault, refusal.Message, refusal.Position + offset);
        }

        return tokens;
    }

    private Token Next()
    {
        bool isAfterNewLine = SkipBlanks();
        int start = _position;
        if (_position == text.Length)
        {
            return new Token(TokenKind.End, "", Number: 0, start, isAfterNewLine);
        }

        char first = text[_position];
        if (IsNameStart(first))
        {
            while (_position < text.Length && (IsNameStart(text[_position]) || char.IsAsciiDigit(text[_position])))
            {
                _position++;
            }

            if (_position < text.Length && text[_position] == '\\' && !isCSharp)
            {
                throw TokenCursor.NotSupported("escapes in names", _position);
            }

            return new Token(TokenKind.Name, text[start.._position], Number: 0, start, isAfterNewLine);
        }

        if (
            char.IsAsciiDigit(first)
            || (first == '.' && _position + 1 < text.Length && char.IsAsciiDigit(text[_position + 1]))
        )
        {
            double number = ReadNumber();
            return new Token(TokenKind.Number, DigitsFrom(start), number, start, isAfterNewLine);
        }

        if (isCSharp && string.CompareOrdinal(text, _position, "\"\"\"", 0, 3) == 0)
        {
            throw TokenCursor.NotSupported("texts in three quotes", start);
        }

        bool isVerbatim = isCSharp && string.CompareOrdinal(text, _position, "@\"", 0, 2) == 0;
        if (isCSharp && _position > 0 && text[_position - 1] == '$' && (first == '"' || isVerbatim))
        {
            isVerbatim |= _position > 1 && text[_position - 2] == '@';
            return new Token(TokenKind.Text, ReadInterpolated(isVerbatim), 0, start, isAfterNewLine);
        }

        if (first is '"' or '\'')
        {
            string value = ReadText(first);
            bool isCharacter = isCSharp && first == '\'';
            return !isCharacter || value.Length == 1
                ? new Token(TokenKind.Text, value, isCharacter ? 1 : 0, start, isAfterNewLine)
                : throw TokenCursor.NotSupported("a char of other than one character", start);
        }

        if (isVerbatim)
        {
            return new Token(TokenKind.Text, ReadVerbatim(), Number: 0, start, isAfterNewLine);
        }

        // The $ of an interpolated string is a name token, and the string is the next token.
        if (isCSharp && string.CompareOrdinal(text, _position, "@$\"", 0, 3) == 0)
        {
            _position += 2;
            return new Token(TokenKind.Name, "$", 0, start, isAfterNewLine);
        }

        if (first == '`' && !isCSharp)
        {
            return new Token(TokenKind.Template, ReadTemplate(), Number: 0, start, isAfterNewLine);
        }

        if (first == '\\' && !isCSharp)
        {
            throw TokenCursor.NotSupported("escapes in names", start);
        }

        if (!isCSharp && string.CompareOrdinal(text, _position, "<!--", 0, 4) == 0)
        {
            throw TokenCursor.NotSupported("comments that begin with '<!--'", start);
        }

        if (first == '/' && _isOperandNext)
        {
            return new Token(TokenKind.Pattern, ReadPattern(), Number: 0, start, isAfterNewLine);
        }

        foreach (string punctuator in Punctuators)
        {
            if (string.CompareOrdinal(text, _position, punctuator, 0, punctuator.Length) == 0)
            {
                // The punctuator ?. before a digit belongs to a conditional: a?.5:b.
                if (
                    string.Equals(punctuator, "?.", StringComparison.Ordinal)
                    && _position + 2 < text.Length
                    && char.IsAsciiDigit(text[_position + 2])
                )
                {
                    continue;
                }

                _position += punctuator.Length;
                return new Token(TokenKind.Punctuator, punctuator, Number: 0, start, isAfterNewLine);
            }
        }

        throw Invalid(
            $"The character {(char.IsControl(first) ? $"U+{(int)first:X4}" : $"'{first}'")} is not allowed here",
            start
        );
    }

    /// <summary>Reads a regular expression through its flags.</summary>
    private string ReadPattern()
    {
        int start = _position;
        int end = PatternText.FindEnd(text, start);
        if (end < 0)
        {
            throw Invalid("The regular expression does not end on its line", start);
        }

        for (_position = end + 1; _position < text.Length && IsNameStart(text[_position]); _position++) { }
        return text[start.._position];
    }

    private static bool IsNameStart(char value) =>
        char.IsAsciiLetter(value)
        || value is '_' or '$'
        || (value >= 0x80 && !IsBlank(value) && value is not ('\u2028' or '\u2029'));

    /// <summary>Returns whether a character is white space within a line (WhiteSpace of ECMA-262).</summary>
    private static bool IsBlank(char value) =>
        value
            is ' '
                or '\t'
                or '\v'
                or '\f'
                or '\u00A0'
                or '\uFEFF'
                or '\u1680'
                or (>= '\u2000' and <= '\u200A')
                or '\u202F'
                or '\u205F'
                or '\u3000';

    /// <summary>Skips blanks and comments. Returns whether they contain the end of a line.</summary>
    private bool SkipBlanks()
    {
        bool isAfterNewLine = false;
        while (_position < text.Length)
        {
            char next = text[_position];
            if (next is '\n' or '\r' or '\u2028' or '\u2029')
            {
                isAfterNewLine = true;
                _position++;
            }
            else if (IsBlank(next))
            {
                _position++;
            }
            else if (string.CompareOrdinal(text, _position, "//", 0, 2) == 0)
            {
                int end = text.AsSpan(_position).IndexOfAny("\n\r\u2028\u2029");
                _position = end < 0 ? text.Length : _position + end;
            }
            else if (string.CompareOrdinal(text, _position, "/*", 0, 2) == 0)
            {
                int end = text.IndexOf("*/", _position + 2, StringComparison.Ordinal);
                _position = end < 0 ? throw Invalid("The comment does not end", _position) : end + 2;
            }
            else
            {
                break;
            }
        }

        return isAfterNewLine;
    }

    private double ReadNumber()
    {
        int start = _position;
        // A blank in the operand of | converts a letter to lower case.
        if (text[_position] == '0' && _position + 1 < text.Length && (text[_position + 1] | ' ') is 'x' or 'o' or 'b')
        {
            return ReadPrefixedNumber(start);
        }

        SkipDigits();
        if (
            _position < text.Length
            && text[_position] == '.'
            && !(isCSharp && _position + 1 < text.Length && !char.IsAsciiDigit(text[_position + 1]))
        )
        {
            _position++;
            SkipDigits();
        }

        if (_position < text.Length && text[_position] is 'e' or 'E')
        {
            _position++;
            if (_position < text.Length && text[_position] is '+' or '-')
            {
                _position++;
            }

            SkipDigits();
        }

        bool isNumber = double.TryParse(
            DigitsFrom(start),
            NumberStyles.AllowDecimalPoint | NumberStyles.AllowExponent,
            CultureInfo.InvariantCulture,
            out double number
        );
        if (
            isCSharp
            && _position < text.Length
            && text[_position] is 'm' or 'M' or 'd' or 'D' or 'f' or 'F' or 'l' or 'L'
        )
        {
            _position++;
        }

        if (text[start] == '0' && _position - start > 1 && char.IsAsciiDigit(text[start + 1]))
        {
            throw TokenCursor.NotSupported("numbers that begin with a zero", start);
        }

        RefuseUnsupportedSuffix();
        return isNumber && !IsFollowedByName() ? number : throw Invalid("This is no valid number", start);
    }

    /// <summary>Reads a number such as <c>0x1F</c>, <c>0o17</c> or <c>0b11</c>.</summary>
    private double ReadPrefixedNumber(int start)
    {
        _position += 2;
        while (_position < text.Length && (char.IsAsciiHexDigit(text[_position]) || IsSeparator(isHex: true)))
        {
            _position++;
        }

        double number = NumberText.Parse(Encoding.UTF8.GetBytes(DigitsFrom(start)));
        _position += isCSharp && _position < text.Length && text[_position] is 'l' or 'L' ? 1 : 0;
        RefuseUnsupportedSuffix();
        bool isNumber = !double.IsNaN(number) && !IsFollowedByName();
        return isNumber ? number : throw Invalid("This is no valid number", start);
    }

    private void RefuseUnsupportedSuffix()
    {
        if (isCSharp && _position < text.Length && text[_position] is 'u' or 'U')
        {
            throw TokenCursor.NotSupported("unsigned numbers", _position);
        }

        if (!isCSharp && _position < text.Length && text[_position] is 'n' or '_')
        {
            throw TokenCursor.NotSupported(text[_position] == 'n' ? "BigInt numbers" : "'_' in numbers", _position);
        }
    }

    private void SkipDigits()
    {
        while (_position < text.Length && (char.IsAsciiDigit(text[_position]) || IsSeparator()))
        {
            _position++;
        }
    }

    /// <summary>Returns whether a <c>_</c> stands between two digits of a number, as C# allows.</summary>
    private bool IsSeparator(bool isHex = false) =>
        isCSharp
        && text[_position] == '_'
        && text[_position - 1] != '.'
        && text.AsSpan(_position).IndexOfAnyExcept('_') is > 0 and var digit
        && (isHex ? char.IsAsciiHexDigit(text[_position + digit]) : char.IsAsciiDigit(text[_position + digit]));

    private string DigitsFrom(int start) =>
        isCSharp ? text[start.._position].Replace("_", "", StringComparison.Ordinal) : text[start.._position];

    private bool IsFollowedByName() =>
        _position < text.Length && (IsNameStart(text[_position]) || char.IsAsciiDigit(text[_position]));

    private string ReadText(char quote)
    {
        int start = _position++;
        int from = _position;
        while (_position < text.Length && text[_position] != quote && text[_position] is not ('\n' or '\r'))
        {
            _position += LengthInText();
        }

        if (_position >= text.Length || text[_position] != quote)
        {
            throw Invalid("The text does not end on its line", start);
        }

        string inside = text[from.._position++];
        return isCSharp ? Escapes.ResolveCSharp(inside, from) : Escapes.Resolve(inside, from);
    }

    /// <summary>
    /// Returns the length of the next character or escape of a text. JavaScript continues a text after an escaped line
    /// end.
    /// </summary>
    private int LengthInText()
    {
        if (text[_position] != '\\')
        {
            return 1;
        }

        char escaped = _position + 1 < text.Length ? text[_position + 1] : '\0';
        if (escaped is not ('\n' or '\r'))
        {
            return 2;
        }

        if (isCSharp)
        {
            return 1;
        }

        if (escaped == '\r' && _position + 2 < text.Length && text[_position + 2] == '\n')
        {
            return 3;
        }

        return 2;
    }

    private string ReadVerbatim()
    {
        int start = _position;
        _position += 2;
        var result = new StringBuilder();
        while (true)
        {
            int quote = text.IndexOf('"', _position);
            if (quote < 0)
            {
                throw Invalid("The text does not end", start);
            }

            result.Append(text, _position, quote - _position);
            _position = quote + 1;
            if (_position == text.Length || text[_position] != '"')
            {
                return Escapes.Whole(result.ToString(), start);
            }

            result.Append('"');
            _position++;
        }
    }

    /// <summary>
    /// Reads an interpolated string through its closing quote. In the result, its values are as written, and only its
    /// other text has no escapes.
    /// </summary>
    private string ReadInterpolated(bool isVerbatim)
    {
        int start = _position;
        int from = text.IndexOf('"', start) + 1;
        int end = InterpolatedText.FindEnd(text, from, isVerbatim);
        if (end < 0)
        {
            throw Invalid("The text does not end", start);
        }

        _position = end + 1;
        var result = new StringBuilder();
        while (from < end)
        {
            int brace = text.IndexOf('{', from, end - from) is >= 0 and var open ? open : end;
            result.Append(ResolvePart(from, brace, isVerbatim));
            if (brace == end)
            {
                break;
            }

            bool isDoubled = text[brace + 1] == '{';
            int valueEnd = isDoubled ? brace + 2 : InterpolatedText.FindEndOfValue(text, brace + 1);
            result.Append(text, brace, valueEnd - brace);
            from = isDoubled ? valueEnd : text.IndexOf('}', valueEnd) + 1;
            result.Append(ResolvePart(valueEnd, from, isVerbatim));
        }

        return result.ToString();
    }

    /// <summary>Returns a part of an interpolated string without its escapes.</summary>
    private string ResolvePart(int from, int end, bool isVerbatim)
    {
        string part = text[from..end];
        string resolved = isVerbatim
            ? part.Replace("\"\"", "\"", StringComparison.Ordinal)
            : Escapes.ResolveCSharp(part, from);
        return
            part.AsSpan().Count('{') + part.AsSpan().Count('}')
            == resolved.AsSpan().Count('{') + resolved.AsSpan().Count('}')
            ? resolved
            : throw TokenCursor.NotSupported("braces that are written as escapes", from);
    }

    /// <summary>Reads a template through its closing back quote.</summary>
    private string ReadTemplate()
    {
        int start = _position;
        int end = TemplateText.FindEnd(text, start + 1);
        _position = end + 1;
        return end < 0 ? throw Invalid("The template does not end", start) : text[(start + 1)..end];
    }

    private static ScriptException Invalid(string message, int at) => new(ScriptFault.Syntax, message, at);
}
