using Rookery.Json;

namespace Rookery.Search.Values;

/// <summary>
/// Normalises texts that are dates with a time: to UTC with seven fractional digits and without <c>Z</c>. So equal
/// times are equal texts, texts sort in the order of time, and a prefix of a date (<c>2026-11</c>) sorts correctly
/// among them.
/// </summary>
public static class DateText
{
    /// <summary>Bytes of a normalised date.</summary>
    public const int Length = WireDate.Length - 1;

    // The lengths of 2026-11-21T09:49:45 and of 2026-11-21T09:49:45.1234567+01:00.
    private const int MinBytes = 19;
    private const int MaxBytes = 33;

    /// <summary>
    /// Parses <c>2026-11-21T09:49:45</c> with up to seven fractional digits and <c>Z</c> or an offset. Without either,
    /// the date is in UTC.
    /// </summary>
    /// <param name="text">Any text, in UTF-8.</param>
    /// <param name="destination">At least <see cref="WireDate.Length"/> bytes; receives the normalised date in lower
    /// case, as texts are compared.</param>
    /// <returns>False if the text is not a date with a time. Nothing is written then.</returns>
    public static bool TryWrite(ReadOnlySpan<byte> text, Span<byte> destination)
    {
        if (text.Length is < MinBytes or > MaxBytes || text[4] != (byte)'-' || !WireDate.TryParse(text, out long ticks))
        {
            return false;
        }

        WireDate.Write(destination, ticks);
        destination[10] = (byte)'t';
        return true;
    }
}
