using System.Text;

namespace Rookery.Scripting.Values;

/// <summary>
/// JavaScript counts texts in units of UTF-16; documents hold UTF-8. These count the one in the other. A text that was
/// cut inside a surrogate pair holds the half as WTF-8 does: the three bytes of its code point. Two halves that meet
/// are merged into their character, so that the same text is always the same bytes.
/// </summary>
internal static class Utf16Text
{
    /// <summary>Bytes of half of a pair.</summary>
    public const int HalfBytes = 3;

    /// <summary>Bytes of a character beyond U+FFFF.</summary>
    public const int PairBytes = 4;

    private const int FirstHigh = 0xD800,
        FirstLow = 0xDC00,
        LastLow = 0xDFFF,
        FirstOfPairs = 0x10000;

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
    /// <param name="isInside">
    /// Whether the unit is the second half of a pair; the bytes are those before the pair then.
    /// </param>
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

        // What differs in its first byte differs as characters; only of those is the order of bytes not that of units.
        return left[same] >= 0xED && right[same] >= 0xED
            ? CompareUnits(left[same..], right[same..])
            : left[same].CompareTo(right[same]);
    }

    /// <summary>Whether a text begins with half of a pair.</summary>
    public static bool IsHalf(ReadOnlySpan<byte> text) =>
        text.Length >= HalfBytes && text[0] == 0xED && text[1] >= 0xA0;

    /// <summary>Whether a text begins with the second half of a pair, or ends with the first.</summary>
    public static bool IsCutAtAnEnd(ReadOnlySpan<byte> text) =>
        text.Length >= HalfBytes && (IsLow(text) || IsHigh(text[^HalfBytes..]));

    /// <summary>Where half of a pair stands in a text; -1 where none does.</summary>
    public static int IndexOfHalf(ReadOnlySpan<byte> text)
    {
        for (int from = 0; text[from..].IndexOf((byte)0xED) is >= 0 and int found; from += found + 1)
        {
            if (IsHalf(text[(from + found)..]))
            {
                return from + found;
            }
        }

        return -1;
    }

    /// <summary>Merges halves that meet into their characters, in place; returns the bytes that are left.</summary>
    public static int MergeHalves(Span<byte> text)
    {
        int written = 0;
        for (int at = 0; at < text.Length; )
        {
            var rest = text[at..];
            if (rest.Length >= 2 * HalfBytes && IsHigh(rest) && IsLow(rest[HalfBytes..]))
            {
                ReadOnlySpan<byte> pair = rest;
                int high = Take(ref pair),
                    low = Take(ref pair);
                written += Write(FirstOfPairs + ((high - FirstHigh) << 10) + (low - FirstLow), text[written..]);
                at += 2 * HalfBytes;
            }
            else
            {
                text[written++] = text[at++];
            }
        }

        return written;
    }

    /// <summary>Takes the first character of a text, or half of one, off it.</summary>
    public static int Take(scoped ref ReadOnlySpan<byte> text)
    {
        byte first = text[0];
        if (first < 0x80)
        {
            text = text[1..];
            return first;
        }

        if (IsHalf(text))
        {
            int half = ((first & 0xF) << 12) | ((text[1] & 0x3F) << 6) | (text[2] & 0x3F);
            text = text[HalfBytes..];
            return half;
        }

        Rune.DecodeFromUtf8(text, out var rune, out int length);
        text = text[length..];
        return rune.Value;
    }

    /// <summary>Writes a character, or half of one; returns its bytes.</summary>
    public static int Write(int character, Span<byte> destination)
    {
        if (character is < FirstHigh or > LastLow)
        {
            return new Rune(character).EncodeToUtf8(destination);
        }

        destination[0] = (byte)(0xE0 | (character >> 12));
        destination[1] = (byte)(0x80 | ((character >> 6) & 0x3F));
        destination[2] = (byte)(0x80 | (character & 0x3F));
        return HalfBytes;
    }

    /// <summary>Writes one half of the pair that a text begins with; returns its bytes.</summary>
    public static int WriteHalf(ReadOnlySpan<byte> pair, bool isSecond, Span<byte> destination)
    {
        int beyond = Take(ref pair) - FirstOfPairs;
        return Write(isSecond ? FirstLow + (beyond & 0x3FF) : FirstHigh + (beyond >> 10), destination);
    }

    /// <summary>Bytes of the character that begins with a byte.</summary>
    public static int BytesAt(byte first) =>
        first < 0x80 ? 1
        : first < 0xE0 ? 2
        : first < 0xF0 ? 3
        : PairBytes;

    private static bool IsHigh(ReadOnlySpan<byte> text) => IsHalf(text) && text[1] < 0xB0;

    private static bool IsLow(ReadOnlySpan<byte> text) => IsHalf(text) && text[1] >= 0xB0;

    private static int UnitsAt(byte value) =>
        (value & 0xC0) == 0x80 ? 0
        : value >= 0xF0 ? 2
        : 1;

    /// <summary>Compares texts that differ in their first character: by its first unit, or by the next.</summary>
    private static int CompareUnits(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right)
    {
        int a = FirstUnit(left, out int second),
            b = FirstUnit(right, out int otherSecond);
        if (a != b)
        {
            return a.CompareTo(b);
        }

        // The same first half: behind one of them stands its second half, behind the other something else or nothing.
        left = left[BytesAt(left[0])..];
        right = right[BytesAt(right[0])..];
        a =
            second > 0 ? second
            : left.IsEmpty ? -1
            : FirstUnit(left, out _);
        b =
            otherSecond > 0 ? otherSecond
            : right.IsEmpty ? -1
            : FirstUnit(right, out _);
        return a.CompareTo(b);
    }

    private static int FirstUnit(ReadOnlySpan<byte> text, out int second)
    {
        int character = Take(ref text);
        second = character < FirstOfPairs ? 0 : FirstLow + ((character - FirstOfPairs) & 0x3FF);
        return character < FirstOfPairs ? character : FirstHigh + ((character - FirstOfPairs) >> 10);
    }
}
