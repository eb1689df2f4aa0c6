namespace Rookery.Server.Tests.Raven;

/// <summary>The machine's clock, except that each reading of a timestamp takes as long as a test says.</summary>
internal sealed class SteppingTime : TimeProvider
{
    private readonly long _start = System.GetTimestamp();
    private long _stepped;

    /// <summary>How long each reading of a timestamp takes, in addition to the machine's time.</summary>
    public TimeSpan Step { get; set; }

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() =>
        System.GetElapsedTime(_start).Ticks + Interlocked.Add(ref _stepped, Step.Ticks);
}
