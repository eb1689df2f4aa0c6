namespace Rookery.Indexing.Indexes;

/// <summary>How far an index is.</summary>
/// <param name="Done">Documents and deletions that it has taken since it began to catch up.</param>
/// <param name="Total">Those and, as far as it can be told, those that it still has to look at.</param>
/// <param name="PerSecond">How many it took a second lately.</param>
/// <param name="TimeLeft">How long the rest takes at that rate; null while that cannot be told, zero when nothing is
/// left.</param>
public readonly record struct IndexProgress(long Done, long Total, double PerSecond, TimeSpan? TimeLeft);

/// <summary>Measures how fast an index catches up. One thread writes, any reads.</summary>
internal sealed class ProgressMeter(TimeProvider time)
{
    // What is older counts less and less: after so long a third of it.
    private static readonly TimeSpan Memory = TimeSpan.FromSeconds(10);

    private long _done;
    private double _perSecond;
    private long _measuredAt;
    private long _doneThen;

    /// <summary>Begins anew: nothing is done.</summary>
    public void Begin()
    {
        Volatile.Write(ref _done, 0);
        Volatile.Write(ref _perSecond, 0);
        (_measuredAt, _doneThen) = (time.GetTimestamp(), 0);
    }

    /// <summary>So many more are done.</summary>
    public void Add(long count) => Volatile.Write(ref _done, _done + count);

    /// <summary>Looks at the clock, once a batch.</summary>
    public void Measure()
    {
        double seconds = time.GetElapsedTime(_measuredAt).TotalSeconds;
        if (seconds > 0)
        {
            double weight = 1 - Math.Exp(-seconds / Memory.TotalSeconds);
            double now = (_done - _doneThen) / seconds;
            Volatile.Write(ref _perSecond, _perSecond == 0 ? now : _perSecond + (weight * (now - _perSecond)));
            (_measuredAt, _doneThen) = (time.GetTimestamp(), _done);
        }
    }

    /// <summary>How far it is, when so many are left.</summary>
    public IndexProgress Read(long left)
    {
        long done = Volatile.Read(ref _done);
        double perSecond = Volatile.Read(ref _perSecond);
        TimeSpan? timeLeft =
            left == 0 ? TimeSpan.Zero
            : perSecond > 0 ? TimeSpan.FromSeconds(Math.Min(left / perSecond, TimeSpan.FromDays(365).TotalSeconds))
            : null;
        return new IndexProgress(done, done + left, perSecond, timeLeft);
    }
}
