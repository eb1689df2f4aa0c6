namespace Rookery.Cluster;

/// <summary>
/// How far this node has applied the log, and how far it may apply. Readable from any thread without the lock.
/// </summary>
/// <remarks>
/// <see cref="SetApplicableThrough"/> and <see cref="BlockAt"/> are called under the lock of <see cref="RaftHost"/>.
/// <see cref="SetAppliedThrough"/> and <see cref="Install"/> are called by the thread that holds the apply turn.
/// </remarks>
internal sealed class ApplyProgress(long applied)
{
    private long _applied = applied;
    private long _through = applied;
    private IOException? _damage;

    /// <summary>The highest index that the tables contain.</summary>
    public long Applied => Volatile.Read(ref _applied);

    /// <summary>The highest index that may be applied.</summary>
    public long ApplicableThrough => Volatile.Read(ref _through);

    /// <summary>The damage that prevents the next entry from being applied; null for none.</summary>
    public IOException? Damage => Volatile.Read(ref _damage);

    /// <summary>
    /// Whether applying is blocked by data that cannot be read, until another member's state replaces it.
    /// </summary>
    public bool IsBlocked => Damage is not null;

    /// <summary>Whether an entry can be applied now.</summary>
    public bool HasNext => !IsBlocked && ApplicableThrough > Applied;

    /// <summary>Sets the highest index that may be applied.</summary>
    public void SetApplicableThrough(long index) => Volatile.Write(ref _through, index);

    /// <summary>Sets the highest index that the tables contain.</summary>
    public void SetAppliedThrough(long index) => Volatile.Write(ref _applied, index);

    /// <summary>Blocks applying, because the next entry needs data that cannot be read.</summary>
    public void BlockAt(IOException damage) => Volatile.Write(ref _damage, damage);

    /// <summary>Records that another member's state replaced the tables, and unblocks applying.</summary>
    /// <returns>Whether applying was blocked before.</returns>
    public bool Install(long index)
    {
        SetAppliedThrough(index);
        return Interlocked.Exchange(ref _damage, null) is not null;
    }
}
