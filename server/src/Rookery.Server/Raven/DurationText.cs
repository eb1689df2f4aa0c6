using System.Globalization;

namespace Rookery.Server.Raven;

/// <summary>
/// Reads durations as clients write them: milliseconds ("5000", the Node client) or TimeSpan text ("00:00:05",
/// "1.00:00:00.5").
/// </summary>
internal static class DurationText
{
    /// <summary>Reads a duration of zero or more; false if the text is no such duration.</summary>
    public static bool TryParse(ReadOnlySpan<char> text, out TimeSpan duration)
    {
        if (long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long milliseconds))
        {
            bool fits = milliseconds <= TimeSpan.MaxValue.Ticks / TimeSpan.TicksPerMillisecond;
            duration = fits ? TimeSpan.FromMilliseconds(milliseconds) : default;
            return fits;
        }

        return TimeSpan.TryParse(text, CultureInfo.InvariantCulture, out duration) && duration >= TimeSpan.Zero;
    }
}
