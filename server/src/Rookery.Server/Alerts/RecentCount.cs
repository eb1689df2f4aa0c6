namespace Rookery.Server.Alerts;

/// <summary>
/// Computes how much a counter grew in the last five minutes, as <c>increase(…[5m])</c> of Prometheus. Not thread-safe.
/// </summary>
/// <param name="time">The clock.</param>
internal sealed class RecentCount(TimeProvider time)
{
    private static readonly TimeSpan Window = TimeSpan.FromMinutes(5);

    private readonly Queue<(long At, long Total)> _readings = new();
    private long _before; // the last total before the window; 0 at the start of the process, as the counter

    /// <summary>Adds a reading and returns the growth. Call it as often as alerts are judged.</summary>
    /// <param name="total">The counter's present value.</param>
    public long Add(long total)
    {
        while (_readings.TryPeek(out var oldest) && time.GetElapsedTime(oldest.At) >= Window)
        {
            _before = _readings.Dequeue().Total;
        }

        _readings.Enqueue((time.GetTimestamp(), total));
        return total - _before;
    }
}
