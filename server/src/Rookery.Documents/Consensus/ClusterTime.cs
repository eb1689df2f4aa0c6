namespace Rookery.Documents.Consensus;

/// <summary>The cluster's time.</summary>
/// <param name="UtcTicks">UTC ticks; 0 if the time is not known.</param>
/// <param name="IsSure">Whether the time is trusted. While it is not, nothing expires.</param>
public readonly record struct ClusterTime(long UtcTicks, bool IsSure)
{
    /// <summary>Message that refuses to create anything that expires, while the time is not trusted.</summary>
    public const string TimeInDoubtMessage =
        "The cluster's time is in doubt, so nothing with an expiry can be created. Connect the members to a source of "
        + "time; or see with `rookery status` that their clocks are right, and run `rookery cluster clock "
        + "confirm`.";

    /// <summary>The time, trusted or not; null if it is not known.</summary>
    public DateTimeOffset? Known => UtcTicks > 0 ? new DateTimeOffset(UtcTicks, TimeSpan.Zero) : null;

    /// <summary>
    /// Returns whether the time has passed <paramref name="end"/>; false while the time is not trusted.
    /// </summary>
    public bool IsPast(DateTimeOffset end) => IsSure && UtcTicks >= end.UtcTicks;
}
