namespace Rookery.Disk;

/// <summary>How much of a file system must stay free: so much, and so large a part of it, whichever is more (design: space runs out gently).</summary>
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

    /// <summary>Whether writes that grow the data may go on. Deletes, expiration and compaction may in any case.</summary>
    public bool GrowthAllowed => FreeBytes >= NeededBytes;
}

/// <summary>
/// Says whether the disk has room for writes that grow the data. Asking is cheap enough for every request: the file system itself is asked once in a while.
/// Growth stops below the reserve and goes on only above it by a sixteenth, so that the answer does not flicker. Thread-safe.
/// </summary>
public sealed class SpaceReserve
{
    private const int ResumeFraction = 16;

    private readonly IDisk disk;
    private readonly string path;
    private readonly ReserveRule rule;
    private readonly Func<long>? reusableBytes;
    private readonly TimeProvider time;
    private readonly long intervalTicks;
    private readonly Lock access = new();
    private ReserveState state;
    private long nextLook;
    private bool isLow;

    /// <summary>A reserve on the file system that holds <paramref name="path"/>; looks at once.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="path">An existing directory.</param>
    /// <param name="rule">How much to keep.</param>
    /// <param name="interval">How old an answer may be.</param>
    /// <param name="time">The clock.</param>
    /// <param name="reusableBytes">Bytes of files that will be written again and so count as free; null for none.</param>
    /// <exception cref="DiskException">The file system does not say.</exception>
    public SpaceReserve(IDisk disk, string path, ReserveRule rule, TimeSpan interval, TimeProvider time, Func<long>? reusableBytes = null)
    {
        this.disk = disk;
        this.path = path;
        this.rule = rule;
        this.reusableBytes = reusableBytes;
        this.time = time;
        intervalTicks = (long)(interval.TotalSeconds * time.TimestampFrequency);
        nextLook = time.GetTimestamp() + intervalTicks;
        Take(disk.SpaceOf(path));
    }

    /// <summary>What is free and what is needed, at most one interval old; older only while the file system does not say, for then writes fail by themselves.</summary>
    public ReserveState State
    {
        get
        {
            // Of many threads that find the answer old, one looks: statvfs takes a microsecond or, on a sick card, long.
            long now = time.GetTimestamp();
            long due = Volatile.Read(ref nextLook);
            if (now >= due && Interlocked.CompareExchange(ref nextLook, now + intervalTicks, due) == due)
            {
                Look();
            }

            lock (access)
            {
                return state;
            }
        }
    }

    /// <summary>Looks now: after a deletion, or when a write met ENOSPC.</summary>
    public void Look()
    {
        try
        {
            Take(disk.SpaceOf(path));
        }
        catch (DiskException)
        {
            // A disk that cannot even be asked fails the next write, and that failure is reported by name; the last answer stays until then.
        }
    }

    private void Take(in DiskSpace space)
    {
        long reserve = rule.BytesOf(space.TotalBytes);
        long free = space.FreeBytes + (reusableBytes?.Invoke() ?? 0);
        lock (access)
        {
            long needed = isLow ? reserve + (reserve / ResumeFraction) : reserve;
            isLow = free < needed;
            state = new ReserveState(free, isLow ? reserve + (reserve / ResumeFraction) : reserve) { TotalBytes = space.TotalBytes };
        }
    }
}
