using Rookery.Documents.Databases;
using Rookery.Platform;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// The snapshots of the database that <see cref="IndexFeeder"/> reads. A pass of an index reads all changes in one
/// snapshot. So a pass ends, however fast clients write, and at its end the index reflects exactly the snapshot. If the
/// node ends a snapshot early, the pass is interrupted, and continues in a newer snapshot. Indexes that are up to date
/// have no snapshot. Not thread-safe.
/// </summary>
/// <param name="database">The database of the indexes.</param>
internal sealed class PassSnapshots(Database database)
{
    private readonly HashSet<RunningIndex> _renewed = []; // the indexes whose pass moved to a newer snapshot
    private PassSnapshot? _newest;

    /// <summary>Number of indexes that have a snapshot.</summary>
    public int Count { get; private set; }

    /// <summary>
    /// Returns the snapshot in which a group of indexes at one position continues: the newest snapshot of one of these
    /// indexes, or else the newest state of the database. An index may move to a newer snapshot at any time: each
    /// document that changed between the two is after the index's position, so the index will read it. It must not move
    /// to an older one: a document that changed between the two has an older version there, perhaps before the
    /// position, and the index would not read it.
    /// </summary>
    /// <param name="group">The indexes, at least one. If a caller waits for the end of a pass, indexes that were fed
    /// from a newer snapshot are removed: their pass is longer, and the caller need not wait for it.</param>
    /// <param name="mayRenew">Whether the pass may move to a newer snapshot because a caller waits for an etag that the
    /// snapshot lacks. A pass moves once at most, because waiting callers could otherwise prevent its end.</param>
    public PassSnapshot Take(List<RunningIndex> group, bool mayRenew)
    {
        Invariant.Holds(group.Count > 0, "a snapshot is taken for an index, which releases it");
        PassSnapshot? taken = null;
        var awaited = OldestAwaited(group);
        if (awaited is not null)
        {
            group.RemoveAll(index => index.LastRead > awaited.Reader.Sequence);
        }

        long lastRead = 0;
        foreach (var index in group)
        {
            lastRead = Math.Max(lastRead, index.LastRead);
            taken = taken is null || index.Pass?.Reader.Sequence > taken.Reader.Sequence ? index.Pass ?? taken : taken;
        }

        if (taken is null || taken.Reader.Sequence < lastRead)
        {
            taken = Newest(lastRead);
        }
        else if (
            mayRenew
            && awaited is null
            && !group.Exists(_renewed.Contains)
            && group.Exists(index => index.Waits.AwaitedEtag > taken.LastEtag)
        )
        {
            taken = Newest(lastRead);
            _renewed.UnionWith(group);
        }

        Invariant.Holds(taken.Reader.Sequence >= lastRead, "an index does not continue in an older snapshot");

        foreach (var index in group)
        {
            index.RecordRead(taken.Reader.Sequence);
            if (index.Pass != taken)
            {
                taken.Hold();
                ReleaseSnapshot(index);
                index.Pass = taken;
                Count++;
            }
        }

        return taken;
    }

    /// <summary>Ends the pass of an index.</summary>
    /// <returns>Whether the index had a snapshot.</returns>
    public bool Release(RunningIndex index)
    {
        _renewed.Remove(index);
        return ReleaseSnapshot(index);
    }

    private bool ReleaseSnapshot(RunningIndex index)
    {
        if (index.Pass is not { } own)
        {
            return false;
        }

        index.Pass = null;
        own.Release();
        Count--;
        return true;
    }

    // The oldest snapshot among the passes whose end a caller waits for.
    private static PassSnapshot? OldestAwaited(List<RunningIndex> group)
    {
        PassSnapshot? oldest = null;
        foreach (var index in group)
        {
            if (
                index.Pass is { } own
                && index.IsAwaited
                && index.Waits.AwaitedEtag <= own.LastEtag
                && !(own.Reader.Sequence >= oldest?.Reader.Sequence)
            )
            {
                oldest = own;
            }
        }

        return oldest;
    }

    // A log entry is visible to readers shortly before Database.LastEtag includes it. So a snapshot without the entry
    // may seem to be the newest, although an index has already read the entry.
    private PassSnapshot Newest(long lastRead) =>
        _newest is { IsOpen: true, IsEnded: false } newest
        && newest.LastEtag >= database.LastEtag
        && newest.Reader.Sequence >= lastRead
            ? newest
            : _newest = new PassSnapshot(database.OpenBackgroundReader());
}

/// <summary>
/// A snapshot that several indexes read, or hold for queries. It is closed when the last holder has released it. Used
/// by the indexing thread.
/// </summary>
internal sealed class PassSnapshot
{
    private int _holders;

    /// <summary>Takes over a reader, for the indexes that call <see cref="Hold"/>.</summary>
    public PassSnapshot(in DatabaseReader reader)
    {
        try
        {
            var statistics = reader.ReadStatistics();
            (Reader, LastEtag, TombstoneHorizon) = (reader, statistics.LastEtag, statistics.TombstoneHorizon);
        }
        catch
        {
            reader.Dispose();
            throw;
        }
    }

    /// <summary>Reads the snapshot.</summary>
    public DatabaseReader Reader { get; }

    /// <summary>Etag of the last operation on the database in the snapshot.</summary>
    public long LastEtag { get; }

    /// <summary>The etag through which tombstones may be missing in the snapshot.</summary>
    public long TombstoneHorizon { get; }

    /// <summary>Whether the snapshot is held.</summary>
    public bool IsOpen => _holders > 0;

    /// <summary>Whether the node has ended the snapshot.</summary>
    public bool IsEnded => Reader.IsEnded;

    /// <summary>Opens a reader of the snapshot for a client. Thread-safe while the snapshot is held.</summary>
    /// <returns>The reader; null if the snapshot was ended.</returns>
    /// <exception cref="DatabaseGoneException">The database was deleted or replaced.</exception>
    public DatabaseReader? TryShare()
    {
        if (IsEnded)
        {
            return null;
        }

        // If the node has already ended the clients' readers of this state, the new reader is ended, too.
        var shared = Reader.Database.Share(Reader);
        if (!shared.IsEnded)
        {
            return shared;
        }

        shared.Dispose();
        return null;
    }

    /// <summary>Counts one more holder.</summary>
    public void Hold() => _holders++;

    /// <summary>Counts one holder less.</summary>
    public void Release()
    {
        if (--_holders == 0)
        {
            Reader.Dispose();
        }
    }
}
