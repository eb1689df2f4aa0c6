namespace Rookery.Board;

/// <summary>
/// Reads a board every ten seconds, keeps the last reading and the flags seen so far, and notifies the pacing of
/// background work. Thread-safe.
/// </summary>
public sealed class BoardWatch : IDisposable
{
    /// <summary>The time between readings. A processor at 70 °C takes longer than this to reach 80 °C.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    // Under-voltage and throttling come and go within seconds, so a condition counts for this time. Otherwise each
    // change would move leadership and write a line to the log.
    private static readonly TimeSpan HoldTime = TimeSpan.FromMinutes(5);

    // The values of _phase.
    private const int BetweenReadings = 0;
    private const int InReading = 1;
    private const int Disposed = 2;

    private readonly IBoard _board;
    private readonly TimeProvider _time;
    private readonly Lock _gate = new();
    private readonly ITimer _timer;
    private BoardReading _lastReading;
    private BoardCondition _condition;
    private Throttling _throttlingSeen;
    private long _conditionSeenAt; // timestamp of the last reading with the condition
    private int _phase;

    /// <summary>Reads the board once, and then every <see cref="Interval"/>.</summary>
    public BoardWatch(IBoard board, TimeProvider time)
    {
        _board = board;
        _time = time;
        ReadBoard();
        _timer = time.CreateTimer(static watch => ((BoardWatch)watch!).ReadBoard(), this, Interval, Interval);
    }

    /// <summary>The watched board.</summary>
    public IBoard Board => _board;

    /// <summary>
    /// The last reading; its <see cref="BoardReading.SinceBoot"/> includes all flags seen since the watch began.
    /// </summary>
    public BoardReading Reading
    {
        get
        {
            lock (_gate)
            {
                return _lastReading with { SinceBoot = _throttlingSeen };
            }
        }
    }

    /// <summary>The worst condition of the last five minutes.</summary>
    public BoardCondition Condition
    {
        get
        {
            lock (_gate)
            {
                return _condition;
            }
        }
    }

    /// <summary>
    /// What is wrong, in a sentence; null if nothing is. For a simulated board the sentence begins with "(Simulated
    /// board.)".
    /// </summary>
    public string? Trouble
    {
        get
        {
            lock (_gate)
            {
                if (BoardPolicy.Describe(_condition, _lastReading) is not { } sentence)
                {
                    return null;
                }

                if (_board.IsSimulated)
                {
                    return $"(Simulated board.) {sentence}";
                }

                return sentence;
            }
        }
    }

    /// <summary>Called after each reading, on the timer's thread. Must return at once.</summary>
    public Action<BoardWatch>? Sampled { get; set; }

    /// <summary>Ends the readings and closes the board; a reading in progress closes it when it ends.</summary>
    public void Dispose()
    {
        _timer.Dispose();
        if (Interlocked.Exchange(ref _phase, Disposed) == BetweenReadings)
        {
            _board.Dispose();
        }
    }

    private void ReadBoard()
    {
        // While a reading hangs in a driver, no second one begins; after Dispose none begins at all.
        if (Interlocked.CompareExchange(ref _phase, InReading, BetweenReadings) != BetweenReadings)
        {
            return;
        }

        var reading = _board.Read();
        var newCondition = BoardPolicy.ConditionOf(reading);
        long now = _time.GetTimestamp();
        lock (_gate)
        {
            _lastReading = reading;
            _throttlingSeen |= reading.Now | reading.SinceBoot;
            if (newCondition >= _condition || _time.GetElapsedTime(_conditionSeenAt, now) >= HoldTime)
            {
                _condition = newCondition;
                _conditionSeenAt = now;
            }
        }

        Sampled?.Invoke(this);
        if (Interlocked.CompareExchange(ref _phase, BetweenReadings, InReading) == Disposed)
        {
            _board.Dispose();
        }
    }
}
