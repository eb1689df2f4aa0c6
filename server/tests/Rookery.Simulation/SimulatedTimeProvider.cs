namespace Rookery.Simulation;

/// <summary>
/// A clock that moves only by <see cref="Advance"/>, which fires the due timers in order, on the caller's thread.
/// </summary>
public sealed class SimulatedTimeProvider : TimeProvider
{
    private readonly Lock _gate = new();
    private readonly List<SimulatedTimer> _timers = [];
    private DateTimeOffset _origin;
    private TimeSpan _elapsed;

    /// <summary>A clock that starts at <paramref name="start"/>, or at the beginning of 2026, UTC.</summary>
    public SimulatedTimeProvider(DateTimeOffset? start = null) =>
        _origin = (start ?? new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero)).ToUniversalTime();

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

    /// <summary>Called before each reading of the time, by the thread that reads it; null for nothing.</summary>
    public Action? BeforeRead { get; set; }

    /// <summary>The number of armed timers.</summary>
    public int ActiveTimers
    {
        get
        {
            lock (_gate)
            {
                return _timers.Count;
            }
        }
    }

    public override DateTimeOffset GetUtcNow()
    {
        lock (_gate)
        {
            return _origin + _elapsed;
        }
    }

    public override long GetTimestamp()
    {
        BeforeRead?.Invoke();
        lock (_gate)
        {
            return _elapsed.Ticks;
        }
    }

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new SimulatedTimer(this, () => callback(state));
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>
    /// Moves time on by <paramref name="step"/> and fires the timers that become due, each at its own time.
    /// </summary>
    public void Advance(TimeSpan step)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(step, TimeSpan.Zero);
        var end = new TimeSpan(GetTimestamp()) + step;
        while (TakeNextDue(end) is { } timer)
        {
            timer.Callback();
        }

        lock (_gate)
        {
            _elapsed = end > _elapsed ? end : _elapsed;
        }
    }

    /// <summary>
    /// Sets the wall clock, forwards or backwards, as NTP does at boot. Timers and timestamps do not change.
    /// </summary>
    public void SetUtcNow(DateTimeOffset time)
    {
        lock (_gate)
        {
            _origin = time.ToUniversalTime() - _elapsed;
        }
    }

    /// <summary>
    /// Moves time on to the next firing through <paramref name="end"/>, and returns its timer; null if none is due.
    /// </summary>
    private SimulatedTimer? TakeNextDue(TimeSpan end)
    {
        lock (_gate)
        {
            var timer = _timers.MinBy(candidate => candidate.Due);
            if (timer is null || timer.Due > end)
            {
                return null;
            }

            _elapsed = timer.Due > _elapsed ? timer.Due : _elapsed;
            if (timer.Period > TimeSpan.Zero)
            {
                timer.Due += timer.Period;
            }
            else
            {
                _timers.Remove(timer);
            }

            return timer;
        }
    }

    private sealed class SimulatedTimer(SimulatedTimeProvider clock, Action callback) : ITimer
    {
        internal Action Callback => callback;

        internal TimeSpan Due { get; set; }

        internal TimeSpan Period { get; private set; }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (clock._gate)
            {
                clock._timers.Remove(this);
                if (dueTime != Timeout.InfiniteTimeSpan)
                {
                    Due = clock._elapsed + dueTime;
                    Period = period;
                    clock._timers.Add(this);
                }

                return true;
            }
        }

        public void Dispose()
        {
            lock (clock._gate)
            {
                clock._timers.Remove(this);
            }
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
