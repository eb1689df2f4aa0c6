namespace Rookery.Raft;

/// <summary>A reading of a clock and its quality.</summary>
/// <param name="UtcTicks">UTC in ticks of 100 ns since year 1; 0 when the time is unknown.</param>
/// <param name="IsSure">Whether a member's clock is synchronised with a time source. For the cluster's time, whether it
/// is not in doubt.</param>
public readonly record struct ClockReading(long UtcTicks, bool IsSure);

/// <summary>The log time of an entry.</summary>
/// <param name="Ticks">UTC ticks, greater than the log time of the preceding entry.</param>
/// <param name="IsSteady">Whether at least as much real time passed as the difference to the preceding log time shows.
/// If false, the clock may have jumped ahead, so nothing may be deleted for its age.</param>
public readonly record struct LogTime(long Ticks, bool IsSteady);

/// <summary>A leader's judgement of the voters' clocks.</summary>
public enum ClockVerdict
{
    /// <summary>The clocks of a majority are not known yet.</summary>
    Unknown,

    /// <summary>The cluster's time follows the voters' clocks.</summary>
    Taken,

    /// <summary>
    /// The clocks agree on a time more than <see cref="ClusterClock.JumpTicks"/> away, and no majority of them is
    /// synchronised. The cluster's time advances by the leader's monotonic time.
    /// </summary>
    Doubted,

    /// <summary>
    /// No majority of the clocks agrees on a time. The cluster's time advances by the leader's monotonic time.
    /// </summary>
    Differ,
}

/// <summary>The answer to <see cref="Input.ConfirmClock"/>.</summary>
public enum ClockAnswer
{
    /// <summary>The step's input was not <see cref="Input.ConfirmClock"/>.</summary>
    None,

    /// <summary>The cluster's time is now the median of the voters' clocks.</summary>
    Confirmed,

    /// <summary>This node is not the leader, or does not know the log's last time yet.</summary>
    NotLeader,

    /// <summary>
    /// No majority of the voters' clocks is within a minute of their median, so there is no time to confirm.
    /// </summary>
    ClocksDiffer,
}
