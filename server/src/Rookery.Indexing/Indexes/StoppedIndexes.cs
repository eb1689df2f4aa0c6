using Rookery.Documents.Databases;
using Rookery.Documents.Stored;
using Rookery.Indexing.Mapping;
using Rookery.Storage;

namespace Rookery.Indexing.Indexes;

/// <summary>The paused and disabled indexes of a database, which <see cref="IndexFeeder"/> does not feed.</summary>
internal static class StoppedIndexes
{
    /// <summary>
    /// Advances stopped indexes over operations that changed no document. The operation that disables an index is one:
    /// a complete index would otherwise be reported as stale for as long as it is disabled.
    /// </summary>
    public static void PassOperations(Database database, IReadOnlyList<RunningIndex> indexes)
    {
        long last = database.LastEtag;
        foreach (var index in indexes)
        {
            long position = index.Position;
            if (
                position is 0
                || position >= last
                || position == index.LacksChangesAfter
                || index.State is not (IndexState.Paused or IndexState.Disabled)
                || index.IsResetRequested
                || index.HasDependents
            )
            {
                continue;
            }

            using var reader = database.OpenReader();
            using var changes = reader.Changes(position);
            if (reader.ReadStatistics().TombstoneHorizon > position || HasChange(changes))
            {
                index.LacksChangesAfter = position;
            }
            else
            {
                index.AdvanceTo(changes.Sequence, 0);
            }
        }
    }

    private static bool HasChange(ChangeCursor changes)
    {
        try
        {
            return changes.MoveNext();
        }
        catch (Exception unreadable) when (unreadable is DamagedException or StoredDocumentException)
        {
            return true; // A change that cannot be read is one that the index lacks.
        }
    }
}
