using System.Text;

namespace Rookery.Json;

/// <summary>Shortens texts for messages, never inside a character.</summary>
public static class ShortText
{
    private const string Ellipsis = "…";

    // A character of UTF-8 has at most three bytes after its first. A text that is not UTF-8 may have more in a row.
    private const int MaxContinuationBytes = 3;

    /// <summary>Returns a text, or its beginning and an ellipsis if it is longer than the limit.</summary>
    /// <param name="utf8">The text, UTF-8.</param>
    /// <param name="maxBytes">Maximum bytes of the text that are shown.</param>
    public static string Of(ReadOnlySpan<byte> utf8, int maxBytes)
    {
        if (utf8.Length <= maxBytes)
        {
            return Encoding.UTF8.GetString(utf8);
        }

        int end = maxBytes;
        while (end > Math.Max(0, maxBytes - MaxContinuationBytes) && (utf8[end] & 0xC0) == 0x80)
        {
            end--;
        }

        return Encoding.UTF8.GetString(utf8[..end]) + Ellipsis;
    }

    /// <summary>Returns a text, or its beginning and an ellipsis if it is longer than the limit.</summary>
    /// <param name="text">The text.</param>
    /// <param name="maxLength">Maximum length of the shown text, in units of UTF-16, without the ellipsis.</param>
    public static string Of(ReadOnlySpan<char> text, int maxLength) =>
        text.Length <= maxLength ? text.ToString() : string.Concat(text[..BoundaryAt(text, maxLength)], Ellipsis);

    /// <summary>Returns the position, or the one before it if it is inside a surrogate pair.</summary>
    /// <param name="text">The text.</param>
    /// <param name="position">From 0 to the text's length.</param>
    public static int BoundaryAt(ReadOnlySpan<char> text, int position)
    {
        bool isInside =
            position > 0 && position < text.Length && char.IsSurrogatePair(text[position - 1], text[position]);
        return isInside ? position - 1 : position;
    }
}
