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
    private readonly RevisionDecoder _decoder = new();
    private readonly PooledBytes _counters = new();
    private readonly PooledBytes _row = new();
    private readonly RevisionRemoval _removal = new();

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

    /// <summary>Returns the refusal to force a revision of a missing document, as RavenDB words it.</summary>
    public static Rejection RefuseUnsaved(ApplyContext context, ReadOnlySpan<byte> id) =>
        Refuse(
            context,
            id,
            RejectionKind.NotPossible,
            "Can't force revision creation - the document was not saved on the server yet. Store document "
                + $"{Encoding.UTF8.GetString(id)} first."
        );

    /// <inheritdoc/>
    public void Dispose()
    {
        _decoder.Dispose();
        _removal.Dispose();
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
            return RefuseUnsaved(context, id);
        }

        var view = previous.View;
        if (RevisionStates.Find(context, lowerId, previous).LiveEtag != 0)
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
        long copied = (2 * previous.Length) + RevisionCosts.OfCounters(context, view);
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
        var state = RevisionStates.Find(context, lowerId);
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
        if (!_decoder.TryRead(RevisionStates.SourceOf(context), lowerId, etag) || IsDelete(_decoder.View))
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
        var state = RevisionStates.Find(context, lowerId);
        if (state.Count == 0)
        {
            return null;
        }

        // Half of what is left is for revisions that must be stored whole.
        long most = context.Patches.CopiedBytesLeft / 2 / RevisionRows.BytesPerRemoval;
        if (most < Math.Min(state.Count, RevisionRows.MaxDeletesPerEntry))
        {
            var refusal = context.Patches.ChargeParts(0, 2 * RevisionRows.BytesPerRemoval * state.Count);
            return refusal is null ? null : Name(context, id, refusal);
        }

        var source = RevisionStates.SourceOf(context);
        _removal.Choose(
            source,
            lowerId,
            previous,
            state,
            command,
            command.Action == RevisionAction.Enforce
                ? _removal.FindRule(source, lowerId, previous, context.Database.Revisions)
                : null,
            new RemovalTime(context.LogTicks, context.Entry.LastUnsteadyTicks),
            RevisionRows.MaxDeletesPerEntry
        );
        if ((Charge(context, id, command) ?? KeepDecodable(context, lowerId)) is { } tooMany)
        {
            RevisionRows.Trim(_removal.Revisions);
            return Name(context, id, tooMany);
        }

        if (_removal.Removed != 0)
        {
            RemoveMarked(context, lowerId, previous, ref state);
        }

        RevisionRows.Trim(_removal.Revisions);
        if (_removal.Removed == 0 && _removal.NextEtag == 0)
        {
            return null;
        }

        result = new OperationResult
        {
            Status = OperationStatus.Deleted,
            Etag = context.Etag,
            LastModifiedTicks = context.LogTicks,
            Low = _removal.Removed,
            High = _removal.NextEtag,
        };
        return null;
    }

    private Rejection? Charge(ApplyContext context, ReadOnlySpan<byte> id, scoped in RevisionCommand command)
    {
        if (command.Action == RevisionAction.Enforce && _removal.Removed == 0 && _removal.NextEtag != 0)
        {
            // An Enforce begins with the oldest revision, so it cannot continue after very many that stay.
            return new Rejection(
                RejectionKind.TooLarge,
                $"The {_removal.Revisions.Count} oldest revisions of document {Encoding.UTF8.GetString(id)} are "
                    + "forced, so the others were not looked at. Remove forced ones first: DELETE admin/revisions."
            );
        }

        return context.Patches.ChargeParts(
            0,
            (RevisionRemoval.BytesPerRevision * (long)_removal.Revisions.Count)
                + (RevisionRows.BytesPerRemoval * (long)_removal.Removed)
        );
    }

    // A revision that is encoded by its differences from one that is removed is stored whole. If that is too much for
    // one command, the newer revisions are left to the next one.
    private Rejection? KeepDecodable(ApplyContext context, ReadOnlySpan<byte> lowerId)
    {
        var source = RevisionStates.SourceOf(context);
        var decoder = _removal.Decoder;
        bool hasRemoved = false;
        for (int i = 0; i < _removal.Revisions.Count; i++)
        {
            var revision = _removal.Revisions[i];
            hasRemoved |= revision.IsRemoved;
            if (!_removal.LosesBase(i))
            {
                continue;
            }

            decoder.Reset();
            long copiedBefore = decoder.CopiedBytes;
            Invariant.Holds(decoder.TryRead(source, lowerId, revision.Etag), "a row that a cursor found is there");
            var content = decoder.View.Content;
            long copied = decoder.CopiedBytes - copiedBefore;
            if (hasRemoved && !context.Patches.HasRoom(content.Length, copied))
            {
                _removal.EndAt(i);
                return null;
            }

            if (context.Patches.ChargeParts(content.Length, copied) is { } refusal)
            {
                return refusal;
            }

            WholeRevision.Store(context, source, lowerId, revision, content, _row);
            _removal.Revisions[i] = revision with { IsDelta = false };
        }

        return null;
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
        bool isFromFirst = _removal.Revisions[0].Etag == state.FirstEtag || state.Rows == 0;
        long first = _removal.EtagAfter == state.LiveEtag ? 0 : _removal.EtagAfter;
        for (int i = _removal.Revisions.Count - 1; i >= 0; i--)
        {
            var revision = _removal.Revisions[i];
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

        state.FirstEtag = isFromFirst ? first : state.FirstEtag;
        // A chain that was not read whole is not longer than before.
        bool isCounted = _removal.IsToEnd && (isFromFirst || !isChain);
        state.Depth = isCounted ? depth : Math.Min(state.Depth, state.Rows);
        if (state.Count == 0 && !previous.Exists)
        {
            context.Database.Counters.DeletedWithRevisions--;
        }

        RevisionStates.Write(context, lowerId, state, hadState: true);
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
