namespace Rookery.Cluster.Tests.Simulation;

/// <summary>The clock of a member: a wall clock of its own, and the shared monotonic time.</summary>
internal sealed class SkewedTime(TimeProvider shared) : TimeProvider
{
    /// <summary>By how much the wall clock is ahead of the true time.</summary>
    public TimeSpan Ahead { get; set; }

    /// <summary>Whether the machine reports its clock as synchronised.</summary>
    public bool IsSynchronised { get; set; } = true;

    /// <summary>Sets the wall clock to a year, as on a board without a battery-backed clock after a start.</summary>
    public void SetToYear(int year) =>
        (Ahead, IsSynchronised) = (new DateTimeOffset(year, 1, 1, 0, 0, 0, TimeSpan.Zero) - shared.GetUtcNow(), false);

    public override long TimestampFrequency => shared.TimestampFrequency;

    public override DateTimeOffset GetUtcNow() => shared.GetUtcNow() + Ahead;

    public override long GetTimestamp() => shared.GetTimestamp();

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        shared.CreateTimer(callback, state, dueTime, period);
}
