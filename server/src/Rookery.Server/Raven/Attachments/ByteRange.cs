using System.Globalization;

namespace Rookery.Server.Raven.Attachments;

/// <summary>The part of an attachment's content that a client requests (RFC 9110, section 14).</summary>
/// <param name="First">Offset of the first byte.</param>
/// <param name="Length">Number of bytes.</param>
internal readonly record struct ByteRange(long First, long Length)
{
    private const string Unit = "bytes=";

    /// <summary>
    /// Reads a Range header. Several ranges, other units and malformed ranges are ignored, which the RFC allows: the
    /// answer is then the whole content.
    /// </summary>
    /// <param name="header">The header; null without one.</param>
    /// <param name="size">Size of the content.</param>
    /// <param name="range">The range; the whole content if the header is ignored.</param>
    /// <returns>Whether a part is requested; null if no byte of it exists (416).</returns>
    public static bool? Read(string? header, long size, out ByteRange range)
    {
        range = new ByteRange(0, size);
        if (header is null || !header.StartsWith(Unit, StringComparison.OrdinalIgnoreCase))
        {
            return false;
        }

        var text = header.AsSpan(Unit.Length).Trim();
        int dash = text.IndexOf('-');
        if (dash < 0 || text.Contains(','))
        {
            return false;
        }

        bool hasFirst = TryParse(text[..dash], out long first);
        bool hasLast = TryParse(text[(dash + 1)..], out long last);
        bool isMalformed =
            (!hasFirst && dash > 0) || (!hasLast && dash < text.Length - 1) || (hasFirst && hasLast && last < first);
        if (isMalformed || !(hasFirst || hasLast))
        {
            return false;
        }

        if (!hasFirst)
        {
            (first, last) = (Math.Max(0, size - last), last == 0 ? -1 : size - 1);
        }
        else
        {
            last = hasLast ? Math.Min(last, size - 1) : size - 1;
        }

        if (first >= size || last < first)
        {
            return null;
        }

        range = new ByteRange(first, last - first + 1);
        return true;
    }

    private static bool TryParse(ReadOnlySpan<char> text, out long number) =>
        long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out number);
}
