using System.Globalization;
using System.Text;

namespace Rookery.Documents.Scripting;

/// <summary>Cuts a script into tokens; JavaScript and C# differ only in their texts.</summary>
/// <param name="text">The script.</param>
/// <param name="isLinq">Whether it is C#: <c>@"…"</c> is a text, and <c>'a'</c> one of one character, whose token has
/// the number 1.</param>
internal sealed class Lexer(string text, bool isLinq)
{
    /// <summary>Characters a script may have.</summary>
    public const int MostCharacters = 64 * 1024;

    /// <summary>Longest first, so that the first that fits is the one.</summary>
    private static readonly string[] Marks =
    [
        ">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=",
        "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "**",
        "{", "}", "(", ")", "[", "]", ".", ";", ",", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", "~", "?", ":", "=", "@", "#",
    ];

    private int position;

    /// <summary>Reads the whole text.</summary>
    /// <param name="offset">Where the text begins in the script that it is a part of.</param>
    /// <exception cref="ScriptException">It is too long, or holds what is no token.</exception>
    public List<Token> ReadAll(int offset = 0)
    {
        if (text.Length > MostCharacters)
        {
            throw new ScriptException(ScriptFault.TooLarge, $"The script has {text.Length} characters, and at most {MostCharacters} are allowed", 0);
        }

        var tokens = new List<Token>();
        try
        {
            do
            {
                var token = Next();
                tokens.Add(token with { Position = token.Position + offset });
            }
            while (tokens[^1].Kind != TokenKind.End);
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
        int start = position;
        if (position == text.Length)
        {
            return new Token(TokenKind.End, "", 0, start, isAfterNewLine);
        }

        char first = text[position];
        if (IsNameStart(first))
        {
            while (position < text.Length && (IsNameStart(text[position]) || char.IsAsciiDigit(text[position])))
            {
                position++;
            }

            if (position < text.Length && text[position] == '\\' && !isLinq)
            {
                throw TokenCursor.NotSupported("escapes in names", position);
            }

            return new Token(TokenKind.Name, text[start..position], 0, start, isAfterNewLine);
        }

        if (char.IsAsciiDigit(first) || (first == '.' && position + 1 < text.Length && char.IsAsciiDigit(text[position + 1])))
        {
            double number = ReadNumber();
            return new Token(TokenKind.Number, text[start..position], number, start, isAfterNewLine);
        }

        if (first is '"' or '\'')
        {
            string value = ReadText(first);
            bool isCharacter = isLinq && first == '\'';
            return !isCharacter || value.Length == 1
                ? new Token(TokenKind.Text, value, isCharacter ? 1 : 0, start, isAfterNewLine)
                : throw TokenCursor.NotSupported("a char of other than one character", start);
        }

        if (isLinq && first == '@' && position + 1 < text.Length && text[position + 1] == '"')
        {
            return new Token(TokenKind.Text, ReadVerbatim(), 0, start, isAfterNewLine);
        }

        if (first == '`' && !isLinq)
        {
            return new Token(TokenKind.Template, ReadTemplate(), 0, start, isAfterNewLine);
        }

        if (first == '\\' && !isLinq)
        {
            throw TokenCursor.NotSupported("escapes in names", start);
        }

        if (!isLinq && string.CompareOrdinal(text, position, "<!--", 0, 4) == 0)
        {
            throw TokenCursor.NotSupported("comments that begin with '<!--'", start);
        }

        foreach (string mark in Marks)
        {
            if (string.CompareOrdinal(text, position, mark, 0, mark.Length) == 0)
            {
                // a?.5:b is a conditional.
                if (string.Equals(mark, "?.", StringComparison.Ordinal) && position + 2 < text.Length && char.IsAsciiDigit(text[position + 2]))
                {
                    continue;
                }

                position += mark.Length;
                return new Token(TokenKind.Mark, mark, 0, start, isAfterNewLine);
            }
        }

        throw Invalid($"The character {(char.IsControl(first) ? $"U+{(int)first:X4}" : $"'{first}'")} is not allowed here", start);
    }

    private static bool IsNameStart(char value) =>
        char.IsAsciiLetter(value) || value is '_' or '$'
        || (value >= 0x80 && !IsBlank(value) && value is not ('\u2028' or '\u2029'));

    /// <summary>Whether it is a blank inside a line: ECMA-262's WhiteSpace.</summary>
    private static bool IsBlank(char value) => value is ' ' or '\t' or '\v' or '\f' or '\u00A0' or '\uFEFF' or '\u1680'
        or (>= '\u2000' and <= '\u200A') or '\u202F' or '\u205F' or '\u3000';

    /// <summary>Skips blanks and comments; true when a line ended among them.</summary>
    private bool SkipBlanks()
    {
        bool isAfterNewLine = false;
        while (position < text.Length)
        {
            char next = text[position];
            if (next is '\n' or '\r' or '\u2028' or '\u2029')
            {
                isAfterNewLine = true;
                position++;
            }
            else if (IsBlank(next))
            {
                position++;
            }
            else if (string.CompareOrdinal(text, position, "//", 0, 2) == 0)
            {
                int end = text.AsSpan(position).IndexOfAny("\n\r\u2028\u2029");
                position = end < 0 ? text.Length : position + end;
            }
            else if (string.CompareOrdinal(text, position, "/*", 0, 2) == 0)
            {
                int end = text.IndexOf("*/", position + 2, StringComparison.Ordinal);
                position = end < 0 ? throw Invalid("The comment does not end", position) : end + 2;
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
        int start = position;
        if (text[position] == '0' && position + 1 < text.Length && (text[position + 1] | ' ') is 'x' or 'o' or 'b')
        {
            return ReadNumberOfBits(start);
        }

        SkipDigits();
        if (position < text.Length && text[position] == '.' && !(isLinq && position + 1 < text.Length && !char.IsAsciiDigit(text[position + 1])))
        {
            position++;
            SkipDigits();
        }

        if (position < text.Length && text[position] is 'e' or 'E')
        {
            position++;
            if (position < text.Length && text[position] is '+' or '-')
            {
                position++;
            }

            SkipDigits();
        }

        bool isNumber = double.TryParse(text.AsSpan(start, position - start), NumberStyles.AllowDecimalPoint | NumberStyles.AllowExponent, CultureInfo.InvariantCulture, out double number);
        if (isLinq && position < text.Length && text[position] is 'm' or 'M' or 'd' or 'D' or 'f' or 'F' or 'l' or 'L')
        {
            position++;
        }

        if (text[start] == '0' && position - start > 1 && char.IsAsciiDigit(text[start + 1]))
        {
            throw TokenCursor.NotSupported("numbers that begin with a zero", start);
        }

        RefuseNumberThatGoesOn();
        return isNumber && !EndsInName() ? number : throw Invalid("The number is not written as numbers are", start);
    }

    /// <summary>Reads <c>0x1F</c>, <c>0o17</c> or <c>0b11</c>.</summary>
    private double ReadNumberOfBits(int start)
    {
        position += 2;
        while (position < text.Length && char.IsAsciiHexDigit(text[position]))
        {
            position++;
        }

        RefuseNumberThatGoesOn();
        double number = NumberText.Parse(Encoding.UTF8.GetBytes(text[start..position]));
        bool isNumber = !double.IsNaN(number) && !EndsInName();
        return isNumber ? number : throw Invalid("The number is not written as numbers are", start);
    }

    private void RefuseNumberThatGoesOn()
    {
        if (!isLinq && position < text.Length && text[position] is 'n' or '_')
        {
            throw TokenCursor.NotSupported(text[position] == 'n' ? "BigInt numbers" : "'_' in numbers", position);
        }
    }

    private void SkipDigits()
    {
        while (position < text.Length && char.IsAsciiDigit(text[position]))
        {
            position++;
        }
    }

    private bool EndsInName() => position < text.Length && (IsNameStart(text[position]) || char.IsAsciiDigit(text[position]));

    private string ReadText(char quote)
    {
        int start = position++;
        int from = position;
        while (position < text.Length && text[position] != quote && text[position] is not ('\n' or '\r'))
        {
            position += LengthInText();
        }

        if (position >= text.Length || text[position] != quote)
        {
            throw Invalid("The text does not end on its line", start);
        }

        string inside = text[from..position++];
        return Escapes.Resolve(inside, from);
    }

    /// <summary>
    /// Characters of the next character or escape of a text. JavaScript's texts go on behind an escaped line end.
    /// </summary>
    private int LengthInText()
    {
        if (text[position] != '\\')
        {
            return 1;
        }

        char escaped = position + 1 < text.Length ? text[position + 1] : '\0';
        return escaped is not ('\n' or '\r') ? 2
            : isLinq ? 1
            : escaped == '\r' && position + 2 < text.Length && text[position + 2] == '\n' ? 3 : 2;
    }

    private string ReadVerbatim()
    {
        int start = position;
        position += 2;
        var result = new StringBuilder();
        while (true)
        {
            int quote = text.IndexOf('"', position);
            if (quote < 0)
            {
                throw Invalid("The text does not end", start);
            }

            result.Append(text, position, quote - position);
            position = quote + 1;
            if (position == text.Length || text[position] != '"')
            {
                return Escapes.Whole(result.ToString(), start);
            }

            result.Append('"');
            position++;
        }
    }

    /// <summary>Reads a template to its back quote.</summary>
    private string ReadTemplate()
    {
        int start = position;
        int end = TemplateText.FindEnd(text, start + 1);
        position = end + 1;
        return end < 0 ? throw Invalid("The template does not end", start) : text[(start + 1)..end];
    }

    private static ScriptException Invalid(string message, int at) => new(ScriptFault.Syntax, message, at);
}
