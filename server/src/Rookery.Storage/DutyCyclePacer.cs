namespace Rookery.Storage;

/// <summary>
/// Lets background work have a share of one core's time: after each piece it rests in proportion to what the piece
/// took. What writers wait for is never held up. The share may be changed at any time. At 0 work is paused: no merge
/// and no scrub begins. What runs already, or what others asked for, goes on at a twentieth, because writers, or a
/// member that fell behind, may come to wait for its end.
/// </summary>
public sealed class DutyCyclePacer : IBackgroundPacer, IDisposable
{
    /// <summary>What background work may take where the temperature of the board is unknown.</summary>
    public const double ShareWithoutSensor = 0.25;

    private const double LeastShare = 0.05;

    private static readonly TimeSpan LongestRest = TimeSpan.FromSeconds(2);

    private readonly TimeProvider _time;

    // Without a spin before it sleeps: rests are a millisecond long, and an eighth of the time of a resting build of an
    // index was spent on yielding.
    private readonly ManualResetEventSlim _ended = new(initialState: false, spinCount: 0);
    private double _share = ShareWithoutSensor;
    private long _restedAt;

    /// <summary>A pacer at a quarter of a core.</summary>
    public DutyCyclePacer(TimeProvider time)
    {
        _time = time;
        _restedAt = time.GetTimestamp();
    }

    /// <summary>The share of one core, 0 to 1.</summary>
    public double Share
    {
        get => Volatile.Read(ref _share);
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, 1);
            Volatile.Write(ref _share, value);
        }
    }

    /// <summary>Whether nothing is to be started that writers do not wait for.</summary>
    public bool IsPaused => Share <= 0;

    /// <inheritdoc/>
    public void Yield(long bytes, bool urgent)
    {
        if (!urgent)
        {
            _ended.Wait(RestAfter(_time.GetElapsedTime(_restedAt)));
        }

        _restedAt = _time.GetTimestamp();
    }

    /// <summary>How long work rests after a piece that took so long.</summary>
    internal TimeSpan RestAfter(TimeSpan piece)
    {
        var rest = piece * ((1 / Math.Max(Share, LeastShare)) - 1);
        return rest < LongestRest ? rest : LongestRest;
    }

    /// <summary>Ends all rests.</summary>
    public void Dispose() => _ended.Set();
}
