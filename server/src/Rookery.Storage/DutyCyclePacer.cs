namespace Rookery.Storage;

/// <summary>
/// Limits background work to a share of one core's time. After each piece of work it pauses in proportion to the
/// piece's duration; work that writers wait for never pauses. The share may change at any time. At share 0 no merge or
/// scrub starts. Work that runs already or was requested then continues at a share of 0.05, because writers or a
/// lagging member may need it later.
/// </summary>
public sealed class DutyCyclePacer : IBackgroundPacer, IDisposable
{
    /// <summary>Default share, used on boards without a temperature sensor.</summary>
    public const double ShareWithoutSensor = 0.25;

    private const double MinShare = 0.05;

    private static readonly TimeSpan MaximumPause = TimeSpan.FromSeconds(2);

    private readonly TimeProvider _time;

    // Waits without spinning: a pause is about a millisecond, and spinning used an eighth of the time of a paced index
    // build.
    private readonly ManualResetEventSlim _ended = new(initialState: false, spinCount: 0);
    private double _share = ShareWithoutSensor;
    private long _pieceBegan;
    private bool _isDisposed;

    /// <summary>Creates a pacer with the default share.</summary>
    public DutyCyclePacer(TimeProvider time)
    {
        _time = time;
        _pieceBegan = time.GetTimestamp();
    }

    /// <summary>The share of one core's time, 0 to 1.</summary>
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

    /// <summary>Whether the share is 0: no background work starts, except work that writers wait for.</summary>
    public bool IsPaused => Share <= 0;

    /// <summary>
    /// Begins a piece of work after the working thread was idle, so that its idle time is not taken for work.
    /// </summary>
    public void BeginPiece() => _pieceBegan = _time.GetTimestamp();

    /// <summary>
    /// Ends the pause that is in progress, or the next one, because something now waits for the work. Thread-safe.
    /// </summary>
    public void EndPause() => _ended.Set();

    /// <inheritdoc/>
    public void Yield(long bytes, bool urgent)
    {
        if (!urgent)
        {
            Rest(NextPause());
        }

        BeginPiece();
    }

    /// <summary>Returns the pause that is due after the piece of work in progress.</summary>
    internal TimeSpan NextPause() => RestAfter(_time.GetElapsedTime(_pieceBegan));

    /// <summary>Pauses.</summary>
    /// <returns>Whether the pause was ended early.</returns>
    internal bool Rest(TimeSpan pause)
    {
        bool isEnded = _ended.Wait(pause);
        if (isEnded && !Volatile.Read(ref _isDisposed))
        {
            _ended.Reset();

            // Disposed meanwhile: later pauses must still end at once.
            if (Volatile.Read(ref _isDisposed))
            {
                _ended.Set();
            }
        }

        return isEnded;
    }

    /// <summary>Returns the pause after a piece of work.</summary>
    internal TimeSpan RestAfter(TimeSpan piece)
    {
        var pause = piece * ((1 / Math.Max(Share, MinShare)) - 1);
        return pause < MaximumPause ? pause : MaximumPause;
    }

    /// <summary>Ends all pauses, now and later.</summary>
    public void Dispose()
    {
        Volatile.Write(ref _isDisposed, true);
        _ended.Set();
    }
}
