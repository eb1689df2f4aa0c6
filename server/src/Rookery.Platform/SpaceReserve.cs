namespace Rookery.Platform;

/// <summary>
/// The space of a file system that must stay free: the larger of a number of bytes and a fraction of its size.
/// </summary>
/// <param name="Bytes">The minimum number of free bytes.</param>
/// <param name="Fraction">The minimum free fraction, from 0 to 1.</param>
public readonly record struct ReserveRule(long Bytes, double Fraction)
{
    /// <summary>256 MiB or 5 %.</summary>
    public static ReserveRule Default { get; } = new(256L << 20, Fraction: 0.05);

    /// <summary>Returns the bytes to keep free on a file system of <paramref name="totalBytes"/>.</summary>
    public long BytesOf(long totalBytes) => Math.Max(Bytes, (long)(totalBytes * Fraction));
}

/// <summary>The free space that a <see cref="SpaceReserve"/> found.</summary>
/// <param name="FreeBytes">Free bytes, including bytes of files that will be reused.</param>
/// <param name="NeededBytes">Writes that grow the data are refused when fewer bytes are free.</param>
public readonly record struct ReserveState(long FreeBytes, long NeededBytes)
{
    /// <summary>The size of the file system; 0 when unknown.</summary>
    public long TotalBytes { get; init; }

    /// <summary>
    /// Whether writes that grow the data are allowed. Deletes, expiration and merges of runs always are.
    /// </summary>
    public bool AllowsGrowth => FreeBytes >= NeededBytes;
}

/// <summary>
/// Determines whether the disk has room for writes that grow the data. Cheap enough for every request, because the file
/// system is queried only once in each interval. Growth stops below the reserve and resumes a sixteenth of the reserve
/// above it, so that the result does not alternate. Thread-safe.
/// </summary>
public sealed class SpaceReserve
{
    private const int ResumeDivisor = 16;

    private readonly IDisk _disk;
    private readonly string _path;
    private readonly ReserveRule _rule;
    private readonly Func<long>? _reusableBytes;
    private readonly TimeProvider _time;
    private readonly long _intervalTicks;
    private readonly Lock _gate = new();
    private ReserveState _state;
    private long _nextQuery; // timestamp
    private bool _isLow;

    /// <summary>Makes a reserve on the file system of <paramref name="path"/>, and queries it at once.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="path">An existing directory.</param>
    /// <param name="rule">The space to keep free.</param>
    /// <param name="interval">The longest time between queries.</param>
    /// <param name="time">The clock.</param>
    /// <param name="reusableBytes">Returns the bytes of files that will be reused and therefore count as free; null for
    /// none.</param>
    /// <exception cref="DiskException">The free space cannot be queried.</exception>
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
        _nextQuery = time.GetTimestamp() + _intervalTicks;
        Update(disk.SpaceOf(path));
    }

    /// <summary>
    /// The free space, at most one interval old. Older only while the query fails; then writes fail as well.
    /// </summary>
    public ReserveState State
    {
        get
        {
            // When the state is old, only one thread queries, because statvfs may take long on a failing disk.
            long now = _time.GetTimestamp();
            long due = Volatile.Read(ref _nextQuery);
            if (now >= due && Interlocked.CompareExchange(ref _nextQuery, now + _intervalTicks, due) == due)
            {
                QueryNow();
            }

            lock (_gate)
            {
                return _state;
            }
        }
    }

    /// <summary>Queries the file system now, however recent the state is.</summary>
    public void QueryNow()
    {
        try
        {
            Update(_disk.SpaceOf(_path));
        }
        catch (DiskException)
        {
            // A disk that cannot be queried will fail the next write, and that failure is reported. Until then the last
            // state stays.
        }
    }

    private void Update(in DiskSpace space)
    {
        long reserve = _rule.BytesOf(space.TotalBytes);
        long free = space.FreeBytes + (_reusableBytes?.Invoke() ?? 0);
        lock (_gate)
        {
            long reserveToResume = reserve + (reserve / ResumeDivisor);
            _isLow = free < (_isLow ? reserveToResume : reserve);
            _state = new ReserveState(free, _isLow ? reserveToResume : reserve) { TotalBytes = space.TotalBytes };
        }
    }
}
