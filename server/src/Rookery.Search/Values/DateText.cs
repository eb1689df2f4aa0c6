using Rookery.Json;

namespace Rookery.Search.Values;

/// <summary>
/// Texts that are dates with a time. They count as the one text that names the moment in UTC with seven fractional
/// digits and without <c>Z</c>: so the same moment is one value however it was written, their order as texts is that of
/// time, and the beginning of a date (<c>2026-11</c>) stands where it should among them.
/// </summary>
public static class DateText
{
    /// <summary>Bytes of the one text.</summary>
    public const int Length = WireDate.Length - 1;

    private const int LeastBytes = 19;
    private const int MostBytes = 33;

    /// <summary>
    /// Reads <c>2026-11-21T09:49:45</c> with up to seven fractional digits, with <c>Z</c>, an offset, or neither: then
    /// it is taken as UTC.
    /// </summary>
    /// <param name="text">Any text.</param>
    /// <param name="destination">At least <see cref="WireDate.Length"/> bytes; takes the one text, without case as
    /// texts are compared.</param>
    /// <returns>False when it is no date with a time; nothing is written.</returns>
    public static bool TryWrite(ReadOnlySpan<byte> text, Span<byte> destination)
    {
        if (
            text.Length is < LeastBytes or > MostBytes
            || text[4] != (byte)'-'
            || !WireDate.TryParse(text, out long ticks)
        )
        {
            return false;
        }

        WireDate.Write(destination, ticks);
        destination[10] = (byte)'t';
        return true;
    }
}
