namespace Rookery.Storage;

/// <summary>
/// Lets background work have a share of one core's time: after each piece it rests in proportion to what the piece took. What writers wait for is never held up.
/// The share may be changed at any time (heat, foreground load).
/// </summary>
public sealed class DutyCyclePacer : IBackgroundPacer, IDisposable
{
    /// <summary>What background work may take where the temperature of the board is unknown.</summary>
    public const double ShareWithoutSensor = 0.25;

    private static readonly TimeSpan LongestRest = TimeSpan.FromSeconds(2);

    private readonly TimeProvider time;
    private readonly ManualResetEventSlim ended = new();
    private double share = ShareWithoutSensor;
    private long restedAt;

    /// <summary>A pacer at a quarter of a core.</summary>
    public DutyCyclePacer(TimeProvider time)
    {
        this.time = time;
        restedAt = time.GetTimestamp();
    }

    /// <summary>The share of one core, above 0, at most 1.</summary>
    public double Share
    {
        get => Volatile.Read(ref share);
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegativeOrZero(value);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, 1);
            Volatile.Write(ref share, value);
        }
    }

    /// <inheritdoc/>
    public void Yield(long bytes, bool urgent)
    {
        if (!urgent)
        {
            TimeSpan rest = time.GetElapsedTime(restedAt) * ((1 / Share) - 1);
            ended.Wait(rest < LongestRest ? rest : LongestRest);
        }

        restedAt = time.GetTimestamp();
    }

    /// <summary>Ends all rests.</summary>
    public void Dispose() => ended.Set();
}
