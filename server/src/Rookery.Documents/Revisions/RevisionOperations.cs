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
/// Forces, removes and restores revisions of one document, by operations of their own. All contents come from the
/// tables, so these operations are small in the log.
/// </summary>
/// <param name="rows">Stores documents.</param>
internal sealed class RevisionOperations(DocumentRows rows) : IDisposable
{
    // Bounds the time of an operation on a document with very many revisions: see RevisionRows.CostOfPurge.
    private const int BytesPerRevision = 1024;

    private readonly RevisionDecoder _decoder = new();
    private readonly PooledBytes _counters = new();
    private readonly PooledBytes _row = new();
    private readonly List<PeekedRevision> _revisions = [];

    /// <summary>Replaces the configuration of a database's revisions. Changes no revision.</summary>
    public static OperationResult Configure(ApplyContext context, ReadOnlySpan<byte> encoded)
    {
        var configuration = RevisionsConfiguration.Decode(encoded);
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        var row = Key.WritePrefix(key, context.Database.Number, Table.RevisionsConfiguration);
        try
        {
            if (context.Batch.TryGet(row, out var previous))
            {
                context.Batch.ReleaseLarge(previous, context.Etag);
                previous.Dispose();
            }
        }
        catch (DamagedException) when (context.TreatsDamagedAsMissing)
        {
            // An export of damaged data need not release the space of what it replaces.
        }

        context.Batch.Put(row, context.Etag, encoded);
        context.Database.Revisions = configuration.IsEmpty ? null : configuration;
        return new OperationResult
        {
            Status = OperationStatus.Configured,
            Etag = context.Etag,
            LastModifiedTicks = context.LogTicks,
        };
    }

    /// <summary>Applies an operation on revisions.</summary>
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
        var command = operation.Revision;
        switch (command.Action)
        {
            case RevisionAction.Force:
                return Force(context, id, lowerId, previous, out result);
            case RevisionAction.Revert:
                return Revert(context, id, lowerId, previous, command.Etag, out result);
            case RevisionAction.Delete or RevisionAction.Enforce:
                return Remove(context, id, lowerId, previous, command, out result);
            default:
                throw new CommandFormatException(
                    $"Operation {(byte)command.Action} on revisions is not known to this version of Rookery."
                );
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _decoder.Dispose();
        _counters.Release();
        _row.Release();
    }

    // Stores the document again, so that it gets the flag HasRevisions and a change vector of its own, as in RavenDB.
    private Rejection? Force(
        ApplyContext context,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        out OperationResult result
    )
    {
        result = default;
        if (!previous.Exists)
        {
            return Refuse(
                context,
                id,
                RejectionKind.DocumentMissing,
                $"No revision of document {Encoding.UTF8.GetString(id)} can be forced, because the document was not "
                    + "saved on the server yet. Store it first."
            );
        }

        var view = previous.View;
        if (RevisionRows.FindState(context, lowerId, previous).LiveEtag != 0)
        {
            context.OperationsWithoutDocumentChange++;
            result = new OperationResult
            {
                Status = OperationStatus.NotModified,
                Etag = previous.Etag,
                LastModifiedTicks = view.LastModifiedTicks,
                Id = Encoding.UTF8.GetString(view.Id),
                Collection = context.Collection(view.Collection).TextOf(view.Collection),
            };
            return null;
        }

        context.Forcing = RevisionForcing.OfStored;
        long copied = (2 * previous.Length) + RevisionRows.CostOfCounters(context, view);
        if (context.Patches.ChargeParts(previous.Length, copied) is { } refusal)
        {
            context.Forcing = RevisionForcing.None;
            return Name(context, id, refusal);
        }

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
        ) with
        {
            Id = Encoding.UTF8.GetString(view.Id),
        };
        context.Forcing = RevisionForcing.None;
        return null;
    }

    private Rejection? Revert(
        ApplyContext context,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        long etag,
        out OperationResult result
    )
    {
        result = default;
        var state = RevisionRows.FindState(context, lowerId);
        if (previous.Exists && state.LiveEtag == etag && etag != 0)
        {
            context.OperationsWithoutDocumentChange++;
            result = new OperationResult
            {
                Status = OperationStatus.NotModified,
                Etag = previous.Etag,
                LastModifiedTicks = previous.Head.LastModifiedTicks,
            };
            return null;
        }

        _decoder.Reset();
        long copiedBefore = _decoder.CopiedBytes;
        if (!_decoder.TryRead(RevisionRows.SourceOf(context), lowerId, etag) || IsDelete(_decoder.View))
        {
            return Refuse(
                context,
                id,
                RejectionKind.Invalid,
                $"Document {Encoding.UTF8.GetString(id)} has no revision with the change vector "
                    + $"'{context.Database.Database.ChangeVectorOf(etag)}' that it could be reverted to. Nothing was "
                    + "stored; GET revisions lists those that it has."
            );
        }

        var view = _decoder.View;
        long stored = _decoder.Length + previous.Length;
        long counters = view.Counters.Count + (previous.Exists ? previous.Head.Counters.Count : 0);
        long copied =
            _decoder.CopiedBytes
            - copiedBefore
            + stored
            + (512L * AttachmentList.CountOf(view.Attachments))
            + (RevisionRows.BytesPerCounter * counters);
        if (context.Patches.ChargeParts(stored, copied) is { } refusal)
        {
            return Name(context, id, refusal);
        }

        // References are added before others are released, so that none falls to zero in between.
        var attachments = new AttachmentList(view.Attachments);
        while (attachments.TryRead(out var attachment))
        {
            ContentRows.Add(context, attachment.Hash, attachment.Size);
        }

        RestoreCounters(context, lowerId, previous, view);
        result = rows.Store(
            context,
            view.Id,
            lowerId,
            previous,
            view.Content,
            view.Collection,
            view.ExpiresAtTicks,
            OperationStatus.Stored,
            new DocumentParts { Counters = _counters.Written, Attachments = view.Attachments }
        ) with
        {
            Id = Encoding.UTF8.GetString(view.Id),
        };
        if (previous.Exists)
        {
            RevisionRows.ReleaseContents(context, previous.Head.Attachments);
        }

        return null;
    }

    private static bool IsDelete(scoped in DocumentView revision) =>
        !revision.Revisions.IsEmpty
        && ((RevisionFlags)revision.Revisions[0] & RevisionFlags.IsDelete) != RevisionFlags.None;

    // The document gets the counters of the revision with their values. Rows of its present counters then belong to no
    // document, because their etags are lower than those of the new ones.
    private void RestoreCounters(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        scoped in DocumentView revision
    )
    {
        _counters.Clear();
        if (previous.Exists)
        {
            CounterOperations.RemoveAll(context, previous.Head);
        }

        var restored = revision.Counters;
        if (restored.Stored.IsEmpty)
        {
            return;
        }

        DocumentCounters.WriteHead(_counters.Reserve(DocumentCounters.HeadBytes), context.Etag, restored.Count);
        _counters.Advance(DocumentCounters.HeadBytes);
        _counters.Append(restored.Names);
        context.Database.Counters.DocumentCounters += restored.Count;
        RevisionCounters.Restore(context, lowerId, restored.Names, revision.Revisions[1..]);
    }

    private Rejection? Remove(
        ApplyContext context,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        in RevisionCommand command,
        out OperationResult result
    )
    {
        context.OperationsWithoutDocumentChange++;
        result = default;
        var state = RevisionRows.FindState(context, lowerId);
        if (state.Count == 0)
        {
            return null;
        }

        if (context.Patches.ChargeParts(0, BytesPerRevision * state.Rows) is { } tooMany)
        {
            return Name(context, id, tooMany);
        }

        ReadAll(context, lowerId, previous, state);
        long removed = MarkRemoved(context, lowerId, previous, state, command);
        if (removed != 0 && KeepDecodable(context, lowerId) is { } refusal)
        {
            RevisionRows.Trim(_revisions);
            return Name(context, id, refusal);
        }

        if (removed != 0)
        {
            RemoveMarked(context, lowerId, previous, ref state);
        }

        RevisionRows.Trim(_revisions);
        if (removed == 0)
        {
            return null;
        }

        result = new OperationResult
        {
            Status = OperationStatus.Deleted,
            Etag = context.Etag,
            LastModifiedTicks = context.LogTicks,
            Low = removed,
        };
        return null;
    }

    // Reads all revisions, from the oldest to the newest; the last one is the document's version if that is a revision.
    private void ReadAll(ApplyContext context, ReadOnlySpan<byte> lowerId, in Document previous, RevisionState state)
    {
        _revisions.Clear();
        using (var found = RevisionRows.SourceOf(context).Seek(lowerId, state.FirstEtag, long.MaxValue))
        {
            while (found.MoveNext())
            {
                _revisions.Add(RevisionBytes.Peek(found));
            }
        }

        Invariant.Holds(
            _revisions.Count == state.Rows || context.TreatsDamagedAsMissing,
            "a document has as many rows of revisions as its state says"
        );
        if (state.LiveEtag != 0 && previous.Exists)
        {
            var head = previous.Head;
            var flags = head.Revisions.IsEmpty ? default : (RevisionFlags)head.Revisions[0];
            _revisions.Add(
                new PeekedRevision
                {
                    Etag = state.LiveEtag,
                    Ticks = head.LastModifiedTicks,
                    IsForced = (flags & RevisionFlags.IsForced) != RevisionFlags.None,
                }
            );
        }
    }

    private long MarkRemoved(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        RevisionState state,
        in RevisionCommand command
    )
    {
        long excess = long.MaxValue;
        long? minimumAge = null;
        if (command.Action == RevisionAction.Enforce && FindRule(context, lowerId, previous) is { } rule)
        {
            bool isPurged = rule.PurgesOnDelete && !rule.IsDisabled && !previous.Exists;
            minimumAge = isPurged ? null : rule.MinimumAgeTicks;
            excess =
                rule.IsDisabled ? 0
                : isPurged ? long.MaxValue
                : rule.MinimumToKeep is { } keep ? Math.Max(0, state.Count - keep)
                : minimumAge is null ? 0
                : long.MaxValue;
        }

        long removed = 0;
        for (int i = 0; i < Math.Min(_revisions.Count, excess); i++)
        {
            var revision = _revisions[i];
            bool isRemoved =
                (command.IncludesForced || !revision.IsForced)
                && (
                    command.Action == RevisionAction.Enforce
                        ? minimumAge is not { } age || context.Entry.IsOlder(revision.Ticks, age)
                        : revision.Ticks >= command.FromTicks
                            && revision.Ticks <= command.ToTicks
                            && command.Names(revision.Etag)
                );
            if (isRemoved)
            {
                _revisions[i] = revision with { IsRemoved = true };
                removed++;
            }
        }

        return removed;
    }

    private RevisionRule? FindRule(ApplyContext context, ReadOnlySpan<byte> lowerId, in Document previous)
    {
        if (context.Database.Revisions is not { } configuration)
        {
            return null;
        }

        if (previous.Exists)
        {
            return configuration.Find(previous.Head.Collection);
        }

        _decoder.Reset();
        return _decoder.TryRead(RevisionRows.SourceOf(context), lowerId, _revisions[^1].Etag)
            ? configuration.Find(_decoder.View.Collection)
            : null;
    }

    // A revision that is encoded by its differences from one that is removed is stored whole.
    private Rejection? KeepDecodable(ApplyContext context, ReadOnlySpan<byte> lowerId)
    {
        var source = RevisionRows.SourceOf(context);
        for (int i = 0; i + 1 < _revisions.Count; i++)
        {
            var revision = _revisions[i];
            if (revision.IsRemoved || !revision.IsDelta || !_revisions[i + 1].IsRemoved)
            {
                continue;
            }

            _decoder.Reset();
            long copiedBefore = _decoder.CopiedBytes;
            Invariant.Holds(_decoder.TryRead(source, lowerId, revision.Etag), "a row that a cursor found is there");
            var content = _decoder.View.Content;
            if (context.Patches.ChargeParts(content.Length, _decoder.CopiedBytes - copiedBefore) is { } refusal)
            {
                return refusal;
            }

            Rewrite(context, source, lowerId, revision, content);
            _revisions[i] = revision with { IsDelta = false };
        }

        return null;
    }

    private void Rewrite(
        ApplyContext context,
        in RevisionSource source,
        ReadOnlySpan<byte> lowerId,
        in PeekedRevision revision,
        ReadOnlySpan<byte> content
    )
    {
        Invariant.Holds(source.TryGetRevision(lowerId, revision.Etag, out var row), "a row that was read is there");
        using (var bytes = new RevisionBytes(row))
        {
            _row.Clear();
            RevisionRow.WritePrefix(
                _row.Reserve(RevisionRow.PrefixBytes),
                isDelta: false,
                revision.IsForced ? RevisionFlags.IsForced : RevisionFlags.None
            );
            _row.Advance(RevisionRow.PrefixBytes);
            _row.Append(new RevisionRow(bytes.Span).Head);
            context.Batch.ReleaseLarge(row, context.Etag);
        }

        Span<byte> key = stackalloc byte[Key.MaxBytes];
        context.Batch.Put(
            Key.WriteRevision(key, context.Database.Number, lowerId, revision.Etag),
            context.Etag,
            _row.Written,
            content
        );
    }

    private void RemoveMarked(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        ref RevisionState state
    )
    {
        long depth = 0;
        bool isChain = true; // whether all newer revisions that are left need a newer version
        long first = 0;
        for (int i = _revisions.Count - 1; i >= 0; i--)
        {
            var revision = _revisions[i];
            bool isLive = revision.Etag == state.LiveEtag;
            if (!revision.IsRemoved)
            {
                isChain &= isLive || revision.IsDelta;
                depth += isChain && !isLive ? 1 : 0;
                first = isLive ? first : revision.Etag;
                continue;
            }

            if (isLive)
            {
                RevisionRows.RemoveLive(context, ref state);
                continue;
            }

            if (revision.Etag == state.DeleteEtag)
            {
                RevisionRows.RemoveFromBin(context, ref state);
            }

            RevisionRows.RemoveRow(context, lowerId, revision);
            state.Rows--;
            context.Database.Counters.Revisions--;
        }

        state.FirstEtag = first;
        state.Depth = depth;
        if (state.Count == 0 && !previous.Exists)
        {
            context.Database.Counters.DeletedWithRevisions--;
        }

        RevisionRows.WriteState(context, lowerId, state, hadState: true);
    }

    private static Rejection Name(ApplyContext context, ReadOnlySpan<byte> id, Rejection refusal) =>
        refusal with
        {
            DocumentId = Encoding.UTF8.GetString(id),
            Database = context.Database.Database.Name,
        };

    private static Rejection Refuse(ApplyContext context, ReadOnlySpan<byte> id, RejectionKind kind, string message) =>
        Name(context, id, new Rejection(kind, message));
}
