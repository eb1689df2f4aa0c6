using System.Globalization;
using System.Text;

namespace Rookery.Server.FastPath;

/// <summary>The Date header (RFC 9110, section 6.6.1), formatted at most once a second. Thread-safe.</summary>
internal sealed class DateHeader(TimeProvider time)
{
    private Formatted _last = Format(time);

    /// <summary>Returns the header for the current time, with its line break.</summary>
    /// <param name="now">A timestamp that the caller has read already.</param>
    public ReadOnlySpan<byte> Line(long now)
    {
        var last = Volatile.Read(ref _last);
        if (now >= last.ExpiresAt)
        {
            last = Format(time);
            Volatile.Write(ref _last, last);
        }

        return last.Line;
    }

    private static Formatted Format(TimeProvider time)
    {
        var now = time.GetUtcNow();
        long ticksLeft = TimeSpan.TicksPerSecond - (now.Ticks % TimeSpan.TicksPerSecond);
        double secondsLeft = (double)ticksLeft / TimeSpan.TicksPerSecond;
        long expiresAt = time.GetTimestamp() + (long)(secondsLeft * time.TimestampFrequency);
        string line = string.Create(CultureInfo.InvariantCulture, $"Date: {now:R}\r\n");
        return new Formatted(Encoding.ASCII.GetBytes(line), expiresAt);
    }

    private sealed record Formatted(byte[] Line, long ExpiresAt);
}
