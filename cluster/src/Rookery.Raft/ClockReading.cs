namespace Rookery.Raft;

/// <summary>A clock's time, and what it is worth.</summary>
/// <param name="UtcTicks">UTC, in 100 ns since year 1; 0 when nothing is known.</param>
/// <param name="IsSure">Of a member's own clock: it is synchronised with a source of time. Of the cluster's: nothing
/// speaks against it.</param>
public readonly record struct ClockReading(long UtcTicks, bool IsSure);

/// <summary>The time of an entry.</summary>
/// <param name="Ticks">UTC ticks, later than that of the entry before.</param>
/// <param name="IsSteady">Whether no more lies between the time of the entry before and this one than passed. Else what
/// is older may be younger than it seems, and must not be forgotten for its age.</param>
public readonly record struct LogTime(long Ticks, bool IsSteady);

/// <summary>What a leader makes of the voters' clocks.</summary>
public enum ClockVerdict
{
    /// <summary>Clocks of a majority are not known yet.</summary>
    Unknown,

    /// <summary>The cluster goes by them.</summary>
    Taken,

    /// <summary>
    /// They agree on a time that is a jump, and no majority of them is synchronised: the cluster goes on by the
    /// monotonic time of its leader.
    /// </summary>
    Doubted,

    /// <summary>No majority of them agrees on any time: likewise.</summary>
    Differ,
}

/// <summary>What became of <see cref="Input.ConfirmClock"/>.</summary>
public enum ClockAnswer
{
    /// <summary>Nothing was asked.</summary>
    None,

    /// <summary>The cluster goes by the voters' clocks from here.</summary>
    Confirmed,

    /// <summary>Ask the leader.</summary>
    NotLeader,

    /// <summary>
    /// No majority of the voters' clocks is within a minute of their median: there is no time to confirm.
    /// </summary>
    ClocksDiffer,
}
