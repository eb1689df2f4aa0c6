namespace Rookery.Documents.Consensus;

/// <summary>What time it is for a cluster.</summary>
/// <param name="UtcTicks">UTC ticks; 0 when it is not known.</param>
/// <param name="IsSure">Whether nothing speaks against it. While it is in doubt, nothing may expire.</param>
public readonly record struct ClusterTime(long UtcTicks, bool IsSure)
{
    /// <summary>Why nothing can be made that ends while the time is in doubt, and what to do.</summary>
    public const string NoEnds =
        "The cluster's time is in doubt, so nobody could say when it ends. Connect the members to a source of "
        + "time; or see with `rookery status` that their clocks are right, and run `rookery cluster clock "
        + "confirm`.";

    /// <summary>The time, in doubt or not; null when it is not known.</summary>
    public DateTimeOffset? Known => UtcTicks > 0 ? new DateTimeOffset(UtcTicks, TimeSpan.Zero) : null;

    /// <summary>Whether a time is over. Nothing is while it is in doubt what time it is.</summary>
    public bool IsPast(DateTimeOffset end) => IsSure && UtcTicks >= end.UtcTicks;
}
