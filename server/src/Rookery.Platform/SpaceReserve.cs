namespace Rookery.Platform;

/// <summary>
/// How much of a file system must stay free: so much, and so large a part of it, whichever is more (design: space runs
/// out gently).
/// </summary>
/// <param name="Bytes">At least these bytes.</param>
/// <param name="Fraction">At least this part of the whole, 0 to 1.</param>
public readonly record struct ReserveRule(long Bytes, double Fraction)
{
    /// <summary>256 MiB or 5 %.</summary>
    public static ReserveRule Default { get; } = new(256L << 20, 0.05);

    /// <summary>The bytes to keep free on a file system of <paramref name="totalBytes"/>.</summary>
    public long BytesOf(long totalBytes) => Math.Max(Bytes, (long)(totalBytes * Fraction));
}

/// <summary>What a <see cref="SpaceReserve"/> found.</summary>
/// <param name="FreeBytes">Free now, what will be used again included.</param>
/// <param name="NeededBytes">Free bytes below which writes that grow the data are refused.</param>
public readonly record struct ReserveState(long FreeBytes, long NeededBytes)
{
    /// <summary>The size of the file system; 0 when it is not known.</summary>
    public long TotalBytes { get; init; }

    /// <summary>
    /// Whether writes that grow the data may go on. Deletes, expiration and compaction may in any case.
    /// </summary>
    public bool GrowthAllowed => FreeBytes >= NeededBytes;
}

/// <summary>
/// Says whether the disk has room for writes that grow the data. Asking is cheap enough for every request: the file
/// system itself is asked once in a while. Growth stops below the reserve and goes on only above it by a sixteenth, so
/// that the answer does not flicker. Thread-safe.
/// </summary>
public sealed class SpaceReserve
{
    private const int ResumeFraction = 16;

    private readonly IDisk _disk;
    private readonly string _path;
    private readonly ReserveRule _rule;
    private readonly Func<long>? _reusableBytes;
    private readonly TimeProvider _time;
    private readonly long _intervalTicks;
    private readonly Lock _access = new();
    private ReserveState _state;
    private long _nextLook;
    private bool _isLow;

    /// <summary>A reserve on the file system that holds <paramref name="path"/>; looks at once.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="path">An existing directory.</param>
    /// <param name="rule">How much to keep.</param>
    /// <param name="interval">How old an answer may be.</param>
    /// <param name="time">The clock.</param>
    /// <param name="reusableBytes">Bytes of files that will be written again and so count as free; null for
    /// none.</param>
    /// <exception cref="DiskException">The file system does not say.</exception>
    public SpaceReserve(
        IDisk disk,
        string path,
        ReserveRule rule,
        TimeSpan interval,
        TimeProvider time,
        Func<long>? reusableBytes = null
    )
    {
        _disk = disk;
        _path = path;
        _rule = rule;
        _reusableBytes = reusableBytes;
        _time = time;
        _intervalTicks = (long)(interval.TotalSeconds * time.TimestampFrequency);
        _nextLook = time.GetTimestamp() + _intervalTicks;
        Take(disk.SpaceOf(path));
    }

    /// <summary>
    /// What is free and what is needed, at most one interval old; older only while the file system does not say, for
    /// then writes fail by themselves.
    /// </summary>
    public ReserveState State
    {
        get
        {
            // Of many threads that find the answer old, one looks: statvfs takes a microsecond or, on a sick card,
            // long.
            long now = _time.GetTimestamp();
            long due = Volatile.Read(ref _nextLook);
            if (now >= due && Interlocked.CompareExchange(ref _nextLook, now + _intervalTicks, due) == due)
            {
                Look();
            }

            lock (_access)
            {
                return _state;
            }
        }
    }

    /// <summary>Looks now: after a deletion, or when a write met ENOSPC.</summary>
    public void Look()
    {
        try
        {
            Take(_disk.SpaceOf(_path));
        }
        catch (DiskException)
        {
            // A disk that cannot even be asked fails the next write, and that failure is reported by name; the last
            // answer stays until then.
        }
    }

    private void Take(in DiskSpace space)
    {
        long reserve = _rule.BytesOf(space.TotalBytes);
        long free = space.FreeBytes + (_reusableBytes?.Invoke() ?? 0);
        lock (_access)
        {
            long needed = _isLow ? reserve + (reserve / ResumeFraction) : reserve;
            _isLow = free < needed;
            _state = new ReserveState(free, _isLow ? reserve + (reserve / ResumeFraction) : reserve)
            {
                TotalBytes = space.TotalBytes,
            };
        }
    }
}
