using System.Buffers;
using System.Globalization;
using System.Text;

namespace Rookery.Hosting.Logging;

/// <summary>
/// Text of others (names, values, what a server says) for a terminal or a table: what would command a terminal, turn
/// the order of letters or not be seen is written as an escape that is read (<c>\u202e</c>). Inside JSON that is the
/// same text.
/// </summary>
public static class VisibleText
{
    /// <summary>The same text, harmless; it keeps its lines.</summary>
    public static string Of(string text)
    {
        var visible = new StringBuilder(text.Length);
        Append(visible, text);
        return visible.ToString();
    }

    /// <summary>The same text in one line: line breaks and tabs become spaces.</summary>
    public static string OfLine(string text) =>
        Of(
            text.AsSpan().ContainsAny('\n', '\r', '\t')
                ? text.Replace("\r\n", " ", StringComparison.Ordinal)
                    .Replace('\n', ' ')
                    .Replace('\r', ' ')
                    .Replace('\t', ' ')
                : text
        );

    /// <summary>The same text in one line that says where it had several: <c>\n</c> in two signs.</summary>
    public static string OnOneLine(string text) =>
        Of(
            text.Replace("\r\n", "\n", StringComparison.Ordinal)
                .Replace('\r', '\n')
                .Replace("\n", "\\n", StringComparison.Ordinal)
        );

    /// <summary>Appends the same text, harmless.</summary>
    public static void Append(StringBuilder visible, ReadOnlySpan<char> text)
    {
        while (!text.IsEmpty)
        {
            // Half of a pair of surrogates is no letter, and no terminal knows what to do with it.
            bool isWhole = Rune.DecodeFromUtf16(text, out var letter, out int length) == OperationStatus.Done;
            if (isWhole && IsHarmless(letter))
            {
                visible.Append(text[..length]);
            }
            else
            {
                foreach (char unit in text[..length])
                {
                    visible.Append(CultureInfo.InvariantCulture, $"\\u{(int)unit:x4}");
                }
            }

            text = text[length..];
        }
    }

    // Newline and tab are text. Selectors of variants are part of the sign before them.
    private static bool IsHarmless(Rune letter) =>
        letter.Value is '\n' or '\t' or (>= ' ' and < 0x7f)
        || (
            !IsBlank(letter.Value)
            && Rune.GetUnicodeCategory(letter)
                is not (
                    UnicodeCategory.Control
                    or UnicodeCategory.Format
                    or UnicodeCategory.LineSeparator
                    or UnicodeCategory.ParagraphSeparator
                )
        );

    // Letters and marks by their category, drawn as nothing: the joiner of graphemes, fillers of Hangul, inherent
    // vowels of Khmer, the empty pattern of Braille.
    private static bool IsBlank(int letter) =>
        letter is 0x34f or 0x115f or 0x1160 or 0x17b4 or 0x17b5 or 0x2800 or 0x3164 or 0xffa0;
}
