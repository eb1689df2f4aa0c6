namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// Checks the log times of applied entries: they rise, they are never ahead of a correct clock, and no entry appears
/// older than it is.
/// </summary>
/// <param name="LastTicks">The last log time.</param>
/// <param name="LeastAheadTicks">The smallest difference between log time and true time since the log time was last not
/// steady.</param>
internal readonly record struct LogAge(long LastTicks, long LeastAheadTicks)
{
    // Unsynchronised clocks that are not off by years are at most five minutes off. A majority of such clocks may move
    // the time from one end of that range to the other.
    private const long MaxAheadTicks = 6 * TimeSpan.TicksPerMinute;
    private const long MaxGainTicks = 25 * TimeSpan.TicksPerMinute;

    /// <summary>Checks the log time of the next entry.</summary>
    public LogAge Next(in StoredEntry entry)
    {
        if (entry.Time.Ticks == 0)
        {
            return this;
        }

        Assert.True(entry.Time.Ticks > LastTicks, "log time never falls");
        long ahead = entry.Time.Ticks - entry.StampedTicks;
        Assert.True(
            ahead <= MaxAheadTicks,
            $"log time is ahead of every correct clock: {new DateTime(entry.Time.Ticks):O} at entry {entry.Entry.Index}"
        );
        Assert.True(
            !entry.Time.IsSteady || ahead <= LeastAheadTicks + MaxGainTicks,
            $"an entry seems older than it is: at entry {entry.Entry.Index} "
                + $"{TimeSpan.FromTicks(ahead - LeastAheadTicks)} were gained"
        );
        return new LogAge(entry.Time.Ticks, entry.Time.IsSteady ? Math.Min(LeastAheadTicks, ahead) : ahead);
    }
}
