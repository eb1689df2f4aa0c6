using Rookery.Documents.Databases;
using Rookery.Documents.Stored;
using Rookery.Indexing.Mapping;
using Rookery.Storage;

namespace Rookery.Indexing.Indexes;

/// <summary>The paused and disabled indexes of a database, which <see cref="IndexFeeder"/> does not feed.</summary>
internal static class StoppedIndexes
{
    /// <summary>
    /// Advances stopped indexes over operations that changed no document. The operation that disables an index is such
    /// an operation: without this, a complete index would be reported as stale for as long as it is disabled.
    /// </summary>
    public static void AdvanceOverOperationsWithoutDocuments(Database database, IReadOnlyList<RunningIndex> indexes)
    {
        long last = database.LastEtag;
        foreach (var index in indexes)
        {
            long position = index.Position;
            if (
                position is 0
                || (position >= last && index.IsConsistent)
                || position == index.LacksChangesAfter
                || index.State is not (IndexState.Paused or IndexState.Disabled)
                || index.IsResetRequested
                || index.HasDependents
                || index.MayBeAhead
            )
            {
                continue;
            }

            if (FindPassedEtag(database, position, index.Map.ReadsCounters) is { } passed)
            {
                index.AdvanceTo(passed, documentsRead: 0, isConsistent: true);
            }
            else
            {
                index.LacksChangesAfter = position;
            }
        }
    }

    /// <summary>
    /// Returns the last etag if no document, and for an index over counters no counter, changed after a position; null
    /// if a document or counter changed, or if the changes cannot be read.
    /// </summary>
    private static long? FindPassedEtag(Database database, long position, bool readsCounters)
    {
        try
        {
            using var reader = database.OpenReader();
            using var changes = reader.SeekChanges(position, readsCounters);
            bool hasChange = reader.ReadStatistics().TombstoneHorizon > position || changes.MoveNext();
            return hasChange ? null : changes.Sequence;
        }
        catch (Exception unreadable) when (unreadable is DamagedException or StoredDocumentException)
        {
            return null;
        }
    }
}
