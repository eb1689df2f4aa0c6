namespace Rookery.Cluster.Tests.Simulation;

/// <summary>The clock of a member: the wall clock is its own, what passes is the same for all.</summary>
internal sealed class SkewedTime(TimeProvider shared) : TimeProvider
{
    /// <summary>How far the wall clock is ahead of the others'.</summary>
    public TimeSpan Ahead { get; set; }

    /// <summary>Whether the machine believes that it follows a source of time.</summary>
    public bool IsSynchronised { get; set; } = true;

    /// <summary>Sets the wall clock as a card without one has it after a start.</summary>
    public void Lose(int year) =>
        (Ahead, IsSynchronised) = (new DateTimeOffset(year, 1, 1, 0, 0, 0, TimeSpan.Zero) - shared.GetUtcNow(), false);

    public override long TimestampFrequency => shared.TimestampFrequency;

    public override DateTimeOffset GetUtcNow() => shared.GetUtcNow() + Ahead;

    public override long GetTimestamp() => shared.GetTimestamp();

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        shared.CreateTimer(callback, state, dueTime, period);
}
