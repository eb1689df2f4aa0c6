namespace Rookery.Platform;

/// <summary>
/// Bounds the memory of the process. Each large consumer (memtable, block cache, buffers) reserves memory through its
/// own share. Thread-safe; reservations and releases take no locks and allocate nothing.
/// </summary>
public sealed class MemoryBudget
{
    private readonly Lock _sharesLock = new();
    private readonly MemoryShare? _source;
    private MemoryShare[] _shares = [];
    private long _usedBytes;
    private long _managedBytes;

    /// <summary>Makes a budget of <paramref name="totalBytes"/> bytes.</summary>
    public MemoryBudget(long totalBytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(totalBytes);
        TotalBytes = totalBytes;
        ManagedLimitBytes = totalBytes / 16 * 5; // the heap may commit 5/8 of the budget
    }

    /// <summary>
    /// Makes a budget within another budget: bytes that its shares reserve are also reserved from
    /// <paramref name="source"/>, and its caches yield with it. Used for a store that is closed before the process ends
    /// and needs its own shares.
    /// </summary>
    /// <param name="totalBytes">The bound, in bytes.</param>
    /// <param name="source">A share of the outer budget.</param>
    public MemoryBudget(long totalBytes, MemoryShare source)
        : this(totalBytes)
    {
        _source = source;
        source.AddNested(this);
    }

    /// <summary>The bound, in bytes.</summary>
    public long TotalBytes { get; }

    /// <summary>
    /// The bound of the shares whose memory is on the managed heap, together, in bytes: half of what the heap may
    /// commit. Without this bound, a sort, an index build, the index cache and the connections together filled the
    /// heap, and the process ended.
    /// </summary>
    public long ManagedLimitBytes { get; }

    /// <summary>The bytes that shares hold on the managed heap now.</summary>
    public long ManagedBytes => Volatile.Read(ref _managedBytes);

    /// <summary>
    /// The bytes that all shares hold now; above <see cref="TotalBytes"/> only through
    /// <see cref="MemoryShare.Reserve"/>.
    /// </summary>
    public long UsedBytes => Volatile.Read(ref _usedBytes);

    /// <summary>All shares, in the order of creation.</summary>
    public IReadOnlyList<MemoryShare> Shares => Volatile.Read(ref _shares);

    /// <summary>
    /// Adds a share of up to <paramref name="limitBytes"/>. The limits may sum to more than the total. The shares that
    /// reserve first then get the memory.
    /// </summary>
    /// <param name="name">The purpose, as metrics name it ("block cache").</param>
    /// <param name="limitBytes">The bound of the share, in bytes.</param>
    /// <param name="assuredBytes">See <see cref="MemoryShare.AssuredBytes"/>.</param>
    /// <param name="isManaged">Whether the memory is on the managed heap: see <see cref="ManagedLimitBytes"/>.</param>
    public MemoryShare AddShare(string name, long limitBytes, long assuredBytes = 0, bool isManaged = false)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(limitBytes);
        var share = new MemoryShare(this, name, limitBytes, isManaged) { AssuredBytes = assuredBytes };
        lock (_sharesLock)
        {
            Volatile.Write(ref _shares, [.. _shares, share]);
        }

        return share;
    }

    /// <summary>
    /// Makes caches release memory until <paramref name="bytes"/> are free, or until every cache has released all that
    /// it can do without. Do not call it under the lock of a cache.
    /// </summary>
    /// <param name="bytes">The bytes that are needed.</param>
    /// <param name="isManaged">Whether they are needed on the managed heap.</param>
    public void Relieve(long bytes, bool isManaged = false)
    {
        foreach (var share in Volatile.Read(ref _shares))
        {
            long missing = UsedBytes + bytes - TotalBytes;
            if (isManaged && share.IsManaged)
            {
                missing = Math.Max(missing, ManagedBytes + bytes - ManagedLimitBytes);
            }

            if (missing > 0)
            {
                share.Yield(missing);
            }
        }
    }

    /// <summary>
    /// Makes caches release memory until <paramref name="bytes"/> are free. If they have too little for that, none
    /// yields.
    /// </summary>
    /// <returns>Whether the bytes are free now, unless another thread takes them.</returns>
    internal bool TryMakeRoom(long bytes, bool isManaged)
    {
        if (!CanYieldEnoughFor(bytes, isManaged))
        {
            return false;
        }

        Relieve(bytes, isManaged);
        return true;
    }

    private bool CanYieldEnoughFor(long bytes, bool isManaged)
    {
        long missing = UsedBytes + bytes - TotalBytes;
        long missingManaged = isManaged ? ManagedBytes + bytes - ManagedLimitBytes : 0;
        foreach (var share in Volatile.Read(ref _shares))
        {
            if (missing <= 0 && missingManaged <= 0)
            {
                break;
            }

            long yieldable = share.YieldableBytes;
            missing -= yieldable;
            missingManaged -= share.IsManaged ? yieldable : 0;
        }

        return missing <= 0 && missingManaged <= 0;
    }

    // All bounds are checked before bytes are added. Bytes that are added and then subtracted again would make attempts
    // of other threads fail meanwhile. This still happens, for a moment, if another thread takes the room between check
    // and addition.
    internal bool TryAdd(long bytes, bool isManaged)
    {
        if (!HasRoom(bytes, isManaged))
        {
            return false;
        }

        if (isManaged && !TryAdd(ref _managedBytes, bytes, ManagedLimitBytes))
        {
            return false;
        }

        if (TryAdd(ref _usedBytes, bytes, TotalBytes))
        {
            if (_source is null || _source.TryReserve(bytes))
            {
                return true;
            }

            Interlocked.Add(ref _usedBytes, -bytes);
        }

        if (isManaged)
        {
            Interlocked.Add(ref _managedBytes, -bytes);
        }

        return false;
    }

    internal long YieldableBytes => Volatile.Read(ref _shares).Sum(static share => share.YieldableBytes);

    /// <summary>Makes the shares yield about <paramref name="bytes"/> bytes; returns how many were released.</summary>
    internal long Yield(long bytes)
    {
        long before = UsedBytes;
        foreach (var share in Volatile.Read(ref _shares))
        {
            long missing = bytes - (before - UsedBytes);
            if (missing > 0)
            {
                share.Yield(missing);
            }
        }

        return before - UsedBytes;
    }

    internal bool HasRoom(long bytes, bool isManaged) =>
        (!isManaged || bytes <= ManagedLimitBytes - ManagedBytes)
        && bytes <= TotalBytes - UsedBytes
        && (_source is null || _source.HasRoom(bytes));

    internal void Add(long bytes, bool isManaged)
    {
        if (isManaged)
        {
            Interlocked.Add(ref _managedBytes, bytes);
        }

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
    /// Adds bytes unless the sum would exceed the limit. A refused attempt changes nothing, not even for a moment.
    /// </summary>
    internal static bool TryAdd(ref long used, long bytes, long limit)
    {
        long current = Volatile.Read(ref used);
        while (bytes <= limit - current)
        {
            long before = Interlocked.CompareExchange(ref used, current + bytes, current);
            if (before == current)
            {
                return true;
            }

            current = before;
        }

        return false;
    }
}

/// <summary>The part of one consumer in a <see cref="MemoryBudget"/>. Thread-safe.</summary>
/// <remarks>
/// Three methods reserve. <see cref="TryReserve"/> refuses when a bound would be exceeded.
/// <see cref="TryReserveFromCaches"/> makes caches yield before it refuses. <see cref="Reserve"/> never refuses.
/// </remarks>
public sealed class MemoryShare
{
    /// <summary>
    /// Bytes that one request, script or loaded document may hold without a reservation, because accounting for so few
    /// bytes would cost too much.
    /// </summary>
    public const int BytesWithoutReservation = 64 << 10;

    private readonly MemoryBudget _budget;
    private long _usedBytes;
    private WeakReference<MemoryBudget>[] _nested = [];
    private Func<long>? _yieldableBytes;
    private Action<long>? _yield;

    internal MemoryShare(MemoryBudget budget, string name, long limitBytes, bool isManaged)
    {
        _budget = budget;
        IsManaged = isManaged;
        Name = name;
        LimitBytes = limitBytes;
    }

    /// <summary>The purpose, as metrics name it.</summary>
    public string Name { get; }

    /// <summary>The bound, in bytes.</summary>
    public long LimitBytes { get; }

    /// <summary>
    /// Bytes that the share grants even if other shares hold the whole budget. The budget may be exceeded by this
    /// amount.
    /// </summary>
    public long AssuredBytes { get; init; }

    /// <summary>Whether the memory is on the managed heap.</summary>
    public bool IsManaged { get; }

    /// <summary>The bytes held now.</summary>
    public long UsedBytes => Volatile.Read(ref _usedBytes);

    /// <summary>Bytes that the holder, and the budgets within the share, can do without.</summary>
    public long YieldableBytes =>
        (_yieldableBytes?.Invoke() ?? 0) + NestedBudgets.Sum(static budget => budget.YieldableBytes);

    // Weak, because a store that is closed drops its budget without reporting it.
    private IEnumerable<MemoryBudget> NestedBudgets
    {
        get
        {
            foreach (var reference in Volatile.Read(ref _nested))
            {
                if (reference.TryGetTarget(out var budget))
                {
                    yield return budget;
                }
            }
        }
    }

    /// <summary>Lets the share yield memory that other holders need. Both functions are called on any thread.</summary>
    /// <param name="yieldableBytes">Returns the bytes that the holder can do without.</param>
    /// <param name="yield">Releases about so many bytes, but no more than the holder can do without.</param>
    public void AllowYielding(Func<long> yieldableBytes, Action<long> yield) =>
        (_yieldableBytes, _yield) = (yieldableBytes, yield);

    /// <summary>Makes the holder and the nested budgets release about <paramref name="bytes"/> bytes.</summary>
    internal void Yield(long bytes)
    {
        _yield?.Invoke(bytes);
        foreach (var budget in NestedBudgets)
        {
            if (bytes > 0)
            {
                bytes -= budget.Yield(bytes);
            }
        }
    }

    internal void AddNested(MemoryBudget budget)
    {
        var added = new WeakReference<MemoryBudget>(budget);
        WeakReference<MemoryBudget>[] current;
        do
        {
            current = Volatile.Read(ref _nested);
        } while (
            Interlocked.CompareExchange(
                ref _nested,
                [.. current.Where(static reference => reference.TryGetTarget(out _)), added],
                current
            ) != current
        );
    }

    /// <summary>
    /// Reserves like <see cref="TryReserve"/>; if the budget is full, caches yield memory first. Do not call it under
    /// the lock of a cache.
    /// </summary>
    public bool TryReserveFromCaches(long bytes) => TryReserve(bytes) || (TryMakeRoom(bytes) && TryReserve(bytes));

    /// <summary>
    /// Makes caches yield until the share can reserve <paramref name="bytes"/>. If they have too little for that, none
    /// yields. Do not call it under the lock of a cache.
    /// </summary>
    /// <returns>Whether the bytes are free now, unless another thread takes them.</returns>
    public bool TryMakeRoom(long bytes) => bytes <= LimitBytes - UsedBytes && _budget.TryMakeRoom(bytes, IsManaged);

    /// <summary>
    /// Makes caches release memory until the budget is no longer exceeded, or until every cache has released all that
    /// it can do without. Do not call it under the lock of a cache.
    /// </summary>
    public void RelieveExcess() => _budget.Relieve(bytes: 0, IsManaged);

    /// <summary>
    /// Reserves <paramref name="bytes"/>, if neither the share nor, beyond <see cref="AssuredBytes"/>, the budget would
    /// exceed its bound.
    /// </summary>
    /// <returns>False when a bound would be exceeded. Nothing is reserved then, and the caller must release memory,
    /// wait or refuse.</returns>
    public bool TryReserve(long bytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(bytes);
        long current = Volatile.Read(ref _usedBytes);
        while (bytes <= LimitBytes - current)
        {
            if (current + bytes > AssuredBytes)
            {
                return TryReserveFromBudget(bytes);
            }

            long before = Interlocked.CompareExchange(ref _usedBytes, current + bytes, current);
            if (before == current)
            {
                _budget.Add(bytes, IsManaged);
                return true;
            }

            current = before;
        }

        return false;
    }

    /// <summary>
    /// Returns whether a reservation was refused because of other holders: this holder would stay within the bound, and
    /// holds no more than <see cref="AssuredBytes"/>.
    /// </summary>
    /// <param name="ownBytes">Bytes that the holder has reserved.</param>
    /// <param name="bytes">Bytes that were refused.</param>
    public bool IsTakenByOthers(long ownBytes, long bytes) =>
        ownBytes + bytes <= LimitBytes && ownBytes <= AssuredBytes;

    /// <summary>
    /// Reserves <paramref name="bytes"/> even beyond the bound. For memory that is already allocated, or that is needed
    /// to apply an acknowledged write.
    /// </summary>
    public void Reserve(long bytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(bytes);
        Interlocked.Add(ref _usedBytes, bytes);
        _budget.Add(bytes, IsManaged);
    }

    /// <summary>Releases <paramref name="bytes"/>.</summary>
    public void Release(long bytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(bytes);
        Invariant.Holds(
            Interlocked.Add(ref _usedBytes, -bytes) >= 0,
            "a share releases no more memory than it reserved"
        );
        _budget.Add(-bytes, IsManaged);
    }

    internal bool HasRoom(long bytes)
    {
        long used = UsedBytes;
        return bytes <= LimitBytes - used && (used + bytes <= AssuredBytes || _budget.HasRoom(bytes, IsManaged));
    }

    // Reserves from the budget first, then from the share. Otherwise a large reservation that the budget refuses could
    // make a small one fail that is within the assured bytes.
    private bool TryReserveFromBudget(long bytes)
    {
        if (!_budget.TryAdd(bytes, IsManaged))
        {
            return false;
        }

        if (MemoryBudget.TryAdd(ref _usedBytes, bytes, LimitBytes))
        {
            return true;
        }

        _budget.Add(-bytes, IsManaged);
        return false;
    }
}
