namespace Rookery.Board;

/// <summary>
/// Reads a board every ten seconds, keeps the last reading and what it saw before, and tells whoever paces work by it.
/// Any thread may ask.
/// </summary>
public sealed class BoardWatch : IDisposable
{
    /// <summary>How often the board is read: a processor that is at 70 °C takes longer to reach 80.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    // Under-voltage and throttling come and go within seconds; leadership and log lines must not.
    private static readonly TimeSpan ConditionHeld = TimeSpan.FromMinutes(5);

    private readonly IBoard _board;
    private readonly TimeProvider _time;
    private readonly Lock _access = new();
    private readonly ITimer _timer;
    private BoardReading _last;
    private BoardCondition _condition;
    private Throttling _seen;
    private long _conditionSeenAt;
    private int _isReading;

    /// <summary>Reads once, and then every <see cref="Interval"/>.</summary>
    public BoardWatch(IBoard board, TimeProvider time)
    {
        _board = board;
        _time = time;
        Look();
        _timer = time.CreateTimer(static watch => ((BoardWatch)watch!).Look(), this, Interval, Interval);
    }

    /// <summary>What is watched.</summary>
    public IBoard Board => _board;

    /// <summary>The last reading; what held before includes what was seen since the watch began.</summary>
    public BoardReading Reading
    {
        get
        {
            lock (_access)
            {
                return _last with { Before = _seen };
            }
        }
    }

    /// <summary>The worst of the last five minutes.</summary>
    public BoardCondition Condition
    {
        get
        {
            lock (_access)
            {
                return _condition;
            }
        }
    }

    /// <summary>What is wrong, in a sentence; null when nothing is. A simulated board says that it is one.</summary>
    public string? Trouble
    {
        get
        {
            lock (_access)
            {
                return BoardPolicy.Describe(_condition, _last) is not { } sentence ? null
                    : _board.IsSimulated ? $"(Simulated board.) {sentence}"
                    : sentence;
            }
        }
    }

    /// <summary>Told after each reading, on the timer's thread; must return at once.</summary>
    public Action<BoardWatch>? Sampled { get; set; }

    /// <summary>Ends the readings and closes the board.</summary>
    public void Dispose()
    {
        _timer.Dispose();
        if (Interlocked.Exchange(ref _isReading, 1) == 0)
        {
            _board.Dispose();
        }
    }

    private void Look()
    {
        // A reading that hangs in a driver is not joined by others, and one that is over cannot begin again after the
        // end.
        if (Interlocked.Exchange(ref _isReading, 1) != 0)
        {
            return;
        }

        var reading = _board.Read();
        var found = BoardPolicy.ConditionOf(reading);
        long now = _time.GetTimestamp();
        lock (_access)
        {
            _last = reading;
            _seen |= reading.Now | reading.Before;
            if (found >= _condition || _time.GetElapsedTime(_conditionSeenAt, now) >= ConditionHeld)
            {
                _condition = found;
                _conditionSeenAt = now;
            }
        }

        Sampled?.Invoke(this);
        Volatile.Write(ref _isReading, 0);
    }
}
