using System.Globalization;

namespace Rookery.Server.Raven;

/// <summary>
/// Reads how long a request may wait, as clients write it: milliseconds ("5000", the Node client) or TimeSpan text
/// ("00:00:05", "1.00:00:00.5").
/// </summary>
internal static class DurationText
{
    // Clients send days, or TimeSpan.MaxValue, for as long as needed. A timer takes at most 49 days.
    private static readonly TimeSpan MaxDuration = TimeSpan.FromHours(1);

    /// <summary>
    /// Reads a duration of zero or more; false if the text is no such duration. One of more than an hour is read as an
    /// hour.
    /// </summary>
    public static bool TryParse(ReadOnlySpan<char> text, out TimeSpan duration)
    {
        if (long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long milliseconds))
        {
            bool fits = milliseconds <= TimeSpan.MaxValue.Ticks / TimeSpan.TicksPerMillisecond;
            duration = fits ? Limit(TimeSpan.FromMilliseconds(milliseconds)) : default;
            return fits;
        }

        bool isDuration = TimeSpan.TryParse(text, CultureInfo.InvariantCulture, out duration);
        duration = Limit(duration);
        return isDuration && duration >= TimeSpan.Zero;
    }

    private static TimeSpan Limit(TimeSpan duration) => duration < MaxDuration ? duration : MaxDuration;
}
