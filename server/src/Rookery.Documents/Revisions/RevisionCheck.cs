using Rookery.Documents.Apply;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Ids;
using Rookery.Documents.Stored;
using Rookery.Storage;

namespace Rookery.Documents.Revisions;

/// <summary>
/// Reads the rows about revisions that apply needs for a command, before the command is queued: so damage refuses the
/// command.
/// </summary>
internal static class RevisionCheck
{
    // Apply removes more than these rows only after a lower limit was configured.
    private const int CheckedRows = 64;

    /// <summary>Whether a document has revisions, by the first bytes of its row.</summary>
    public static bool HasRevisions(in Row document) =>
        !document.IsLarge && document.Value.Length > 1 && (document.Value[1] & StoredDocument.HasRevisions) != 0;

    /// <summary>Whether apply reads all of a large document that an operation replaces or deletes.</summary>
    public static bool ReadsWhole(
        in Snapshot snapshot,
        uint database,
        ReadOnlySpan<byte> lowerId,
        in Row document,
        in Operation operation
    )
    {
        var source = new RevisionSource(snapshot, database);
        return operation.ForcesRevision
            || source.ReadState(lowerId) != default
            || (operation.Kind == OperationKind.Delete && source.HasConfiguration());
    }

    /// <summary>Checks the rows for a put, patch or delete of a document with revisions.</summary>
    public static void Run(in Snapshot snapshot, uint database, in CommandId id)
    {
        Span<byte> lowerId = stackalloc byte[DocumentId.MaxBytes];
        Run(snapshot, database, lowerId[..id.WriteLowerName(lowerId)], CheckedRows);
    }

    /// <summary>Checks the rows for an operation on revisions.</summary>
    /// <param name="snapshot">The rows.</param>
    /// <param name="database">The database.</param>
    /// <param name="lowerId">The document's id.</param>
    /// <param name="command">The operation.</param>
    /// <param name="copiedBytes">
    /// Bytes that reverts of the command copied so far. Beyond the budget of a command nothing is read, because apply
    /// refuses the command.
    /// </param>
    public static void Run(
        in Snapshot snapshot,
        uint database,
        ReadOnlySpan<byte> lowerId,
        scoped in RevisionCommand command,
        ref long copiedBytes
    )
    {
        if (command.Action != RevisionAction.Revert)
        {
            Run(snapshot, database, lowerId, command.Action == RevisionAction.Force ? 1 : int.MaxValue);
            return;
        }

        if (copiedBytes > PatchBudget.CopiedBytesPerCommand)
        {
            return;
        }

        using var decoder = new RevisionDecoder();
        var source = new RevisionSource(snapshot, database);
        if (source.ReadState(lowerId).Rows > 0 && decoder.TryRead(source, lowerId, command.Etag))
        {
            ContentRows.CheckAll(snapshot, database, decoder.View.Attachments);
            copiedBytes += decoder.CopiedBytes;
        }

        Run(snapshot, database, lowerId, CheckedRows);
    }

    /// <summary>Checks the rows for the deletion of an expired document.</summary>
    public static void RunForExpired(in Snapshot snapshot, uint database, in Row row, scoped in DocumentView document)
    {
        if (!document.Revisions.IsEmpty)
        {
            Span<byte> lowerId = stackalloc byte[DocumentId.MaxBytes];
            Run(snapshot, database, lowerId[..DocumentId.ToLower(document.Id, lowerId)], CheckedRows);
            row.ReadThrough();
        }
        else if (row.IsLarge && new RevisionSource(snapshot, database).HasConfiguration())
        {
            row.ReadThrough();
        }
    }

    /// <summary>
    /// Checks the rows for the refresh or archival of a document, except those of the document itself.
    /// </summary>
    public static void RunForScheduled(in Snapshot snapshot, uint database, scoped in DocumentView document)
    {
        ContentRows.CheckAll(snapshot, database, document.Attachments);
        if (!document.Revisions.IsEmpty)
        {
            Span<byte> lowerId = stackalloc byte[DocumentId.MaxBytes];
            Run(snapshot, database, lowerId[..DocumentId.ToLower(document.Id, lowerId)], CheckedRows);
        }
    }

    private static void Run(in Snapshot snapshot, uint database, ReadOnlySpan<byte> lowerId, int count)
    {
        var source = new RevisionSource(snapshot, database);
        var state = source.ReadState(lowerId);
        if (state.Rows == 0)
        {
            return;
        }

        using var rows = source.Seek(lowerId, state.FirstEtag, long.MaxValue);
        for (int i = 0; i < count && rows.MoveNext(); i++)
        {
            if (
                RevisionBytes.Peek(rows).HasAttachments
                && source.TryGetRevision(lowerId, Key.LastNumberOf(rows.Key), out var row)
            )
            {
                using var bytes = RevisionBytes.OfHead(row);
                ContentRows.CheckAll(snapshot, database, new RevisionRow(bytes.Span).Attachments);
            }
        }
    }
}
