namespace Rookery.Terminal;

/// <summary>How fast work goes, by its last seconds, and how long the rest will take at that pace.</summary>
/// <param name="time">The clock.</param>
internal sealed class ProgressEstimate(TimeProvider time)
{
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(15);

    // More often, the clock is not asked again.
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(250);

    private readonly Queue<(long At, double Done)> _past = [];
    private (long At, double Done) _last = (time.GetTimestamp(), 0);

    /// <summary>How much is done, in any unit.</summary>
    public double Done { get; private set; }

    /// <summary>How much there is to do, in the same; null when nobody knows.</summary>
    public double? Total { get; set; }

    /// <summary>From 0 to 1; null when nobody knows the whole.</summary>
    public double? Share =>
        Total is not { } total ? null
        : total <= 0 ? 1
        : Math.Clamp(Done / total, 0, 1);

    /// <summary>How much a second, of the last seconds.</summary>
    public double PerSecond
    {
        get
        {
            var (at, done) = _past.TryPeek(out var oldest) ? oldest : _last;
            double seconds = time.GetElapsedTime(at).TotalSeconds;
            return seconds <= 0 ? 0 : (Done - done) / seconds;
        }
    }

    /// <summary>How long it will take yet; null when nobody can tell.</summary>
    public TimeSpan? Left =>
        Total is { } total && PerSecond is > 0 and var pace && (total - Done) / pace is < 1e7 and var seconds
            ? TimeSpan.FromSeconds(Math.Max(0, seconds))
            : null;

    /// <summary>Begins behind what was done earlier, which tells nothing of the pace.</summary>
    public void BeginAt(double done)
    {
        Done = done;
        _past.Clear();
        _last = (time.GetTimestamp(), done);
    }

    /// <summary>Says how much is done by now.</summary>
    public void Report(double done)
    {
        Done = done;
        if (_past.Count == 0)
        {
            _past.Enqueue(_last);
        }

        if (time.GetElapsedTime(_last.At) < Step)
        {
            return;
        }

        _last = (time.GetTimestamp(), done);
        _past.Enqueue(_last);
        while (_past.Count > 2 && time.GetElapsedTime(_past.Peek().At) > Window)
        {
            _past.Dequeue();
        }
    }
}
