using System.Text.Unicode;

namespace Rookery.Documents.Redis;

/// <summary>Reads characters of UTF-8 without the tables of Unicode, which differ between versions of .NET.</summary>
internal static class Utf8Character
{
    private const int ContinuationBits = 6;

    /// <summary>Reads the first character; false if the text does not begin with one.</summary>
    /// <param name="text">Any bytes, at least one.</param>
    /// <param name="character">The code point.</param>
    /// <param name="length">Its length in bytes.</param>
    public static bool TryRead(ReadOnlySpan<byte> text, out int character, out int length)
    {
        byte first = text[0];
        (character, length) = first switch
        {
            < 0x80 => (first, 1),
            < 0xE0 => (first & 0x1F, 2),
            < 0xF0 => (first & 0x0F, 3),
            _ => (first & 0x07, 4),
        };
        if (length > text.Length || !Utf8.IsValid(text[..length]))
        {
            return false;
        }

        for (int i = 1; i < length; i++)
        {
            character = (character << ContinuationBits) | (text[i] & 0x3F);
        }

        return true;
    }
}
