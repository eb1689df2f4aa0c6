using System.Text;
using Rookery.Documents.Attachments;
using Rookery.Documents.Changes;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Revisions;
using Rookery.Documents.Schedules;
using Rookery.Documents.Stored;
using Rookery.Platform;

namespace Rookery.Documents.Apply;

/// <summary>
/// Maintains the rows of documents in five tables (by id, by etag, by collection, expiry, tombstones), and the
/// references to the contents of attachments. Releases the chunks of replaced large documents.
/// </summary>
internal sealed class DocumentRows(CompareExchangeOperations values, RevisionRows revisions) : IDisposable
{
    private readonly byte[] _head = new byte[StoredDocument.MaxHeadBytes];
    private readonly PooledBytes _longHead = new(); // with counters, attachments or revisions

    /// <summary>Whether a put would store the content and expiration that the document has.</summary>
    public static bool IsUnchanged(in Document previous, in Operation operation) =>
        previous.Exists
        && previous.Head.ExpiresAtTicks == operation.ExpiresAtTicks
        && previous.View.Content.SequenceEqual(operation.Content);

    /// <summary>
    /// Returns whether a put is skipped because the document already has its content. A put of a command is skipped if
    /// the command asks for it. A version from a dump is skipped if it was imported before, so that it makes no second
    /// revision.
    /// </summary>
    /// <param name="context">The context of the operation.</param>
    /// <param name="previous">The stored document.</param>
    /// <param name="put">The put, or the version from a dump.</param>
    /// <param name="skipUnchanged">Whether the command asks to skip puts that change nothing.</param>
    public static bool IsSkipped(ApplyContext context, in Document previous, in Operation put, bool skipUnchanged) =>
        (
            put.Kind == OperationKind.Version
                ? previous.Exists && previous.Head.LastModifiedTicks == context.GivenTicks
                : skipUnchanged
        ) && IsUnchanged(previous, put);

    /// <summary>
    /// Returns the lists of counters and attachments, which a document keeps when its content is replaced. Reads
    /// nothing in a database without counters and attachments.
    /// </summary>
    public static DocumentParts KeptParts(ApplyContext context, in Document previous) =>
        MayHaveParts(context, previous) ? DocumentParts.Of(previous.Head) : default;

    /// <summary>
    /// Charges the entry's budget with the bytes that a put, patch or delete copies or removes besides the content: the
    /// document's lists of counters and attachments, and its revisions. Without this charge, a short command could copy
    /// many such bytes.
    /// </summary>
    /// <returns>The reason to refuse the command, or null.</returns>
    public static Rejection? Charge(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        in Document document,
        bool isDelete,
        long newLength
    )
    {
        // A delete changes the row of each content, which takes as long as copying this many bytes.
        const int BytesPerReference = 512;
        if (!MayHaveParts(context, document))
        {
            return null;
        }

        var parts = DocumentParts.Of(document.Head);
        int bytes = parts.Counters.Length + parts.Attachments.Length + parts.Revisions.Length;
        bool isKept = RevisionRows.MayKeep(context, document.Head, isDelete);
        bool changesReferences = isDelete || isKept;
        long copied =
            bytes + (changesReferences ? (long)BytesPerReference * AttachmentList.CountOf(parts.Attachments) : 0);
        long stored = isDelete ? 0 : bytes;
        copied += RevisionCosts.OfCounters(context, document.Head);
        if (isKept)
        {
            // The previous version becomes a row of a revision. Of its bytes, only those beyond the length of the new
            // content count, because the command itself contains that content.
            stored += Math.Max(0, document.Length - newLength);
            long purge = isDelete ? RevisionCosts.OfPurge(context, lowerId, document.Head) : 0;
            if (purge > PatchBudget.CopiedBytesPerCommand)
            {
                return TooManyRevisions(context, document, purge / RevisionRows.BytesPerRemoval);
            }

            copied += document.Length + purge;
        }

        return copied == 0 ? null : context.Patches.ChargeParts(stored, copied);
    }

    /// <summary>Stores a document as a new version.</summary>
    public OperationResult Store(
        ApplyContext context,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        ReadOnlySpan<byte> content,
        ReadOnlySpan<byte> collection,
        long expiresAtTicks,
        OperationStatus status,
        scoped in DocumentParts parts
    )
    {
        var database = context.Database;
        var batch = context.Batch;
        long etag = context.Etag;
        Span<byte> key = stackalloc byte[Key.MaxBytes];

        var collectionCounters = context.Collection(collection);
        string collectionText = collectionCounters.TextOf(collection);
        var revisionState = revisions.Replace(context, lowerId, previous, content, collection, parts.Counters);
        var head =
            parts.IsEmpty && revisionState.IsEmpty
                ? _head.AsSpan(0, StoredDocument.WriteHead(_head, id, context.VersionTicks, expiresAtTicks))
                : WriteHead(id, context.VersionTicks, expiresAtTicks, parts, revisionState);
        long length = head.Length + content.Length;
        if (previous.Exists)
        {
            PreviousVersion.Remove(context, previous, collectionCounters, key);
        }

        // PreviousVersion.Remove subtracted the replaced version from its collection, but not from the database.
        database.RecordChange(collectionCounters, collectionText, documents: 1, length);
        database.Counters.Documents += previous.Exists ? 0 : 1;
        database.Counters.LastDocumentEtag = etag;

        batch.Put(Key.WriteText(key, database.Number, Table.Documents, lowerId), etag, head, content);
        batch.Put(Key.WriteNumber(key, database.Number, Table.ByEtag, etag), etag, lowerId);
        batch.Put(Key.WriteCollection(key, database.Number, collection, etag), etag, lowerId);
        if (expiresAtTicks != 0)
        {
            database.Database.HasExpiring = true;
            batch.Put(Key.WriteNumbers(key, database.Number, Table.Expiry, expiresAtTicks, etag), etag, lowerId);
        }

        if (database.Configurations.KeepsSchedules)
        {
            ScheduleOperations.Add(context, MetadataIn(content), etag, lowerId);
        }

        if (context.IsWatched)
        {
            context.AddChange(
                new DocumentChange(DocumentChangeKind.Put, Encoding.UTF8.GetString(id), collectionText, etag)
            );
        }

        return new OperationResult
        {
            Status = status,
            Etag = etag,
            LastModifiedTicks = context.VersionTicks,
            Collection = collectionText,
            High = revisionState.IsEmpty
                ? 0
                : OperationResult.HasRevisions
                    | (parts.Attachments.IsEmpty ? 0 : OperationResult.HasAttachments)
                    | (parts.Counters.IsEmpty ? 0 : OperationResult.HasCounters),
        };
    }

    /// <summary>Deletes a document with its attachments, its counters and its atomic guard.</summary>
    public OperationResult Delete(ApplyContext context, ReadOnlySpan<byte> lowerId, in Document previous)
    {
        if (!previous.Exists)
        {
            return default;
        }

        var database = context.Database;
        long etag = context.Etag;
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        var view = previous.Head;
        var collectionCounters = context.Collection(view.Collection);
        string collectionText = collectionCounters.TextOf(view.Collection);
        bool revisionKeepsContents = revisions.Delete(context, lowerId, previous);
        PreviousVersion.Remove(context, previous, collectionCounters, key);
        database.Counters.Documents--;
        database.Counters.LastDocumentEtag = etag;
        context.Batch.Delete(Key.WriteText(key, database.Number, Table.Documents, lowerId), etag);
        PreviousVersion.PutTombstone(context, view, isMove: false, key);
        values.RemoveGuard(context, lowerId);
        CounterOperations.RemoveAll(context, view);
        var attachments = new AttachmentList(revisionKeepsContents ? default : view.Attachments);
        while (attachments.TryRead(out var attachment))
        {
            ContentRows.Release(context, attachment.Hash, attachment.Size);
        }

        if (context.IsWatched)
        {
            context.AddChange(
                new DocumentChange(DocumentChangeKind.Delete, Encoding.UTF8.GetString(view.Id), collectionText, etag)
            );
        }

        return new OperationResult
        {
            Status = OperationStatus.Deleted,
            Etag = etag,
            LastModifiedTicks = context.LogTicks,
            Collection = collectionText,
        };
    }

    /// <inheritdoc/>
    public void Dispose() => _longHead.Release();

    private static ReadOnlySpan<byte> MetadataIn(ReadOnlySpan<byte> content)
    {
        int at = 0;
        bool isRead =
            Varint.TryReadBytes(content, ref at, out _) & Varint.TryReadBytes(content, ref at, out var metadata);
        Invariant.Holds(isRead, "the content of a document begins with its collection and metadata");
        return metadata;
    }

    private static Rejection TooManyRevisions(ApplyContext context, in Document document, long count) =>
        new(
            RejectionKind.TooLarge,
            $"The deletion of document {Encoding.UTF8.GetString(document.Head.Id)} would remove its {count} revisions "
                + $"too, and one command removes {PatchBudget.CopiedBytesPerCommand / RevisionRows.BytesPerRemoval} at "
                + "most. Nothing was deleted; remove the revisions first: DELETE admin/revisions."
        )
        {
            Database = context.Database.Database.Name,
        };

    private static bool MayHaveParts(ApplyContext context, in Document document) =>
        (
            (context.Database.Counters.DocumentCounters | context.Database.Counters.Attachments) != 0
            || RevisionRows.MayConcern(context)
        ) && document.Exists;

    private Span<byte> WriteHead(
        ReadOnlySpan<byte> id,
        long lastModifiedTicks,
        long expiresAtTicks,
        scoped in DocumentParts parts,
        ReadOnlySpan<byte> revisionState
    )
    {
        _longHead.Clear();
        StoredDocument.AppendHead(
            _longHead,
            id,
            lastModifiedTicks,
            expiresAtTicks,
            new DocumentParts
            {
                Counters = parts.Counters,
                Attachments = parts.Attachments,
                Revisions = revisionState,
            }
        );
        return _longHead.WrittenMemory.Span;
    }
}
