namespace Rookery.Terminal;

/// <summary>Estimates the rate of work over the last 15 seconds, and the remaining time at that rate.</summary>
/// <param name="time">The clock.</param>
internal sealed class ProgressEstimate(TimeProvider time)
{
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(15);

    // Samples are taken at most this often.
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(250);

    // A longer remaining time, about four months, is no estimate.
    private const double MaxSecondsLeft = 1e7;

    private readonly Queue<(long At, double Done)> _past = [];
    private (long At, double Done) _last = (time.GetTimestamp(), 0);

    /// <summary>The amount done, in any unit.</summary>
    public double Done { get; private set; }

    /// <summary>The total amount, in the same unit; null if unknown.</summary>
    public double? Total { get; set; }

    /// <summary>The share that is done, 0 to 1; null if the total is unknown.</summary>
    public double? Share
    {
        get
        {
            if (Total is not { } total)
            {
                return null;
            }

            if (total <= 0)
            {
                return 1;
            }

            return Math.Clamp(Done / total, 0, 1);
        }
    }

    /// <summary>The rate per second, over the last 15 seconds.</summary>
    public double PerSecond
    {
        get
        {
            var (startedAt, doneThen) = _past.TryPeek(out var oldest) ? oldest : _last;
            double seconds = time.GetElapsedTime(startedAt).TotalSeconds;
            return seconds <= 0 ? 0 : (Done - doneThen) / seconds;
        }
    }

    /// <summary>The remaining time; null if it cannot be estimated.</summary>
    public TimeSpan? Left
    {
        get
        {
            double rate = PerSecond;
            if (Total is not { } total || rate <= 0)
            {
                return null;
            }

            double seconds = (total - Done) / rate;
            return seconds < MaxSecondsLeft ? TimeSpan.FromSeconds(Math.Max(0, seconds)) : null;
        }
    }

    /// <summary>Starts at an amount that was done earlier. It does not count for the rate.</summary>
    public void BeginAt(double done)
    {
        Done = done;
        _past.Clear();
        _last = (time.GetTimestamp(), done);
    }

    /// <summary>Reports the amount done so far.</summary>
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
