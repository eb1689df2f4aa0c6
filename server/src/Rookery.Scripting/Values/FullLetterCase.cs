namespace Rookery.Scripting.Values;

/// <summary>
/// Converts texts to upper and lower case as JavaScript does (ECMA-262, String.prototype.toLowerCase), with the full
/// mappings of Unicode 17.0: <c>ß</c> becomes <c>SS</c>, and the last sigma of a word becomes <c>ς</c>.
/// </summary>
internal static class FullLetterCase
{
    /// <summary>
    /// Maximum bytes of the result for each byte of a text. For example, <c>ΐ</c> becomes three letters.
    /// </summary>
    public const int MaxGrowthFactor = 3;

    private const int CapitalSigma = 0x3A3, FinalSigma = 0x3C2;
    private const int CapitalDottedI = 0x130, CombiningDot = 0x307;
    private const int Columns = 4;

    /// <summary>Rows of a letter and the two or three characters of its upper case; 0 for no third.</summary>
    private static ReadOnlySpan<int> UpperRows =>
    [
        0xDF, 0x53, 0x53, 0, 0x149, 0x2BC, 0x4E, 0, 0x1F0, 0x4A, 0x30C, 0, 0x390, 0x399, 0x308, 0x301,
        0x3B0, 0x3A5, 0x308, 0x301, 0x587, 0x535, 0x552, 0, 0x1E96, 0x48, 0x331, 0, 0x1E97, 0x54, 0x308, 0,
        0x1E98, 0x57, 0x30A, 0, 0x1E99, 0x59, 0x30A, 0, 0x1E9A, 0x41, 0x2BE, 0, 0x1F50, 0x3A5, 0x313, 0,
        0x1F52, 0x3A5, 0x313, 0x300, 0x1F54, 0x3A5, 0x313, 0x301, 0x1F56, 0x3A5, 0x313, 0x342,
        0x1F80, 0x1F08, 0x399, 0, 0x1F81, 0x1F09, 0x399, 0, 0x1F82, 0x1F0A, 0x399, 0, 0x1F83, 0x1F0B, 0x399, 0,
        0x1F84, 0x1F0C, 0x399, 0, 0x1F85, 0x1F0D, 0x399, 0, 0x1F86, 0x1F0E, 0x399, 0, 0x1F87, 0x1F0F, 0x399, 0,
        0x1F88, 0x1F08, 0x399, 0, 0x1F89, 0x1F09, 0x399, 0, 0x1F8A, 0x1F0A, 0x399, 0, 0x1F8B, 0x1F0B, 0x399, 0,
        0x1F8C, 0x1F0C, 0x399, 0, 0x1F8D, 0x1F0D, 0x399, 0, 0x1F8E, 0x1F0E, 0x399, 0, 0x1F8F, 0x1F0F, 0x399, 0,
        0x1F90, 0x1F28, 0x399, 0, 0x1F91, 0x1F29, 0x399, 0, 0x1F92, 0x1F2A, 0x399, 0, 0x1F93, 0x1F2B, 0x399, 0,
        0x1F94, 0x1F2C, 0x399, 0, 0x1F95, 0x1F2D, 0x399, 0, 0x1F96, 0x1F2E, 0x399, 0, 0x1F97, 0x1F2F, 0x399, 0,
        0x1F98, 0x1F28, 0x399, 0, 0x1F99, 0x1F29, 0x399, 0, 0x1F9A, 0x1F2A, 0x399, 0, 0x1F9B, 0x1F2B, 0x399, 0,
        0x1F9C, 0x1F2C, 0x399, 0, 0x1F9D, 0x1F2D, 0x399, 0, 0x1F9E, 0x1F2E, 0x399, 0, 0x1F9F, 0x1F2F, 0x399, 0,
        0x1FA0, 0x1F68, 0x399, 0, 0x1FA1, 0x1F69, 0x399, 0, 0x1FA2, 0x1F6A, 0x399, 0, 0x1FA3, 0x1F6B, 0x399, 0,
        0x1FA4, 0x1F6C, 0x399, 0, 0x1FA5, 0x1F6D, 0x399, 0, 0x1FA6, 0x1F6E, 0x399, 0, 0x1FA7, 0x1F6F, 0x399, 0,
        0x1FA8, 0x1F68, 0x399, 0, 0x1FA9, 0x1F69, 0x399, 0, 0x1FAA, 0x1F6A, 0x399, 0, 0x1FAB, 0x1F6B, 0x399, 0,
        0x1FAC, 0x1F6C, 0x399, 0, 0x1FAD, 0x1F6D, 0x399, 0, 0x1FAE, 0x1F6E, 0x399, 0, 0x1FAF, 0x1F6F, 0x399, 0,
        0x1FB2, 0x1FBA, 0x399, 0, 0x1FB3, 0x391, 0x399, 0, 0x1FB4, 0x386, 0x399, 0, 0x1FB6, 0x391, 0x342, 0,
        0x1FB7, 0x391, 0x342, 0x399, 0x1FBC, 0x391, 0x399, 0, 0x1FC2, 0x1FCA, 0x399, 0, 0x1FC3, 0x397, 0x399, 0,
        0x1FC4, 0x389, 0x399, 0, 0x1FC6, 0x397, 0x342, 0, 0x1FC7, 0x397, 0x342, 0x399, 0x1FCC, 0x397, 0x399, 0,
        0x1FD2, 0x399, 0x308, 0x300, 0x1FD3, 0x399, 0x308, 0x301, 0x1FD6, 0x399, 0x342, 0,
        0x1FD7, 0x399, 0x308, 0x342, 0x1FE2, 0x3A5, 0x308, 0x300, 0x1FE3, 0x3A5, 0x308, 0x301,
        0x1FE4, 0x3A1, 0x313, 0, 0x1FE6, 0x3A5, 0x342, 0, 0x1FE7, 0x3A5, 0x308, 0x342, 0x1FF2, 0x1FFA, 0x399, 0,
        0x1FF3, 0x3A9, 0x399, 0, 0x1FF4, 0x38F, 0x399, 0, 0x1FF6, 0x3A9, 0x342, 0, 0x1FF7, 0x3A9, 0x342, 0x399,
        0x1FFC, 0x3A9, 0x399, 0, 0xFB00, 0x46, 0x46, 0, 0xFB01, 0x46, 0x49, 0, 0xFB02, 0x46, 0x4C, 0,
        0xFB03, 0x46, 0x46, 0x49, 0xFB04, 0x46, 0x46, 0x4C, 0xFB05, 0x53, 0x54, 0, 0xFB06, 0x53, 0x54, 0,
        0xFB13, 0x544, 0x546, 0, 0xFB14, 0x544, 0x535, 0, 0xFB15, 0x544, 0x53B, 0, 0xFB16, 0x54E, 0x546, 0,
        0xFB17, 0x544, 0x53D, 0,
    ];

    /// <summary>Writes a text in upper case and returns its length in bytes.</summary>
    /// <param name="text">The text.</param>
    /// <param name="destination">Receives the result; <see cref="MaxGrowthFactor"/> times as long as the text.</param>
    public static int ToUpper(ReadOnlySpan<byte> text, Span<byte> destination)
    {
        int written = 0;
        while (!text.IsEmpty)
        {
            int character = Utf16Text.ReadCharacter(ref text);
            int row = character < 0x80 ? -1 : FindRow(character);
            written += row < 0
                ? Utf16Text.Write(LetterCase.Map(character, isUpper: true), destination[written..])
                : WriteRow(UpperRows.Slice(row, Columns)[1..], destination[written..]);
        }

        return written;
    }

    /// <summary>Writes a text in lower case and returns its length in bytes.</summary>
    /// <param name="text">The text.</param>
    /// <param name="destination">Receives the result; <see cref="MaxGrowthFactor"/> times as long as the text.</param>
    public static int ToLower(ReadOnlySpan<byte> text, Span<byte> destination)
    {
        int written = 0;
        bool followsCased = false;
        while (!text.IsEmpty)
        {
            int character = Utf16Text.ReadCharacter(ref text);
            written += character switch
            {
                CapitalSigma when followsCased && !IsBeforeCased(text) =>
                    Utf16Text.Write(FinalSigma, destination[written..]),
                CapitalDottedI => WriteRow(['i', CombiningDot, 0], destination[written..]),
                _ => Utf16Text.Write(LetterCase.Map(character, isUpper: false), destination[written..]),
            };
            if (!LetterProperties.IsCaseIgnorable(character))
            {
                followsCased = LetterProperties.IsCased(character);
            }
        }

        return written;
    }

    /// <summary>Returns whether the next character that is not case-ignorable is a cased letter.</summary>
    private static bool IsBeforeCased(ReadOnlySpan<byte> text)
    {
        while (!text.IsEmpty)
        {
            int character = Utf16Text.ReadCharacter(ref text);
            if (!LetterProperties.IsCaseIgnorable(character))
            {
                return LetterProperties.IsCased(character);
            }
        }

        return false;
    }

    /// <summary>Returns whether the upper case of a character has two or three.</summary>
    public static bool HasLongUpper(int character) => FindRow(character) >= 0;

    private static int FindRow(int character)
    {
        int low = 0, high = (UpperRows.Length / Columns) - 1;
        while (low <= high)
        {
            int middle = (low + high) / 2;
            int letter = UpperRows[middle * Columns];
            if (letter == character)
            {
                return middle * Columns;
            }

            (low, high) = letter < character ? (middle + 1, high) : (low, middle - 1);
        }

        return -1;
    }

    private static int WriteRow(ReadOnlySpan<int> characters, Span<byte> destination)
    {
        int written = 0;
        foreach (int character in characters)
        {
            written += character == 0 ? 0 : Utf16Text.Write(character, destination[written..]);
        }

        return written;
    }
}
