using Rookery.Documents.Databases;
using Rookery.Indexing.Indexes;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>
/// The state of an index that one answer searches, in one or several searches. Holds it open until disposed.
/// </summary>
internal sealed class OpenedIndex : IDisposable
{
    private readonly IndexSnapshot _snapshot;

    private OpenedIndex(RunningIndex index, IndexSnapshot snapshot, PublishedIndex published)
    {
        (Index, _snapshot) = (index, snapshot);
        (Etag, LastIndexed) = (published.Etag, published.LastIndexed);
    }

    /// <summary>The index.</summary>
    public RunningIndex Index { get; }

    /// <summary>The state includes the changes of documents through this etag.</summary>
    public long Etag { get; }

    /// <summary>When the state was written; null if it was written before the node started.</summary>
    public DateTimeOffset? LastIndexed { get; }

    /// <summary>Opens the state of an index.</summary>
    /// <param name="index">The index.</param>
    /// <param name="database">The database of the index.</param>
    /// <param name="readsValues">Whether the answer may read compare-exchange values. If so, a snapshot that holds an
    /// expired value is not used, because values expire without a change of the database.</param>
    /// <param name="documents">The snapshot of the documents that the state reflects. If that snapshot cannot be used,
    /// the newest snapshot, provided that no document changed since and that the state does not include only a part of
    /// a transaction. Otherwise null. The caller disposes the snapshot.</param>
    /// <param name="missedEtag">If <paramref name="documents"/> is null, the etag that the index must include before
    /// the next try.</param>
    /// <exception cref="ObjectDisposedException">The index was closed.</exception>
    /// <exception cref="DatabaseGoneException">The database was deleted or replaced.</exception>
    public static OpenedIndex Open(
        RunningIndex index,
        Database database,
        bool readsValues,
        out DatabaseReader? documents,
        out long missedEtag
    )
    {
        var snapshot = index.OpenSnapshot(out var published, out documents);
        missedEtag = published.Etag;
        try
        {
            if (readsValues && documents is { } held && HasExpiredValue(held))
            {
                documents = null;
                held.Dispose();
            }

            if (documents is null && !published.IsPartial)
            {
                documents = NewestIfUnchangedSince(published.Etag, database, out missedEtag);
            }
        }
        catch
        {
            documents?.Dispose();
            snapshot.Dispose();
            throw;
        }

        return new OpenedIndex(index, snapshot, published);
    }

    /// <summary>Opens the state of an index for an answer that reads the newest documents, or none.</summary>
    /// <exception cref="ObjectDisposedException">The index was closed.</exception>
    public static OpenedIndex OpenAlone(RunningIndex index)
    {
        var snapshot = index.OpenSnapshot(out var published);
        return new OpenedIndex(index, snapshot, published);
    }

    /// <summary>Returns another snapshot of the state, which the caller disposes.</summary>
    public IndexSnapshot Share() => _snapshot.Share();

    /// <inheritdoc/>
    public void Dispose() => _snapshot.Dispose();

    // A snapshot's time of expiry comes from the log. Entries of other databases advance that time, too.
    private static bool HasExpiredValue(in DatabaseReader held)
    {
        using var newest = held.Database.OpenReader();
        return held.HasDueCompareExchange(newest.ReadExpiryTicks());
    }

    // An index that includes the changes through an etag also reflects the newest snapshot if no document changed after
    // that etag.
    private static DatabaseReader? NewestIfUnchangedSince(long etag, Database database, out long lastDocumentEtag)
    {
        lastDocumentEtag = etag;
        var newest = database.OpenReader();
        try
        {
            // If no operation followed, as on an idle node, the statistics of the database need not be read.
            if (newest.Sequence <= etag || (lastDocumentEtag = newest.ReadStatistics().LastDocumentEtag) <= etag)
            {
                return newest;
            }
        }
        catch
        {
            newest.Dispose();
            throw;
        }

        newest.Dispose();
        return null;
    }
}
