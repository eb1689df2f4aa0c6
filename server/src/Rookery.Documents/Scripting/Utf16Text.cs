using System.Text;

namespace Rookery.Documents.Scripting;

/// <summary>JavaScript counts texts in units of UTF-16; documents hold UTF-8. These count the one in the other.</summary>
internal static class Utf16Text
{
    /// <summary>What stands for half of a surrogate pair, which no document can hold.</summary>
    public static ReadOnlySpan<byte> Half => "\uFFFD"u8;

    /// <summary>Units of a text.</summary>
    public static int Length(ReadOnlySpan<byte> text)
    {
        if (Ascii.IsValid(text))
        {
            return text.Length;
        }

        int units = 0;
        foreach (byte value in text)
        {
            units += UnitsAt(value);
        }

        return units;
    }

    /// <summary>The bytes before a unit.</summary>
    /// <param name="text">The text.</param>
    /// <param name="unit">Which unit, from 0 to the length.</param>
    /// <param name="isInside">Whether the unit is the second half of a pair; the bytes are those before the pair then.</param>
    public static int OffsetOf(ReadOnlySpan<byte> text, int unit, out bool isInside)
    {
        isInside = false;
        if (Ascii.IsValid(text))
        {
            return unit;
        }

        int at = 0;
        for (int passed = 0; at < text.Length; at++)
        {
            int units = UnitsAt(text[at]);
            if (units == 0)
            {
                continue;
            }

            if (passed + units > unit)
            {
                isInside = passed < unit;
                return at;
            }

            passed += units;
        }

        return at;
    }

    /// <summary>The order of JavaScript's comparisons: by units, where pairs stand before U+E000.</summary>
    public static int Compare(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right)
    {
        int same = left.CommonPrefixLength(right);
        if (same == left.Length || same == right.Length)
        {
            return left.Length.CompareTo(right.Length);
        }

        byte a = left[same], b = right[same];
        bool isPair = a >= 0xF0, isOtherPair = b >= 0xF0;
        if (isPair != isOtherPair && a >= 0xEE && b >= 0xEE)
        {
            return isPair ? -1 : 1;
        }

        return a.CompareTo(b);
    }

    /// <summary>Bytes of the character that begins with a byte.</summary>
    public static int BytesAt(byte first) => first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;

    private static int UnitsAt(byte value) => (value & 0xC0) == 0x80 ? 0 : value >= 0xF0 ? 2 : 1;
}
