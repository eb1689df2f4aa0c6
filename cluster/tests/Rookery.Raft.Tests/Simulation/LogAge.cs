namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// The times of the entries that were applied: they rise, run ahead of no clock that is right, and nothing seems older
/// than it is.
/// </summary>
/// <param name="LastTicks">The last one.</param>
/// <param name="LeastAheadTicks">By how much the time ran ahead of the true one, least, since it was last said not to
/// be steady.</param>
internal readonly record struct LogAge(long LastTicks, long LeastAheadTicks)
{
    // Unsynchronised clocks are at most five minutes off where they are not off by years; a majority of such may take
    // the time from one end to the other.
    private const long MostAheadTicks = 6 * TimeSpan.TicksPerMinute;
    private const long MostGainTicks = 25 * TimeSpan.TicksPerMinute;

    public LogAge Next(in StoredEntry entry)
    {
        if (entry.Time.Ticks == 0)
        {
            return this;
        }

        Assert.True(entry.Time.Ticks > LastTicks, "log time never falls");
        long ahead = entry.Time.Ticks - entry.StampedTicks;
        Assert.True(
            ahead <= MostAheadTicks,
            $"log time is poisoned: {new DateTime(entry.Time.Ticks):O} at entry {entry.Entry.Index}"
        );
        Assert.True(
            !entry.Time.IsSteady || ahead <= LeastAheadTicks + MostGainTicks,
            $"what is young seems old: at entry {entry.Entry.Index} "
                + $"{TimeSpan.FromTicks(ahead - LeastAheadTicks)} were gained"
        );
        return new LogAge(entry.Time.Ticks, entry.Time.IsSteady ? Math.Min(LeastAheadTicks, ahead) : ahead);
    }
}
