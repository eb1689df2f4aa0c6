using System.Buffers;
using System.Globalization;
using System.Text;

namespace Rookery.Scripting.Syntax;

/// <summary>Resolves escapes in the texts of scripts.</summary>
internal static class Escapes
{
    private static readonly SearchValues<char> HexadecimalDigits = SearchValues.Create("0123456789abcdefABCDEF");

    /// <summary>Returns the text with its escapes resolved.</summary>
    /// <param name="inside">The text between the quotes.</param>
    /// <param name="position">The position of the text in the script.</param>
    /// <exception cref="ScriptException">An escape is invalid, or stands for half of a surrogate pair.</exception>
    public static string Resolve(string inside, int position) => Resolve(inside, position, ResolveOne);

    /// <summary>Returns a text of C# with its escapes resolved (C# specification, 6.4.5.5 and 6.4.5.6).</summary>
    /// <param name="inside">The text between the quotes.</param>
    /// <param name="position">The position of the text in the script.</param>
    /// <exception cref="ScriptException">An escape is invalid, or gives half of a surrogate pair.</exception>
    public static string ResolveCSharp(string inside, int position) => Resolve(inside, position, ResolveOneOfCSharp);

    private static string Resolve(string inside, int position, Func<string, int, int, StringBuilder, int> resolveOne)
    {
        if (!inside.Contains('\\', StringComparison.Ordinal))
        {
            return Whole(inside, position);
        }

        var result = new StringBuilder();
        for (int at = 0; at < inside.Length; )
        {
            if (inside[at] != '\\')
            {
                result.Append(inside[at++]);
                continue;
            }

            at = resolveOne(inside, at, position, result);
        }

        return Whole(result.ToString(), position);
    }

    /// <summary>Returns the text. Rejects half of a surrogate pair, which no document can contain.</summary>
    public static string Whole(string text, int position)
    {
        for (int at = 0; at < text.Length; at++)
        {
            if (char.IsSurrogate(text[at]))
            {
                if (at + 1 == text.Length || !char.IsSurrogatePair(text[at], text[at + 1]))
                {
                    throw TokenCursor.NotSupported("half of a surrogate pair in a text", position);
                }

                at++;
            }
        }

        return text;
    }

    /// <summary>Appends the character of the escape at an index, and returns the index after the escape.</summary>
    private static int ResolveOne(string inside, int at, int position, StringBuilder result)
    {
        char kind = at + 1 < inside.Length ? inside[at + 1] : '\0';
        switch (kind)
        {
            case 'n':
                result.Append('\n');
                return at + 2;
            case 't':
                result.Append('\t');
                return at + 2;
            case 'r':
                result.Append('\r');
                return at + 2;
            case 'b':
                result.Append('\b');
                return at + 2;
            case 'f':
                result.Append('\f');
                return at + 2;
            case 'v':
                result.Append('\v');
                return at + 2;
            case '0' when at + 2 == inside.Length || !char.IsAsciiDigit(inside[at + 2]):
                result.Append('\0');
                return at + 2;
            case 'x':
                return Hexadecimal(inside, at, at + 2, digits: 2, position, result);
            case 'u' when at + 2 < inside.Length && inside[at + 2] == '{':
                int end = inside.IndexOf('}', at);
                return end < 0
                    ? throw Invalid(position + at)
                    : Hexadecimal(inside, at, at + 3, end - at - 3, position, result) + 1;
            case 'u':
                return Hexadecimal(inside, at, at + 2, digits: 4, position, result);
            case '\r' when at + 2 < inside.Length && inside[at + 2] == '\n':
                return at + 3;
            case '\n' or '\r' or '\u2028' or '\u2029':
                return at + 2;
            case >= '0' and <= '9':
                throw TokenCursor.NotSupported("octal escapes", position + at);
            case '\0' when at + 1 == inside.Length:
                throw Invalid(position + at);
            default:
                result.Append(kind);
                return at + 2;
        }
    }

    /// <summary>As <see cref="ResolveOne"/>, for an escape of C#.</summary>
    private static int ResolveOneOfCSharp(string inside, int at, int position, StringBuilder result)
    {
        // The letters of escapes, and the characters that they stand for in the same order.
        const string Kinds = "'\"\\0abefnrtv";
        const string Characters = "'\"\\\0\a\b\e\f\n\r\t\v";
        char kind = at + 1 < inside.Length ? inside[at + 1] : '\uFFFF';
        switch (kind)
        {
            case 'u' or 'U':
                return Hexadecimal(inside, at, at + 2, kind is 'u' ? 4 : 8, position, result);
            case 'x':
                int digits = inside.AsSpan(at + 2).IndexOfAnyExcept(HexadecimalDigits);
                int max = Math.Min(4, inside.Length - at - 2);
                return Hexadecimal(inside, at, at + 2, digits < 0 ? max : Math.Min(digits, max), position, result);
            default:
                int index = Kinds.IndexOf(kind, StringComparison.Ordinal);
                result.Append(index < 0 ? throw Invalid(position + at) : Characters[index]);
                return at + 2;
        }
    }

    /// <summary>Appends the character of hexadecimal digits, and returns the index after them.</summary>
    private static int Hexadecimal(string inside, int escape, int from, int digits, int position, StringBuilder result)
    {
        if (
            from + digits > inside.Length
            || !int.TryParse(
                inside.AsSpan(from, digits),
                NumberStyles.AllowHexSpecifier,
                CultureInfo.InvariantCulture,
                out int value
            )
            || value is < 0 or > 0x10FFFF
        )
        {
            throw Invalid(position + escape);
        }

        if (value > 0xFFFF)
        {
            result.Append(new Rune(value).ToString());
        }
        else
        {
            result.Append((char)value);
        }

        return from + digits;
    }

    private static ScriptException Invalid(int position) =>
        new(ScriptFault.Syntax, "The text holds an escape that does not exist", position);
}
