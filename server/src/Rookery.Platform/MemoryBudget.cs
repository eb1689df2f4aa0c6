namespace Rookery.Platform;

/// <summary>
/// The one number that bounds the memory of the process. Whoever holds memory in bulk (memtable, block cache, buffers)
/// draws on it through a share of its own. Thread-safe; neither locks nor allocates after the shares are made.
/// </summary>
public sealed class MemoryBudget
{
    private readonly Lock _sharesLock = new();
    private readonly MemoryShare? _source;
    private MemoryShare[] _shares = [];
    private long _usedBytes;

    /// <summary>A budget of <paramref name="totalBytes"/> bytes.</summary>
    public MemoryBudget(long totalBytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(totalBytes);
        TotalBytes = totalBytes;
    }

    /// <summary>
    /// A budget within another: what its shares hold is held by a share of that one too, so that a store which comes
    /// and goes has shares of its own.
    /// </summary>
    /// <param name="totalBytes">Its bytes.</param>
    /// <param name="source">The share of the other.</param>
    public MemoryBudget(long totalBytes, MemoryShare source)
        : this(totalBytes) => _source = source;

    /// <summary>The bound, in bytes.</summary>
    public long TotalBytes { get; }

    /// <summary>
    /// What all shares hold now, in bytes; above <see cref="TotalBytes"/> only by what was taken with
    /// <see cref="MemoryShare.Reserve"/>.
    /// </summary>
    public long UsedBytes => Volatile.Read(ref _usedBytes);

    /// <summary>All shares, in the order in which they were made.</summary>
    public IReadOnlyList<MemoryShare> Shares => Volatile.Read(ref _shares);

    /// <summary>
    /// Makes a share that may hold up to <paramref name="limitBytes"/>. Limits may sum to more than the total: then
    /// first come, first served.
    /// </summary>
    /// <param name="name">What it is for, as metrics name it ("block cache").</param>
    /// <param name="limitBytes">Its own bound, in bytes.</param>
    public MemoryShare AddShare(string name, long limitBytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(limitBytes);
        var share = new MemoryShare(this, name, limitBytes);
        lock (_sharesLock)
        {
            Volatile.Write(ref _shares, [.. _shares, share]);
        }

        return share;
    }

    internal bool TryAdd(long bytes)
    {
        if (!TryAdd(ref _usedBytes, bytes, TotalBytes))
        {
            return false;
        }

        if (_source is null || _source.TryReserve(bytes))
        {
            return true;
        }

        Interlocked.Add(ref _usedBytes, -bytes);
        return false;
    }

    internal void Add(long bytes)
    {
        Interlocked.Add(ref _usedBytes, bytes);
        if (bytes >= 0)
        {
            _source?.Reserve(bytes);
        }
        else
        {
            _source?.Release(-bytes);
        }
    }

    /// <summary>
    /// Adds unless the sum would pass the limit. A refused attempt is never visible to others, so it cannot make theirs
    /// fail.
    /// </summary>
    internal static bool TryAdd(ref long used, long bytes, long limit)
    {
        long seen = Volatile.Read(ref used);
        while (bytes <= limit - seen)
        {
            long before = Interlocked.CompareExchange(ref used, seen + bytes, seen);
            if (before == seen)
            {
                return true;
            }

            seen = before;
        }

        return false;
    }
}

/// <summary>One consumer's part of a <see cref="MemoryBudget"/>. Thread-safe.</summary>
public sealed class MemoryShare
{
    private readonly MemoryBudget _budget;
    private long _usedBytes;

    internal MemoryShare(MemoryBudget budget, string name, long limitBytes)
    {
        _budget = budget;
        Name = name;
        LimitBytes = limitBytes;
    }

    /// <summary>What it is for.</summary>
    public string Name { get; }

    /// <summary>What it may hold at most, in bytes.</summary>
    public long LimitBytes { get; }

    /// <summary>What it holds now, in bytes.</summary>
    public long UsedBytes => Volatile.Read(ref _usedBytes);

    /// <summary>Takes <paramref name="bytes"/> if neither this share nor the budget would go over its bound.</summary>
    /// <returns>False when one would: nothing was taken, and the caller gives something back, waits or
    /// refuses.</returns>
    public bool TryReserve(long bytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(bytes);
        if (!MemoryBudget.TryAdd(ref _usedBytes, bytes, LimitBytes))
        {
            return false;
        }

        if (_budget.TryAdd(bytes))
        {
            return true;
        }

        Interlocked.Add(ref _usedBytes, -bytes);
        return false;
    }

    /// <summary>
    /// Takes <paramref name="bytes"/> in any case: for memory that is already held, or without which an acknowledged
    /// write could not be applied.
    /// </summary>
    public void Reserve(long bytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(bytes);
        Interlocked.Add(ref _usedBytes, bytes);
        _budget.Add(bytes);
    }

    /// <summary>Gives <paramref name="bytes"/> back.</summary>
    public void Release(long bytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(bytes);
        Invariant.Holds(Interlocked.Add(ref _usedBytes, -bytes) >= 0, "a share gives back no more memory than it took");
        _budget.Add(-bytes);
    }
}
