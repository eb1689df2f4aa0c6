using Rookery.Documents.Apply;
using Rookery.Documents.Attachments;
using Rookery.Documents.Databases;
using Rookery.Documents.Stored;

namespace Rookery.Documents.Revisions;

/// <summary>
/// Bytes that changes of documents cost because of revisions, for the bounds of commands and of the work of apply.
/// </summary>
internal static class RevisionCosts
{
    /// <summary>
    /// Returns the bytes to charge for reading the counters of a document, whose values a new revision contains.
    /// </summary>
    public static long OfCounters(ApplyContext context, scoped in DocumentView document) =>
        document.Counters.Count == 0 || !RevisionRows.MayConcern(context)
            ? 0
            : (long)RevisionRows.BytesPerCounter * document.Counters.Count;

    /// <summary>
    /// Returns the bytes that a stream or a schedule counts for the revision that a change of the document may store,
    /// so that its commands do not cost too much: the revision adds a reference to the content of each attachment, and
    /// reads each counter.
    /// </summary>
    public static long Of(Database database, scoped in DocumentView document) =>
        database.MayHaveRevisions
            ? RevisionRows.BytesPerCounter
                * ((long)document.Counters.Count + AttachmentList.CountOf(document.Attachments))
            : 0;

    /// <summary>
    /// Returns the bytes to charge for the revisions that the deletion of a document removes.
    /// </summary>
    public static long OfPurge(ApplyContext context, ReadOnlySpan<byte> lowerId, scoped in DocumentView document)
    {
        if (
            document.Revisions.IsEmpty
            || context.Database.Revisions?.Find(document.Collection) is not { IsDisabled: false, PurgesOnDelete: true }
        )
        {
            return 0;
        }

        return RevisionRows.BytesPerRemoval * RevisionStates.Find(context, lowerId).Rows;
    }
}
