namespace Rookery.Cluster;

/// <summary>
/// How far the log is applied here, and how far it may be. Readable from any thread without the lock.
/// </summary>
/// <remarks>
/// <see cref="MayApplyThrough"/> and <see cref="BlockAt"/> are called under the lock of <see cref="RaftHost"/>;
/// <see cref="AppliedThrough"/> and <see cref="Install"/> by the thread that applies, or keeps others from it.
/// </remarks>
internal sealed class ApplyProgress(long applied)
{
    private long _applied = applied;
    private long _through = applied;
    private IOException? _damage;

    /// <summary>Entries through here are in the tables.</summary>
    public long Applied => Volatile.Read(ref _applied);

    /// <summary>Entries through here may be applied.</summary>
    public long Through => Volatile.Read(ref _through);

    /// <summary>What cannot be read here that the next entry needs; null when nothing is known to be missing.</summary>
    public IOException? Damage => Volatile.Read(ref _damage);

    /// <summary>Whether what is committed needs what this node cannot read, and another member has to help.</summary>
    public bool IsBlocked => Damage is not null;

    /// <summary>Whether there is an entry to apply that can be.</summary>
    public bool HasNext => !IsBlocked && Through > Applied;

    /// <summary>The core says how far may be applied.</summary>
    public void MayApplyThrough(long index) => Volatile.Write(ref _through, index);

    /// <summary>Entries through an index are in the tables.</summary>
    public void AppliedThrough(long index) => Volatile.Write(ref _applied, index);

    /// <summary>The next entry needs what cannot be read here.</summary>
    public void BlockAt(IOException damage) => Volatile.Write(ref _damage, damage);

    /// <summary>A state took the tables' place.</summary>
    /// <returns>Whether the tables were blocked before.</returns>
    public bool Install(long index)
    {
        AppliedThrough(index);
        return Interlocked.Exchange(ref _damage, null) is not null;
    }
}
