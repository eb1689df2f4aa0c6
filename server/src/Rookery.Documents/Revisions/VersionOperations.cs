using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Stored;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Revisions;

/// <summary>
/// Stores the revisions of a dump. They are older than the document, whose etag must stay above those of its revisions:
/// so the document is stored again, under a new etag, in the same command.
/// </summary>
/// <param name="rows">Stores documents.</param>
internal sealed class VersionOperations(DocumentRows rows) : IDisposable
{
    private const long AllRows = long.MaxValue - 1;

    private readonly RevisionDecoder _decoder = new();
    private readonly PooledBytes _row = new();
    private readonly PooledBytes _counters = new();
    private readonly PooledBytes _attachments = new();
    private readonly PooledBytes _part = new();

    /// <summary>Applies an operation that stores a revision, or the document again.</summary>
    /// <returns>The reason to refuse the whole batch, or null.</returns>
    public Rejection? Apply(
        ApplyContext context,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        in Operation operation,
        out OperationResult result
    )
    {
        result = default;
        var version = operation.Version;
        if (version.Kind == VersionKind.Restated)
        {
            if (!previous.Exists)
            {
                context.OperationsWithoutDocumentChange++;
                return null;
            }

            return StoreAgain(context, lowerId, previous, RevisionForcing.OfRestated, out result);
        }

        var state = RevisionStates.Find(context, lowerId);
        bool isDocument = IsDocument(previous, operation);
        long count = CountRows(context, lowerId, state, version);
        // The newest of a document's revisions is its own version. Another one with the same time gets a row.
        bool isLive = isDocument && state.LiveEtag != 0;
        if (count + (isLive ? 1 : 0) > version.Ordinal)
        {
            context.OperationsWithoutDocumentChange++;
            result = new OperationResult { Status = OperationStatus.NotModified };
            return null;
        }

        if (isDocument && !isLive)
        {
            var forcing = operation.ForcesRevision ? RevisionForcing.OfForcedDump : RevisionForcing.OfDump;
            return StoreAgain(context, lowerId, previous, forcing, out result);
        }

        context.OperationsWithoutDocumentChange++;
        if (Insert(context, id, lowerId, previous, operation, count, ref state) is { } refusal)
        {
            return Name(context, id, refusal);
        }

        result = new OperationResult
        {
            Status = OperationStatus.Stored,
            Etag = context.Etag,
            LastModifiedTicks = version.Ticks,
        };
        return null;
    }

    /// <summary>
    /// Counts the newest rows that have the same time as a revision of a dump. By this number, a second import of the
    /// dump, or of a part of it, finds that the revision is stored already. The times of a document's revisions never
    /// fall from one to the next.
    /// </summary>
    /// <returns>The number, at most <see cref="VersionCommand.Ordinal"/> + 1; more than any ordinal if the newest row
    /// is later than the revision.</returns>
    /// <exception cref="DamagedException">A row that is needed is damaged.</exception>
    public static long CountRows(
        in RevisionSource source,
        ReadOnlySpan<byte> lowerId,
        RevisionState state,
        scoped in VersionCommand version
    )
    {
        if (state.Rows == 0)
        {
            return 0;
        }

        using var rows = source.Seek(lowerId, state.FirstEtag, long.MaxValue, backward: true);
        long count = 0;
        while (count <= version.Ordinal && rows.MoveNext())
        {
            long ticks = RevisionBytes.Peek(rows).Ticks;
            if (ticks != version.Ticks)
            {
                return ticks > version.Ticks ? AllRows : count;
            }

            count++;
        }

        return count;
    }

    /// <summary>Returns the newest row of a document that has rows.</summary>
    public static PeekedRevision NewestRowOf(in RevisionSource source, ReadOnlySpan<byte> lowerId, RevisionState state)
    {
        using var rows = source.Seek(lowerId, state.FirstEtag, long.MaxValue, backward: true);
        Invariant.Holds(rows.MoveNext(), "a document whose state counts rows has them");
        return RevisionBytes.Peek(rows);
    }

    /// <summary>
    /// Writes what a document that is stored again stores about its revisions. If its version is a revision, it stays
    /// one, under the new etag.
    /// </summary>
    public static void KeepRevisions(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        PooledBytes part
    )
    {
        part.Clear();
        var state = RevisionStates.Find(context, lowerId);
        if (state.Count == 0)
        {
            return;
        }

        state.LiveEtag = state.LiveEtag == 0 ? 0 : context.Etag;
        RevisionStates.Write(context, lowerId, state, hadState: true);
        part.Append(previous.Head.Revisions);
        if (part.Length == 0)
        {
            part.Append((byte)RevisionFlags.None);
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _decoder.Dispose();
        _row.Release();
        _counters.Release();
        _attachments.Release();
        _part.Release();
    }

    private static bool IsDocument(in Document previous, in Operation operation) =>
        operation.Version.Kind == VersionKind.Revision
        && previous.Exists
        && previous.Head.LastModifiedTicks == operation.Version.Ticks
        && previous.View.Content.SequenceEqual(operation.Content);

    private static long CountRows(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        RevisionState state,
        scoped in VersionCommand version
    )
    {
        try
        {
            return CountRows(RevisionStates.SourceOf(context), lowerId, state, version);
        }
        catch (DamagedException) when (context.TreatsDamagedAsMissing)
        {
            return AllRows; // an export of damaged data needs no further revision
        }
    }

    private Rejection? StoreAgain(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        RevisionForcing forcing,
        out OperationResult result
    )
    {
        result = default;
        var view = previous.View;
        long copied = (2 * previous.Length) + RevisionCosts.OfCounters(context, view);
        if (context.Patches.ChargeParts(previous.Length, copied) is { } refusal)
        {
            return Name(context, view.Id, refusal);
        }

        context.Forcing = forcing;
        context.GivenTicks = context.GivenTicks == 0 ? view.LastModifiedTicks : context.GivenTicks;
        result = rows.Store(
            context,
            view.Id,
            lowerId,
            previous,
            view.Content,
            view.Collection,
            view.ExpiresAtTicks,
            OperationStatus.Stored,
            DocumentRows.KeptParts(context, previous)
        );
        return null;
    }

    private Rejection? Insert(
        ApplyContext context,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        in Operation operation,
        long rowsRead,
        ref RevisionState state
    )
    {
        bool hadState = state != default;
        bool isDelete = operation.Version.Kind == VersionKind.Deletion;
        if ((Charge(context, operation, rowsRead) ?? StoreNewestWhole(context, lowerId, state)) is { } refusal)
        {
            return refusal;
        }

        if (!previous.Exists)
        {
            context.Database.Counters.DeletedWithRevisions += state.Count == 0 ? 1 : 0;
            RevisionRows.RemoveFromBin(context, ref state);
        }

        WriteRow(context, id, operation, isDelete);
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        uint database = context.Database.Number;
        long etag = context.Etag;
        context.Batch.Put(Key.WriteRevision(key, database, lowerId, etag), etag, _row.Written, operation.Content);
        context.Batch.Put(Key.WriteNumber(key, database, Table.RevisionsByEtag, etag), etag, lowerId);
        context.Database.Counters.Revisions++;
        state.Rows++;
        state.FirstEtag = state.Rows == 1 ? etag : state.FirstEtag;
        state.Depth = 0;
        if (isDelete && !previous.Exists)
        {
            context.Batch.Put(Key.WriteNumber(key, database, Table.RevisionBin, etag), etag, lowerId);
            state.DeleteEtag = etag;
        }

        RevisionStates.Write(context, lowerId, state, hadState);
        return null;
    }

    private static Rejection? Charge(ApplyContext context, in Operation operation, long rowsRead)
    {
        const int BytesPerReference = 512;
        var version = operation.Version;
        long stored =
            operation.Content.Length
            + version.Attachments.Length
            + version.CounterNames.Length
            + version.CounterValues.Length;
        long copied =
            stored
            + (BytesPerReference * (long)AttachmentList.CountOf(version.Attachments))
            + (VersionCommand.BytesPerOrdinal * rowsRead);
        return context.Patches.ChargeParts(stored, copied);
    }

    // The newest row can be a difference from the document, and would be decoded with the inserted one from now on.
    private Rejection? StoreNewestWhole(ApplyContext context, ReadOnlySpan<byte> lowerId, RevisionState state)
    {
        if (state.Depth == 0)
        {
            return null;
        }

        var source = RevisionStates.SourceOf(context);
        var newest = NewestRowOf(source, lowerId, state);
        _decoder.Reset();
        long copiedBefore = _decoder.CopiedBytes;
        Invariant.Holds(_decoder.TryRead(source, lowerId, newest.Etag), "a row that a cursor found is there");
        var content = _decoder.View.Content;
        if (context.Patches.ChargeParts(content.Length, _decoder.CopiedBytes - copiedBefore) is { } refusal)
        {
            return refusal;
        }

        WholeRevision.Store(context, source, lowerId, newest, content, _row);
        return null;
    }

    private static Rejection Name(ApplyContext context, ReadOnlySpan<byte> id, Rejection refusal) =>
        refusal with
        {
            DocumentId = Encoding.UTF8.GetString(id),
            Database = context.Database.Database.Name,
        };

    private void WriteRow(ApplyContext context, ReadOnlySpan<byte> id, in Operation operation, bool isDelete)
    {
        var version = operation.Version;
        var flags =
            RevisionFlags.IsRevision
            | (isDelete ? RevisionFlags.IsDelete : RevisionFlags.None)
            | (operation.ForcesRevision ? RevisionFlags.IsForced : RevisionFlags.None);
        _counters.Clear();
        if (version.CounterCount > 0)
        {
            DocumentCounters.WriteHead(
                _counters.Reserve(DocumentCounters.HeadBytes),
                context.Etag,
                version.CounterCount
            );
            _counters.Advance(DocumentCounters.HeadBytes);
            _counters.Append(version.CounterNames);
        }

        _attachments.Clear();
        _attachments.Append(version.Attachments);
        AttachmentList.SetEtags(_attachments.WrittenMemory.Span, context.Etag);
        var list = new AttachmentList(version.Attachments);
        while (list.TryRead(out var attachment))
        {
            ContentRows.Add(context, attachment.Hash, attachment.Size);
        }

        _part.Clear();
        _part.Append((byte)flags);
        _part.Append(version.CounterValues);
        _row.Clear();
        RevisionRow.WritePrefix(_row.Reserve(RevisionRow.PrefixBytes), isDelta: false, flags);
        _row.Advance(RevisionRow.PrefixBytes);
        StoredDocument.AppendHead(
            _row,
            id,
            version.Ticks,
            operation.ExpiresAtTicks,
            new DocumentParts
            {
                Counters = _counters.Written,
                Attachments = _attachments.Written,
                Revisions = _part.Written,
            }
        );
    }
}
