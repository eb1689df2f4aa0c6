namespace Rookery.Indexing.Indexes;

/// <summary>How far an index has caught up.</summary>
/// <param name="Done">Documents and tombstones read for the index since it was opened.</param>
/// <param name="Total"><paramref name="Done"/> plus the estimated number of documents and tombstones still to
/// read.</param>
/// <param name="PerSecond">Recent rate of documents a second.</param>
/// <param name="TimeLeft">Estimated time for the remaining documents; null while the rate is unknown, zero if nothing
/// is left.</param>
public readonly record struct IndexProgress(long Done, long Total, double PerSecond, TimeSpan? TimeLeft);

/// <summary>Measures how fast an index catches up. One thread writes, any thread reads.</summary>
internal sealed class ProgressMeter(TimeProvider time)
{
    // Time constant of the exponential average: after this time, an old rate has a weight of about a third.
    private static readonly TimeSpan Memory = TimeSpan.FromSeconds(10);

    private long _documentsDone;
    private double _perSecond;
    private long _measuredAt;
    private long _doneAtMeasure;

    /// <summary>Starts over at zero.</summary>
    public void Begin()
    {
        Volatile.Write(ref _documentsDone, 0);
        Volatile.Write(ref _perSecond, 0);
        (_measuredAt, _doneAtMeasure) = (time.GetTimestamp(), 0);
    }

    /// <summary>Adds a number of indexed documents.</summary>
    public void Add(long count) => Volatile.Write(ref _documentsDone, _documentsDone + count);

    /// <summary>Updates the rate. Called once for each batch.</summary>
    public void Measure()
    {
        double seconds = time.GetElapsedTime(_measuredAt).TotalSeconds;
        if (seconds > 0)
        {
            double weight = 1 - Math.Exp(-seconds / Memory.TotalSeconds);
            double currentRate = (_documentsDone - _doneAtMeasure) / seconds;
            Volatile.Write(
                ref _perSecond,
                _perSecond == 0 ? currentRate : _perSecond + (weight * (currentRate - _perSecond))
            );
            (_measuredAt, _doneAtMeasure) = (time.GetTimestamp(), _documentsDone);
        }
    }

    /// <summary>Returns the progress, given the number of documents left.</summary>
    public IndexProgress Read(long documentsLeft)
    {
        long done = Volatile.Read(ref _documentsDone);
        double perSecond = Volatile.Read(ref _perSecond);
        TimeSpan? timeLeft =
            documentsLeft == 0 ? TimeSpan.Zero
            : perSecond > 0
                ? TimeSpan.FromSeconds(Math.Min(documentsLeft / perSecond, TimeSpan.FromDays(365).TotalSeconds))
            : null;
        return new IndexProgress(done, done + documentsLeft, perSecond, timeLeft);
    }
}
