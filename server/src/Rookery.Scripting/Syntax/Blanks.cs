namespace Rookery.Scripting.Syntax;

/// <summary>
/// The characters that JavaScript counts as white space. They are listed here and not taken from the runtime, so that a
/// newer Unicode version does not change results.
/// </summary>
internal static class Blanks
{
    /// <summary>Returns the text without blanks at both ends.</summary>
    public static ReadOnlySpan<byte> Trim(ReadOnlySpan<byte> text) => TrimEnd(TrimStart(text));

    /// <summary>Returns the text without blanks at its start.</summary>
    public static ReadOnlySpan<byte> TrimStart(ReadOnlySpan<byte> text)
    {
        while (LengthAtStart(text) is > 0 and int length)
        {
            text = text[length..];
        }

        return text;
    }

    /// <summary>Returns the text without blanks at its end.</summary>
    public static ReadOnlySpan<byte> TrimEnd(ReadOnlySpan<byte> text)
    {
        while (LengthAtEnd(text) is > 0 and int length)
        {
            text = text[..^length];
        }

        return text;
    }

    private static int LengthAtStart(ReadOnlySpan<byte> text)
    {
        if (text.IsEmpty)
        {
            return 0;
        }

        if (text[0] is 0x20 or (>= 0x09 and <= 0x0D))
        {
            return 1;
        }

        if (text.StartsWith("\u00A0"u8))
        {
            return 2;
        }

        if (text.Length >= 3 && IsWide(text[..3]))
        {
            return 3;
        }

        return 0;
    }

    private static int LengthAtEnd(ReadOnlySpan<byte> text)
    {
        if (text.IsEmpty)
        {
            return 0;
        }

        if (text[^1] is 0x20 or (>= 0x09 and <= 0x0D))
        {
            return 1;
        }

        if (text.EndsWith("\u00A0"u8))
        {
            return 2;
        }

        if (text.Length >= 3 && IsWide(text[^3..]))
        {
            return 3;
        }

        return 0;
    }

    /// <summary>
    /// Returns whether three bytes are one of U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000, U+FEFF.
    /// </summary>
    private static bool IsWide(ReadOnlySpan<byte> bytes) =>
        (bytes[0], bytes[1], bytes[2])
            is
                (0xE1, 0x9A, 0x80)
                or
                (0xE2, 0x80, (>= 0x80 and <= 0x8A) or 0xA8 or 0xA9 or 0xAF)
                or
                (0xE2, 0x81, 0x9F)
                or
                (0xE3, 0x80, 0x80)
                or
                (0xEF, 0xBB, 0xBF);
}
