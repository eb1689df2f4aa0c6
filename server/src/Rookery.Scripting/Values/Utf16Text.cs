using System.Text;

namespace Rookery.Scripting.Values;

/// <summary>
/// Computes JavaScript's positions, which count UTF-16 units, in the UTF-8 of documents. A text that was cut inside a
/// surrogate pair contains the half as in WTF-8, as the three bytes of its code point. Adjacent halves are merged to
/// their character, so equal texts have equal bytes.
/// </summary>
internal static class Utf16Text
{
    /// <summary>Length of half of a pair in bytes.</summary>
    public const int HalfBytes = 3;

    /// <summary>Length of a character beyond U+FFFF in bytes.</summary>
    public const int PairBytes = 4;

    private const int FirstHigh = 0xD800,
        FirstLow = 0xDC00,
        LastLow = 0xDFFF,
        FirstOfPairs = 0x10000;

    /// <summary>Returns the length of a text in UTF-16 units.</summary>
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

    /// <summary>Returns the byte offset of a unit.</summary>
    /// <param name="text">The text.</param>
    /// <param name="unit">The unit, from 0 to the length of the text.</param>
    /// <param name="isInside">Whether the unit is the second half of a pair. The returned offset is then that of the
    /// pair.</param>
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

    /// <summary>Compares by UTF-16 units, as JavaScript does. Surrogate pairs sort before U+E000.</summary>
    public static int Compare(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right)
    {
        int same = left.CommonPrefixLength(right);
        if (same == left.Length || same == right.Length)
        {
            return left.Length.CompareTo(right.Length);
        }

        // Texts that differ in the first byte of a character differ in that character. Only from the lead byte 0xED on
        // does the order of bytes differ from that of units.
        return left[same] >= 0xED && right[same] >= 0xED
            ? CompareUnits(left[same..], right[same..])
            : left[same].CompareTo(right[same]);
    }

    /// <summary>Returns whether a text begins with half of a pair.</summary>
    public static bool IsHalf(ReadOnlySpan<byte> text) =>
        text.Length >= HalfBytes && text[0] == 0xED && text[1] >= 0xA0;

    /// <summary>Returns whether a text begins with the second half of a pair, or ends with the first.</summary>
    public static bool IsCutAtAnEnd(ReadOnlySpan<byte> text) =>
        text.Length >= HalfBytes && (IsLow(text) || IsHigh(text[^HalfBytes..]));

    /// <summary>
    /// Returns the offset of the first unpaired half of a surrogate pair in a text; -1 if there is none.
    /// </summary>
    public static int IndexOfLoneSurrogate(ReadOnlySpan<byte> text)
    {
        for (int from = 0; text[from..].IndexOf((byte)0xED) is >= 0 and int offset; from += offset + 1)
        {
            if (IsHalf(text[(from + offset)..]))
            {
                return from + offset;
            }
        }

        return -1;
    }

    /// <summary>Merges adjacent halves into their characters, in place, and returns the new length in bytes.</summary>
    public static int MergeHalves(Span<byte> text)
    {
        int written = 0;
        for (int at = 0; at < text.Length; )
        {
            var unread = text[at..];
            if (unread.Length >= 2 * HalfBytes && IsHigh(unread) && IsLow(unread[HalfBytes..]))
            {
                ReadOnlySpan<byte> pair = unread;
                int high = ReadCharacter(ref pair),
                    low = ReadCharacter(ref pair);
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

    /// <summary>Removes the first character, or half, from a text and returns it.</summary>
    public static int ReadCharacter(scoped ref ReadOnlySpan<byte> text)
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

    /// <summary>Writes a character, or half of one, and returns its length in bytes.</summary>
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

    /// <summary>Writes one half of the pair at the start of a text and returns its length in bytes.</summary>
    public static int WriteHalf(ReadOnlySpan<byte> pair, bool isSecond, Span<byte> destination)
    {
        int beyond = ReadCharacter(ref pair) - FirstOfPairs;
        return Write(isSecond ? FirstLow + (beyond & 0x3FF) : FirstHigh + (beyond >> 10), destination);
    }

    /// <summary>Returns the length of a character in bytes, given its first byte.</summary>
    public static int BytesAt(byte first)
    {
        if (first < 0x80)
        {
            return 1;
        }

        if (first < 0xE0)
        {
            return 2;
        }

        if (first < 0xF0)
        {
            return 3;
        }

        return PairBytes;
    }

    private static bool IsHigh(ReadOnlySpan<byte> text) => IsHalf(text) && text[1] < 0xB0;

    private static bool IsLow(ReadOnlySpan<byte> text) => IsHalf(text) && text[1] >= 0xB0;

    private static int UnitsAt(byte value)
    {
        if ((value & 0xC0) == 0x80)
        {
            return 0;
        }

        if (value >= 0xF0)
        {
            return 2;
        }

        return 1;
    }

    /// <summary>Compares texts that differ in their first character, by its first unit or the one after.</summary>
    private static int CompareUnits(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right)
    {
        int leftFirst = FirstUnit(left, out int leftSecond),
            rightFirst = FirstUnit(right, out int rightSecond);
        if (leftFirst != rightFirst)
        {
            return leftFirst.CompareTo(rightFirst);
        }

        // The first halves are equal. On one side the second half follows, on the other something else or nothing.
        leftSecond = leftSecond > 0 ? leftSecond : UnitAfterFirst(left);
        rightSecond = rightSecond > 0 ? rightSecond : UnitAfterFirst(right);
        return leftSecond.CompareTo(rightSecond);
    }

    /// <summary>Returns the first unit after the first character of a text; -1 if there is none.</summary>
    private static int UnitAfterFirst(ReadOnlySpan<byte> text)
    {
        var next = text[BytesAt(text[0])..];
        return next.IsEmpty ? -1 : FirstUnit(next, out _);
    }

    /// <summary>
    /// Returns the first unit of a text, and the second if both are a surrogate pair, otherwise 0.
    /// </summary>
    private static int FirstUnit(ReadOnlySpan<byte> text, out int second)
    {
        int character = ReadCharacter(ref text);
        second = character < FirstOfPairs ? 0 : FirstLow + ((character - FirstOfPairs) & 0x3FF);
        return character < FirstOfPairs ? character : FirstHigh + ((character - FirstOfPairs) >> 10);
    }
}
