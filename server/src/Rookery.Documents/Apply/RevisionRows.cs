using Rookery.Documents.Attachments;
using Rookery.Documents.Databases;
using Rookery.Documents.Revisions;
using Rookery.Documents.Stored;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>
/// Maintains the revisions of documents that are stored or deleted. The newest version of a document that is a revision
/// has no row of its own: the document contains it. When the document is replaced, its previous content becomes a row,
/// encoded as a difference from the new content.
/// </summary>
internal sealed class RevisionRows : IDisposable
{
    /// <summary>
    /// Maximum number of versions that must be read to decode a revision. A longer chain takes less space but longer
    /// reads. With this length, 4 of 100 revisions are stored whole.
    /// </summary>
    public const int MaxDepth = 32;

    /// <summary>
    /// Bound of a chain's depth times the length of its newest content. So the oldest version of a chain of documents
    /// of 8 MiB can be restored by one command, which may copy 256 MiB.
    /// </summary>
    public const long MaxChainBytes = PatchBudget.CopiedBytesPerCommand / 2;

    /// <summary>
    /// Number of revisions beyond the limits of their collections that one entry of the log removes, so that changes
    /// after a lower limit was configured do not delay other writes. Later changes of the documents remove the others.
    /// </summary>
    public const int MaxDeletesPerEntry = 16 << 10;

    /// <summary>Bytes to charge for a counter: a look-up takes as long as copying this many.</summary>
    public const int BytesPerCounter = 512;

    /// <summary>
    /// Bytes to charge for the removal of a revision: at most a quarter of a million are removed at once, which takes
    /// about 0.3 s.
    /// </summary>
    public const int BytesPerRemoval = 1024;

    private readonly RevisionDelta _delta = new();
    private readonly PooledBytes _difference = new();
    private readonly PooledBytes _row = new();
    private readonly PooledBytes _part = new();
    private readonly List<PeekedRevision> _removed = [];

    /// <summary>Whether changes of the database's documents may concern revisions.</summary>
    public static bool MayConcern(ApplyContext context) =>
        context.Forcing != RevisionForcing.None
        || context.Database.Revisions is not null
        || context.Database.Counters.Revisions != 0;

    /// <summary>Whether a change of the document may store a row with its present version.</summary>
    public static bool MayKeep(ApplyContext context, scoped in DocumentView document, bool isDelete) =>
        !document.Revisions.IsEmpty
        || context.Forcing == RevisionForcing.OfPrevious
        || (isDelete && context.Database.Revisions?.Find(document.Collection) is { Creates: true });

    /// <summary>
    /// Keeps the version that is replaced, if it is a revision, and removes revisions beyond the limits of the
    /// collection. Call it before the new version is stored.
    /// </summary>
    /// <param name="context">The command.</param>
    /// <param name="lowerId">The document's id.</param>
    /// <param name="previous">The version that is replaced.</param>
    /// <param name="content">The content of the new version.</param>
    /// <param name="collection">The collection of the new version.</param>
    /// <param name="counters">What the new version stores about its counters.</param>
    /// <returns>What the new version stores about its revisions; empty if it has none.</returns>
    public ReadOnlySpan<byte> Replace(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        ReadOnlySpan<byte> content,
        ReadOnlySpan<byte> collection,
        ReadOnlySpan<byte> counters
    )
    {
        if (!MayConcern(context))
        {
            return default;
        }

        if (context.Forcing == RevisionForcing.OfRestated)
        {
            VersionOperations.KeepRevisions(context, lowerId, previous, _part);
            return _part.Written;
        }

        var rule = context.Database.Revisions?.Find(collection);
        bool creates = rule is { Creates: true };
        bool isOfDump = context.Forcing is RevisionForcing.OfDump or RevisionForcing.OfForcedDump;
        // The document does not know yet of revisions that the same command imported.
        var state =
            isOfDump ? RevisionStates.Find(context, lowerId)
            : previous.Exists ? RevisionStates.Find(context, lowerId, previous)
            : TakeDeleted(context, lowerId);
        bool hadState = state != default;
        bool keepsPrevious = context.Forcing == RevisionForcing.OfPrevious;
        if (previous.Exists && (keepsPrevious || state.LiveEtag != 0))
        {
            Keep(context, lowerId, previous, ref state, creates, content);
        }

        bool isRevision = creates || isOfDump || context.Forcing == RevisionForcing.OfStored;
        if (isRevision)
        {
            state.LiveEtag = context.Etag;
            context.Database.Counters.Revisions++;
        }

        if (rule is { IsDisabled: false })
        {
            RemoveBeyond(context, lowerId, rule, ref state);
        }

        RevisionStates.Write(context, lowerId, state, hadState);
        _part.Clear();
        if (state.Count == 0)
        {
            return default;
        }

        _part.Append(
            (byte)(
                (isRevision ? RevisionFlags.IsRevision : RevisionFlags.None)
                | (
                    isRevision && !creates && context.Forcing != RevisionForcing.OfDump
                        ? RevisionFlags.IsForced
                        : RevisionFlags.None
                )
            )
        );
        if (isRevision)
        {
            RevisionCounters.Append(_part, context, lowerId, counters);
        }

        return _part.Written;
    }

    /// <summary>
    /// Removes all revisions if the collection's rule says so. Otherwise keeps the deleted version, if it is a revision
    /// or its collection creates revisions, and adds a revision for the deletion.
    /// </summary>
    /// <returns>Whether a revision took over the document's references to the contents of attachments.</returns>
    public bool Delete(ApplyContext context, ReadOnlySpan<byte> lowerId, in Document previous)
    {
        if (!MayConcern(context))
        {
            return false;
        }

        var view = previous.Head;
        var rule = context.Database.Revisions?.Find(view.Collection);
        var state = RevisionStates.Find(context, lowerId, previous);
        bool hadState = state != default;
        bool creates = rule is { Creates: true };
        if (state.Count == 0 && !creates)
        {
            RevisionStates.Write(context, lowerId, state, hadState);
            return false;
        }

        if (rule is { IsDisabled: false, PurgesOnDelete: true })
        {
            RemoveLive(context, ref state);
            RemoveOldest(context, lowerId, ref state, state.Rows, minimumAgeTicks: null);
            RevisionStates.Write(context, lowerId, state, hadState);
            return false;
        }

        bool isKept = state.LiveEtag != 0 || creates;
        if (isKept)
        {
            Keep(context, lowerId, previous, ref state, isEncoded: false, newer: default, isMoved: true);
        }

        AddDelete(context, lowerId, view, ref state);
        if (rule is { IsDisabled: false })
        {
            RemoveBeyond(context, lowerId, rule, ref state);
        }

        if (state.Count == 0)
        {
            RemoveFromBin(context, ref state);
        }
        else
        {
            context.Database.Counters.DeletedWithRevisions++;
        }

        RevisionStates.Write(context, lowerId, state, hadState);
        return isKept;
    }

    /// <summary>
    /// Removes the oldest revisions of an expired document whose revisions are purged with it, if one entry cannot
    /// remove all of them.
    /// </summary>
    /// <returns>Whether the document must be kept, because it still has revisions that a later entry removes.</returns>
    public bool TryPurgeSome(ApplyContext context, ReadOnlySpan<byte> lowerId, in Document document)
    {
        if (
            document.Head.Revisions.IsEmpty
            || context.Database.Revisions?.Find(document.Head.Collection)
                is not { IsDisabled: false, PurgesOnDelete: true }
        )
        {
            return false;
        }

        var state = RevisionStates.Find(context, lowerId);
        if (state.Rows <= MaxDeletesPerEntry)
        {
            return false;
        }

        long before = state.Rows;
        RemoveOldest(context, lowerId, ref state, context.RevisionDeletesLeft, minimumAgeTicks: null);
        context.RevisionDeletesLeft -= before - state.Rows;
        RevisionStates.Write(context, lowerId, state, hadState: true);
        return true;
    }

    /// <summary>Stops counting the document's current version as a revision.</summary>
    public static void RemoveLive(ApplyContext context, ref RevisionState state)
    {
        if (state.LiveEtag != 0)
        {
            state.LiveEtag = 0;
            context.Database.Counters.Revisions--;
        }
    }

    /// <summary>Removes the oldest revisions that have rows.</summary>
    /// <param name="context">The command.</param>
    /// <param name="lowerId">The document's id.</param>
    /// <param name="state">The state, which is changed.</param>
    /// <param name="count">Number of revisions to remove at most.</param>
    /// <param name="minimumAgeTicks">If not null, stops at the first revision that may be younger.</param>
    public void RemoveOldest(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        ref RevisionState state,
        long count,
        long? minimumAgeTicks
    )
    {
        if (count <= 0 || state.Rows == 0)
        {
            return;
        }

        _removed.Clear();
        long firstLeft = 0;
        try
        {
            firstLeft = FindOldest(context, lowerId, state, count, minimumAgeTicks);
        }
        catch (DamagedException) when (context.TreatsDamagedAsMissing)
        {
            return; // an export of damaged data keeps what it cannot remove
        }

        foreach (var revision in _removed)
        {
            RemoveRow(context, lowerId, revision);
        }

        state.Rows -= _removed.Count;
        state.FirstEtag = firstLeft;
        state.Depth = Math.Min(state.Depth, state.Rows);
        context.Database.Counters.Revisions -= _removed.Count;
        Trim(_removed);
    }

    /// <summary>Empties a list, and releases its memory if it was used for very many revisions.</summary>
    public static void Trim(List<PeekedRevision> revisions)
    {
        const int IdleRevisions = 4096;
        revisions.Clear();
        if (revisions.Capacity > IdleRevisions)
        {
            revisions.TrimExcess();
        }
    }

    /// <summary>
    /// Deletes the row of a revision with its references to contents. Its row by etag remains: readers skip it, and
    /// merges drop it.
    /// </summary>
    public static void RemoveRow(ApplyContext context, ReadOnlySpan<byte> lowerId, in PeekedRevision removed)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        var row = Key.WriteRevision(key, context.Database.Number, lowerId, removed.Etag);
        if (removed.IsCostly && context.Batch.TryGet(row, out var revision))
        {
            context.Batch.ReleaseLarge(revision, context.Etag);
            if (removed.HasAttachments)
            {
                using var head = RevisionBytes.OfHead(revision);
                ReleaseContents(context, new RevisionRow(head.Span).Attachments);
            }
            else
            {
                revision.Dispose();
            }
        }

        context.Batch.Delete(row, context.Etag);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _difference.Release();
        _row.Release();
        _part.Release();
    }

    private long FindOldest(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        RevisionState state,
        long count,
        long? minimumAgeTicks
    )
    {
        using var rows = RevisionStates.SourceOf(context).Seek(lowerId, state.FirstEtag, long.MaxValue);
        while (rows.MoveNext())
        {
            var revision = RevisionBytes.Peek(rows);
            if (_removed.Count == count || (minimumAgeTicks is { } age && !context.Entry.IsOlder(revision.Ticks, age)))
            {
                return revision.Etag;
            }

            _removed.Add(revision);
        }

        return 0;
    }

    private void RemoveBeyond(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        RevisionRule rule,
        ref RevisionState state
    )
    {
        if (rule.MinimumToKeep is null && rule.MinimumAgeTicks is null)
        {
            return;
        }

        long excess = rule.MinimumToKeep is { } keep ? state.Count - keep : state.Rows;
        long most = Math.Min(rule.MaximumDeletes ?? long.MaxValue, context.RevisionDeletesLeft);
        long before = state.Rows;
        RemoveOldest(context, lowerId, ref state, Math.Min(Math.Min(excess, state.Rows), most), rule.MinimumAgeTicks);
        context.RevisionDeletesLeft -= before - state.Rows;
    }

    // Takes over the revisions of a deleted document whose id is stored again.
    private static RevisionState TakeDeleted(ApplyContext context, ReadOnlySpan<byte> lowerId)
    {
        if (context.Database.Counters.DeletedWithRevisions == 0)
        {
            return default;
        }

        var state = RevisionStates.Find(context, lowerId);
        if (state.Count != 0)
        {
            context.Database.Counters.DeletedWithRevisions--;
            RemoveFromBin(context, ref state);
        }

        return state;
    }

    /// <summary>Removes a deleted document from the list of deleted documents with revisions.</summary>
    public static void RemoveFromBin(ApplyContext context, ref RevisionState state)
    {
        if (state.DeleteEtag != 0)
        {
            Span<byte> key = stackalloc byte[Key.MaxBytes];
            context.Batch.Delete(
                Key.WriteNumber(key, context.Database.Number, Table.RevisionBin, state.DeleteEtag),
                context.Etag
            );
            state.DeleteEtag = 0;
        }
    }

    // Stores the row of a version that is replaced or deleted.
    private void Keep(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        ref RevisionState state,
        bool isEncoded,
        ReadOnlySpan<byte> newer,
        bool isMoved = false
    )
    {
        var view = previous.View;
        bool isForced = context.Forcing != RevisionForcing.None;
        var part = view.Revisions;
        _part.Clear();
        if (state.LiveEtag != 0)
        {
            _part.Append((byte)((RevisionFlags)part[0] | RevisionFlags.IsRevision));
            _part.Append(part[1..]);
        }
        else
        {
            context.Database.Counters.Revisions++;
            _part.Append((byte)(RevisionFlags.IsRevision | (isForced ? RevisionFlags.IsForced : RevisionFlags.None)));
            RevisionCounters.Append(_part, context, lowerId, view.Counters.Stored);
        }

        var content = view.Content;
        bool isDelta = false;
        long longest = Math.Max(content.Length, newer.Length);
        if (isEncoded && state.Depth < MaxDepth && (state.Depth + 2) * longest <= MaxChainBytes)
        {
            _difference.Clear();
            _delta.Encode(_difference, content, newer);
            isDelta = _difference.Length < content.Length - (content.Length / 4);
        }

        WriteRowHead(
            isDelta,
            (RevisionFlags)_part.Written[0],
            view.Id,
            view.LastModifiedTicks,
            view.ExpiresAtTicks,
            new DocumentParts
            {
                Counters = view.Counters.Stored,
                Attachments = view.Attachments,
                Revisions = _part.Written,
            }
        );
        PutRow(context, lowerId, previous.Etag, isDelta ? _difference.Written : content);
        if (!isMoved)
        {
            var attachments = new AttachmentList(view.Attachments);
            while (attachments.TryRead(out var attachment))
            {
                ContentRows.Add(context, attachment.Hash, attachment.Size);
            }
        }

        state.LiveEtag = 0;
        state.Rows++;
        state.FirstEtag = state.Rows == 1 ? previous.Etag : state.FirstEtag;
        state.Depth = isDelta ? state.Depth + 1 : 0;
    }

    // Stores the row of the revision that stands for a deletion.
    private void AddDelete(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        scoped in DocumentView deleted,
        ref RevisionState state
    )
    {
        _part.Clear();
        _part.Append((byte)(RevisionFlags.IsRevision | RevisionFlags.IsDelete));
        WriteRowHead(
            isDelta: false,
            RevisionFlags.IsDelete,
            deleted.Id,
            context.LogTicks,
            expiresAtTicks: 0,
            new DocumentParts { Revisions = _part.Written }
        );
        _difference.Clear();
        var content = _difference.Reserve(Varint.MaxBytes32 + deleted.Collection.Length + 1);
        int length = Varint.WriteBytes(content, deleted.Collection);
        content[length++] = 0; // no metadata, no body
        _difference.Advance(length);
        PutRow(context, lowerId, context.Etag, _difference.Written);
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        context.Batch.Put(
            Key.WriteNumber(key, context.Database.Number, Table.RevisionBin, context.Etag),
            context.Etag,
            lowerId
        );
        context.Database.Counters.Revisions++;
        state.Rows++;
        state.FirstEtag = state.Rows == 1 ? context.Etag : state.FirstEtag;
        state.Depth = 0;
        state.DeleteEtag = context.Etag;
    }

    private void WriteRowHead(
        bool isDelta,
        RevisionFlags flags,
        ReadOnlySpan<byte> id,
        long lastModifiedTicks,
        long expiresAtTicks,
        scoped in DocumentParts parts
    )
    {
        _row.Clear();
        RevisionRow.WritePrefix(_row.Reserve(RevisionRow.PrefixBytes), isDelta, flags);
        _row.Advance(RevisionRow.PrefixBytes);
        StoredDocument.AppendHead(_row, id, lastModifiedTicks, expiresAtTicks, parts);
    }

    private void PutRow(ApplyContext context, ReadOnlySpan<byte> lowerId, long etag, ReadOnlySpan<byte> content)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        uint database = context.Database.Number;
        context.Batch.Put(Key.WriteRevision(key, database, lowerId, etag), context.Etag, _row.Written, content);
        context.Batch.Put(Key.WriteNumber(key, database, Table.RevisionsByEtag, etag), context.Etag, lowerId);
    }

    /// <summary>Removes the references of a list of attachments.</summary>
    public static void ReleaseContents(ApplyContext context, ReadOnlySpan<byte> attachments)
    {
        var list = new AttachmentList(attachments);
        while (list.TryRead(out var attachment))
        {
            ContentRows.Release(context, attachment.Hash, attachment.Size);
        }
    }
}
