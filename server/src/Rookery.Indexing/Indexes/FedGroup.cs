using Rookery.Documents.Changes;
using Rookery.Documents.Schedules;
using Rookery.Documents.Stored;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Indexes;

/// <summary>Passes documents and deletions to the indexes that a step feeds. Not thread-safe.</summary>
/// <param name="indexes">The indexes.</param>
/// <param name="historyId">The history id of the database.</param>
internal sealed class FedGroup(List<RunningIndex> indexes, byte[] historyId)
{
    /// <summary>Whether some index reads the values of counters.</summary>
    public bool ReadsCounters => indexes.Exists(static index => index.Map.ReadsCounters);

    /// <summary>Feeds a document to the indexes of its collection.</summary>
    /// <param name="view">The document.</param>
    /// <param name="etag">Its etag.</param>
    /// <param name="onlyCounters">Whether only its counters changed: then only indexes that read counters need
    /// it.</param>
    public void Feed(in DocumentView view, long etag, bool onlyCounters = false)
    {
        Span<byte> id = stackalloc byte[LowerNames.RoomBytes];
        Span<byte> collection = stackalloc byte[LowerNames.RoomBytes];
        var document = new QueriedDocument(view, etag, historyId);
        var lowerId = LowerNames.Id(view.Id, id);
        var lowerCollection = LowerNames.Collection(view.Collection, collection);
        bool isArchived = ScheduledTimes.IsArchived(view.Metadata);
        foreach (var index in indexes)
        {
            if (!index.Concerns(lowerCollection) || (onlyCounters && !index.Map.ReadsCounters))
            {
                continue;
            }

            if (isArchived)
            {
                index.Remove(lowerId);
            }
            else
            {
                index.Feed(lowerId, document);
            }
        }
    }

    /// <summary>Records that a document changed, so that documents which loaded it are fed again.</summary>
    public void MarkDependents(in DocumentView changed)
    {
        Span<byte> id = stackalloc byte[LowerNames.RoomBytes];
        Span<byte> collection = stackalloc byte[LowerNames.RoomBytes];
        var lowerId = LowerNames.Id(changed.Id, id);
        var lowerCollection = LowerNames.Collection(changed.Collection, collection);
        foreach (var index in indexes)
        {
            index.MarkDependents(lowerCollection, lowerId);
        }
    }

    /// <summary>Removes a deleted document.</summary>
    public void Remove(Tombstone tombstone)
    {
        Span<byte> id = stackalloc byte[LowerNames.RoomBytes];
        var lowerId = LowerNames.Id(tombstone.Id, id);
        byte[] lowerCollection = LowerNames.Collection(tombstone.Collection);
        foreach (var index in indexes)
        {
            index.MarkDependents(lowerCollection, lowerId);

            // If the document moved to another collection, the document itself follows as a change with the same etag.
            if (index.Concerns(lowerCollection))
            {
                index.Remove(lowerId);
            }
        }
    }
}
