namespace Rookery.Server.Observation;

/// <summary>
/// A light that blinks until a time, which each request sets again. Switching a light writes files, so callers wait for
/// their turn without a thread. Thread-safe.
/// </summary>
/// <param name="time">The clock.</param>
/// <param name="turn">Lets one caller at a time use the light.</param>
internal sealed class BlinkingLight(TimeProvider time, SemaphoreSlim turn)
{
    private IDisposable? _blinking;
    private long _endsAt;

    /// <summary>Lets the light blink for a duration from now on.</summary>
    /// <param name="duration">The duration.</param>
    /// <param name="begin">
    /// Called if the light does not blink; begins the blinking, and makes sure that <see cref="StopIfDueAsync"/> is
    /// called. Disposing the result ends the blinking.
    /// </param>
    /// <param name="cancellation">Ends the wait for the turn, which a light that hangs may keep for ever.</param>
    /// <exception cref="OperationCanceledException">The wait was cancelled.</exception>
    public async Task BlinkForAsync(TimeSpan duration, Func<IDisposable> begin, CancellationToken cancellation)
    {
        await turn.WaitAsync(cancellation);
        try
        {
            _blinking ??= begin();
            _endsAt = time.GetTimestamp() + (long)(duration.TotalSeconds * time.TimestampFrequency);
        }
        finally
        {
            turn.Release();
        }
    }

    /// <summary>
    /// Ends the blinking if its time is over. The check and the end are one turn, so that a simultaneous request either
    /// extends the blinking or starts it again.
    /// </summary>
    /// <param name="cancellation">Ends the wait for the turn.</param>
    /// <returns>The time that remains; null if the blinking has ended.</returns>
    /// <exception cref="OperationCanceledException">The wait was cancelled.</exception>
    public async Task<TimeSpan?> StopIfDueAsync(CancellationToken cancellation)
    {
        await turn.WaitAsync(cancellation);
        try
        {
            long now = time.GetTimestamp();
            if (_endsAt > now)
            {
                return time.GetElapsedTime(now, _endsAt);
            }

            End();
            return null;
        }
        finally
        {
            turn.Release();
        }
    }

    /// <summary>Ends the blinking.</summary>
    /// <param name="cancellation">Ends the wait for the turn.</param>
    /// <exception cref="OperationCanceledException">The wait was cancelled; the light still blinks.</exception>
    public async Task StopAsync(CancellationToken cancellation)
    {
        await turn.WaitAsync(cancellation);
        try
        {
            End();
        }
        finally
        {
            turn.Release();
        }
    }

    private void End()
    {
        var ended = _blinking;
        _blinking = null;
        ended?.Dispose();
    }
}
