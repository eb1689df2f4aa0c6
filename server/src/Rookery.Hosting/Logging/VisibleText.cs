using System.Buffers;
using System.Globalization;
using System.Text;

namespace Rookery.Hosting.Logging;

/// <summary>
/// Makes text of unknown origin (names, values, server messages) safe for a terminal or table. Characters that control
/// a terminal, change the direction of text or are invisible become visible escapes (<c>\u202e</c>). In JSON the escape
/// stands for the same text.
/// </summary>
public static class VisibleText
{
    /// <summary>Returns the text with escapes; line breaks and tabs are kept.</summary>
    public static string Of(string text)
    {
        var visible = new StringBuilder(text.Length);
        Append(visible, text);
        return visible.ToString();
    }

    /// <summary>Returns the text with escapes in one line: line breaks and tabs become spaces.</summary>
    public static string OfLine(string text) =>
        Of(
            text.AsSpan().ContainsAny('\n', '\r', '\t')
                ? text.Replace("\r\n", " ", StringComparison.Ordinal)
                    .Replace('\n', ' ')
                    .Replace('\r', ' ')
                    .Replace('\t', ' ')
                : text
        );

    /// <summary>Returns the text with escapes in one line: line breaks become the two characters <c>\n</c>.</summary>
    public static string OnOneLine(string text) =>
        Of(
            text.Replace("\r\n", "\n", StringComparison.Ordinal)
                .Replace('\r', '\n')
                .Replace("\n", "\\n", StringComparison.Ordinal)
        );

    /// <summary>Appends the text with escapes; line breaks and tabs are kept.</summary>
    public static void Append(StringBuilder visible, ReadOnlySpan<char> text)
    {
        while (!text.IsEmpty)
        {
            // A lone surrogate is not a character; terminals handle it in different ways.
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

    // Newline and tab are kept. Variation selectors belong to the character before them, so they are kept as well.
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

    // Letters and marks by category that are drawn as nothing: grapheme joiner, Hangul fillers, Khmer inherent vowels,
    // empty Braille pattern.
    private static bool IsBlank(int letter) =>
        letter is 0x34f or 0x115f or 0x1160 or 0x17b4 or 0x17b5 or 0x2800 or 0x3164 or 0xffa0;
}
