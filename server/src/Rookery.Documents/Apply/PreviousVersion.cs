using Rookery.Documents.Databases;
using Rookery.Documents.Schedules;
using Rookery.Documents.Stored;

namespace Rookery.Documents.Apply;

/// <summary>Removes versions of documents that are replaced or deleted.</summary>
internal static class PreviousVersion
{
    /// <summary>
    /// Removes the previous version from the counters of its collection, the expiry table, the schedules and the
    /// chunks. Its rows by etag and by collection remain: readers skip them as stale, and merges drop them.
    /// </summary>
    /// <param name="context">The command being applied.</param>
    /// <param name="previous">The version.</param>
    /// <param name="newCollection">The collection of the new version, or of the deleted document. If it differs from
    /// that of the version, a tombstone is stored for readers of the old collection.</param>
    /// <param name="key">A buffer for keys.</param>
    public static void Remove(
        ApplyContext context,
        in Document previous,
        CollectionCounters newCollection,
        Span<byte> key
    )
    {
        var view = previous.Head;
        var counters = context.Collection(view.Collection);
        context.Database.RecordChange(counters, counters.TextOf(view.Collection), documents: -1, -previous.Length);
        bool isMove = !ReferenceEquals(counters, newCollection);
        if (isMove)
        {
            PutTombstone(context, view, isMove, key);
        }

        if (view.ExpiresAtTicks != 0)
        {
            context.Batch.Delete(
                Key.WriteNumbers(key, context.Database.Number, Table.Expiry, view.ExpiresAtTicks, previous.Etag),
                context.Etag
            );
        }

        if (context.Database.Configurations.KeepsSchedules)
        {
            ScheduleOperations.Remove(context, view.Metadata, previous.Etag);
        }

        previous.ReleaseLarge(context.Batch, context.Etag);
    }

    /// <summary>Stores a tombstone with the etag of the current operation.</summary>
    /// <param name="context">The command being applied.</param>
    /// <param name="view">The version that is deleted or replaced.</param>
    /// <param name="isMove">Whether the document moves to another collection and still exists.</param>
    /// <param name="key">A buffer for the key.</param>
    public static void PutTombstone(ApplyContext context, in DocumentView view, bool isMove, Span<byte> key)
    {
        Span<byte> value = stackalloc byte[TombstoneValue.MaxBytes];
        context.Database.Counters.Tombstones++;
        context.Batch.Put(
            Key.WriteNumber(key, context.Database.Number, Table.Tombstones, context.Etag),
            context.Etag,
            TombstoneValue.Write(value, view.Id, view.Collection, context.LogTicks, isMove)
        );
    }
}
