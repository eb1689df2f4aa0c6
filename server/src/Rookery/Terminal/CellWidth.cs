using System.Buffers;
using System.Globalization;
using System.Text;

namespace Rookery.Terminal;

/// <summary>Counts the cells that characters occupy on a terminal.</summary>
internal static class CellWidth
{
    /// <summary>The most cells of one UTF-16 character.</summary>
    public const int Widest = 2;

    // Ranges of East Asian wide characters and of emoji, as in Unicode's EastAsianWidth.txt, in ascending order.
    private static readonly (int First, int Last)[] Wide =
    [
        (0x1100, 0x115F),
        (0x2E80, 0x303E),
        (0x3041, 0xA4CF),
        (0xAC00, 0xD7A3),
        (0xF900, 0xFAFF),
        (0xFE30, 0xFE6F),
        (0xFF00, 0xFF60),
        (0xFFE0, 0xFFE6),
        (0x1F300, 0x1F64F),
        (0x1F680, 0x1F6FF),
        (0x1F900, 0x1F9FF),
        (0x20000, 0x3FFFD),
    ];

    /// <summary>Returns the cells of a text without control characters.</summary>
    public static int Of(ReadOnlySpan<char> text)
    {
        int cells = 0;
        while (Rune.DecodeFromUtf16(text, out var letter, out int length) is not OperationStatus.NeedMoreData)
        {
            cells += Of(letter);
            text = text[length..];
        }

        return cells;
    }

    private static int Of(Rune letter) =>
        letter.Value < 0x300 ? 1
        : Rune.GetUnicodeCategory(letter) is UnicodeCategory.NonSpacingMark or UnicodeCategory.EnclosingMark ? 0
        : Array.Exists(Wide, range => letter.Value >= range.First && letter.Value <= range.Last) ? 2
        : 1;
}
