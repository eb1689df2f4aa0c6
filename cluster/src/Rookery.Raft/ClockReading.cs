namespace Rookery.Raft;

/// <summary>A reading of a clock and its quality.</summary>
/// <param name="UtcTicks">UTC in ticks of 100 ns since year 1; 0 when the time is unknown.</param>
/// <param name="IsSure">For a member's clock: whether it is synchronised with a time source. For the cluster's time:
/// false while that time is in doubt.</param>
public readonly record struct ClockReading(long UtcTicks, bool IsSure);

/// <summary>The log time of an entry.</summary>
/// <param name="Ticks">UTC ticks, greater than the log time of the preceding entry.</param>
/// <param name="IsSteady">Whether the difference to the preceding log time is at most the real time that passed. If
/// false, the clock may have jumped ahead, so nothing may be deleted for its age.</param>
public readonly record struct LogTime(long Ticks, bool IsSteady);

/// <summary>A leader's judgement of the voters' clocks.</summary>
public enum ClockVerdict
{
    /// <summary>The clocks of a majority are not known yet.</summary>
    Unknown,

    /// <summary>The cluster's time follows the voters' clocks.</summary>
    Taken,

    /// <summary>
    /// The clocks agree on a time more than <see cref="ClusterClock.JumpTicks"/> from the cluster's time, and no
    /// majority of them is synchronised. The cluster's time advances by the leader's monotonic time.
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
