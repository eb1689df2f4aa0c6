namespace Rookery.Server.Observation;

/// <summary>A light that blinks until a time, which each request sets again. Thread-safe.</summary>
internal sealed class BlinkingLight(TimeProvider time)
{
    private readonly Lock _gate = new();
    private IDisposable? _blinking;
    private long _endsAt;

    /// <summary>Lets the light blink for a duration from now on.</summary>
    /// <param name="duration">The duration.</param>
    /// <param name="begin">
    /// Called if the light does not blink; begins the blinking, and makes sure that <see cref="StopIfDue"/> is called.
    /// Disposing the result ends the blinking.
    /// </param>
    public void BlinkFor(TimeSpan duration, Func<IDisposable> begin)
    {
        lock (_gate)
        {
            _blinking ??= begin();
            _endsAt = time.GetTimestamp() + (long)(duration.TotalSeconds * time.TimestampFrequency);
        }
    }

    /// <summary>
    /// Ends the blinking if its time is over. The check and the end hold one lock, so that a simultaneous request
    /// either extends the blinking or starts it again.
    /// </summary>
    /// <returns>The time that remains; null if the blinking has ended.</returns>
    public TimeSpan? StopIfDue()
    {
        lock (_gate)
        {
            long now = time.GetTimestamp();
            if (_endsAt > now)
            {
                return time.GetElapsedTime(now, _endsAt);
            }

            Stop();
            return null;
        }
    }

    /// <summary>Ends the blinking.</summary>
    public void Stop()
    {
        lock (_gate)
        {
            var ended = _blinking;
            _blinking = null;
            ended?.Dispose();
        }
    }
}
