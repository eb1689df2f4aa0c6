namespace Rookery.Board;

/// <summary>Reads a board every ten seconds, keeps the last reading and what it saw before, and tells whoever paces work by it. Any thread may ask.</summary>
public sealed class BoardWatch : IDisposable
{
    /// <summary>How often the board is read: a processor that is at 70 °C takes longer to reach 80.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    // Under-voltage and throttling come and go within seconds; leadership and log lines must not.
    private static readonly TimeSpan ConditionHeld = TimeSpan.FromMinutes(5);

    private readonly IBoard board;
    private readonly TimeProvider time;
    private readonly Lock access = new();
    private readonly ITimer timer;
    private BoardReading last;
    private BoardCondition condition;
    private Throttling seen;
    private long conditionSeenAt;
    private int isReading;

    /// <summary>Reads once, and then every <see cref="Interval"/>.</summary>
    public BoardWatch(IBoard board, TimeProvider time)
    {
        this.board = board;
        this.time = time;
        Look();
        timer = time.CreateTimer(static watch => ((BoardWatch)watch!).Look(), this, Interval, Interval);
    }

    /// <summary>What is watched.</summary>
    public IBoard Board => board;

    /// <summary>The last reading; what held before includes what was seen since the watch began.</summary>
    public BoardReading Reading
    {
        get
        {
            lock (access)
            {
                return last with { Before = seen };
            }
        }
    }

    /// <summary>The worst of the last five minutes.</summary>
    public BoardCondition Condition
    {
        get
        {
            lock (access)
            {
                return condition;
            }
        }
    }

    /// <summary>What is wrong, in a sentence; null when nothing is. A simulated board says that it is one.</summary>
    public string? Trouble
    {
        get
        {
            lock (access)
            {
                return BoardCare.Describe(condition, last) is not { } sentence ? null : board.IsSimulated ? $"(Simulated board.) {sentence}" : sentence;
            }
        }
    }

    /// <summary>Told after each reading, on the timer's thread; must return at once.</summary>
    public Action<BoardWatch>? Sampled { get; set; }

    /// <summary>Ends the readings and closes the board.</summary>
    public void Dispose()
    {
        timer.Dispose();
        if (Interlocked.Exchange(ref isReading, 1) == 0)
        {
            board.Dispose();
        }
    }

    private void Look()
    {
        // A reading that hangs in a driver is not joined by others, and one that is over cannot begin again after the end.
        if (Interlocked.Exchange(ref isReading, 1) != 0)
        {
            return;
        }

        var reading = board.Read();
        var found = BoardCare.ConditionOf(reading);
        long now = time.GetTimestamp();
        lock (access)
        {
            last = reading;
            seen |= reading.Now | reading.Before;
            if (found >= condition || time.GetElapsedTime(conditionSeenAt, now) >= ConditionHeld)
            {
                condition = found;
                conditionSeenAt = now;
            }
        }

        Sampled?.Invoke(this);
        Volatile.Write(ref isReading, 0);
    }
}
