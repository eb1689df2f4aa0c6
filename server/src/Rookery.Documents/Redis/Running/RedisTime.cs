namespace Rookery.Documents.Redis.Running;

/// <summary>Converts times of Redis, milliseconds since 1970, to ticks and back.</summary>
internal static class RedisTime
{
    // The last millisecond that a date in JSON can name.
    private const long LastMilliseconds = 253_402_300_799_999;

    /// <summary>The unit of a time to live.</summary>
    private const long MillisecondsPerSecond = 1000;

    /// <summary>Returns the time in milliseconds since 1970.</summary>
    public static long ToMilliseconds(long utcTicks) =>
        (utcTicks - DateTime.UnixEpoch.Ticks) / TimeSpan.TicksPerMillisecond;

    /// <summary>
    /// Returns the time in ticks. Times after the year 9999 become its last millisecond, those before 1970 its first.
    /// </summary>
    public static long ToTicks(long milliseconds) =>
        DateTime.UnixEpoch.Ticks + (Math.Clamp(milliseconds, 1, LastMilliseconds) * TimeSpan.TicksPerMillisecond);

    /// <summary>Computes a time in milliseconds.</summary>
    /// <param name="value">The time or time to live as the client sent it.</param>
    /// <param name="isSeconds">Whether it is in seconds.</param>
    /// <param name="baseMilliseconds">The time from which it counts: now, or 0.</param>
    /// <param name="milliseconds">The time.</param>
    /// <returns>False if it exceeds 64 bits.</returns>
    public static bool TryCompute(long value, bool isSeconds, long baseMilliseconds, out long milliseconds)
    {
        milliseconds = 0;
        if (isSeconds)
        {
            if (value is > long.MaxValue / MillisecondsPerSecond or < long.MinValue / MillisecondsPerSecond)
            {
                return false;
            }

            value *= MillisecondsPerSecond;
        }

        if (value > long.MaxValue - baseMilliseconds)
        {
            return false;
        }

        milliseconds = value + baseMilliseconds;
        return true;
    }

    /// <summary>Rounds milliseconds to seconds.</summary>
    public static long ToSeconds(long milliseconds) =>
        (milliseconds + (MillisecondsPerSecond / 2)) / MillisecondsPerSecond;
}
