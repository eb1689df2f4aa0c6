using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Patching;
using Rookery.Documents.Revisions;
using Rookery.Documents.Schedules;
using Rookery.Documents.Stored;
using Rookery.Platform;

namespace Rookery.Documents.Apply;

/// <summary>
/// Puts, deletes and patches documents, and changes their counters and attachments. Results depend only on the log and
/// the tables.
/// </summary>
internal sealed class DocumentOperations : IDisposable
{
    private readonly CompareExchangeOperations _values;
    private readonly DocumentRows _rows;
    private readonly RevisionRows _revisions = new();
    private readonly AttachmentOperations _attachments;
    private readonly RevisionOperations _revisionOperations;
    private readonly VersionOperations _versions;
    private readonly PatchEvaluator _patches = new();
    private readonly PatchWriteOperations _writes;
    private readonly CounterOperations _counters = new();
    private readonly PooledBytes _metadata = new(); // of a document that is refreshed or archived
    private readonly PooledBytes _content = new();
    private readonly byte[] _id = new byte[DocumentId.MaxBytes];
    private readonly byte[] _lowerId = new byte[DocumentId.MaxBytes];
    private int _idLength;
    private int _lowerIdLength;

    public DocumentOperations(CompareExchangeOperations values)
    {
        _values = values;
        _rows = new DocumentRows(values, _revisions);
        _attachments = new AttachmentOperations(_rows);
        _writes = new PatchWriteOperations(_rows);
        _revisionOperations = new RevisionOperations(_rows);
        _versions = new VersionOperations(_rows);
    }

    /// <summary>Stores documents for operations of other types.</summary>
    public DocumentRows Rows => _rows;

    private ReadOnlySpan<byte> Id => _id.AsSpan(0, _idLength);

    private ReadOnlySpan<byte> LowerId => _lowerId.AsSpan(0, _lowerIdLength);

    /// <summary>Applies one operation of a batch.</summary>
    /// <returns>The reason to refuse the whole batch, or null.</returns>
    public Rejection? Apply(
        ApplyContext context,
        in Operation operation,
        bool skipUnchanged,
        out OperationResult result
    )
    {
        context.Forcing = RevisionForcing.None;
        context.GivenTicks = 0;
        if (operation.IsOfCounter)
        {
            return ApplyToCounter(context, operation, out result);
        }

        ResolveId(context, operation.Id);
        using var previous = context.FindDocument(LowerId);
        if (operation.IsOfAttachment)
        {
            return _attachments.Change(context, Id, LowerId, previous, operation, out result);
        }

        if (operation.Kind == OperationKind.Revision)
        {
            return _revisionOperations.Apply(context, Id, LowerId, previous, operation, out result);
        }

        if (operation.Kind == OperationKind.Version)
        {
            var version = operation.Version;
            context.GivenTicks = version.Ticks;
            if (version.Kind != VersionKind.Document)
            {
                return _versions.Apply(context, Id, LowerId, previous, operation, out result);
            }
        }

        context.Forcing = operation.ForcesRevision ? RevisionForcing.OfPrevious : RevisionForcing.None;
        if (ExpectedVersion.Check(context, Id, operation.Expected, previous) is { } conflict)
        {
            result = new OperationResult
            {
                Status = OperationStatus.Skipped,
                Etag = previous.Etag,
                LastModifiedTicks = previous.Exists ? previous.Head.LastModifiedTicks : 0,
            };
            return operation.Kind == OperationKind.Patch && operation.Patch.SkipsOnMismatch ? null : conflict;
        }

        if (operation is { Kind: OperationKind.Put, ForcesRevision: true } && !previous.Exists)
        {
            result = default;
            return RevisionOperations.RefuseUnsaved(context, Id);
        }

        // Puts, deletes and patches copy or remove the document's lists of counters and attachments. The bytes of these
        // lists count against the budget of the entry.
        bool isDelete = operation.Kind == OperationKind.Delete;
        if (DocumentRows.Charge(context, LowerId, previous, isDelete, operation.Content.Length) is { } tooLarge)
        {
            result = default;
            return tooLarge with { DocumentId = Encoding.UTF8.GetString(Id) };
        }

        switch (operation.Kind)
        {
            case OperationKind.Put or OperationKind.Version:
                result = DocumentRows.IsSkipped(context, previous, operation, skipUnchanged)
                    ? MakeUnchangedResult(context, previous)
                    : Put(context, previous, operation);
                return null;
            case OperationKind.Delete:
                result = _rows.Delete(context, LowerId, previous);
                return null;
            case OperationKind.Patch:
                var refusal = Patch(context, previous, operation.Patch, out result);
                _patches.End();
                return refusal;
            default:
                throw new CommandFormatException(
                    $"Operation {(byte)operation.Kind} is not known to this version of Rookery."
                );
        }
    }

    /// <summary>
    /// Checks an operation of a cluster-wide transaction. If the client names a change vector, the document must still
    /// have it; an empty one expects that the document does not exist. If the client names none, the document must not
    /// exist or must have no atomic guard (the compare-exchange value by which such transactions protect a document).
    /// </summary>
    /// <returns>The violation, or null.</returns>
    public ConcurrencyViolation? CheckInClusterTransaction(ApplyContext context, in Operation operation)
    {
        if (operation.Id.Kind != CommandIdKind.Literal)
        {
            return null; // the server chooses the id, so no client has read the document
        }

        ResolveId(context, operation.Id);
        using var previous = context.FindDocument(LowerId);
        if (operation.Expected.Expectation != Expectation.Anything)
        {
            bool mustNotExist = operation.Expected.Expectation == Expectation.MustNotExist;
            return ExpectedVersion.Check(context, Id, operation.Expected, previous) is null
                ? null
                : new ConcurrencyViolation(
                    Encoding.UTF8.GetString(Id),
                    IsDocument: true,
                    mustNotExist ? 0 : ChangeVector.EtagOf(operation.Expected.Text),
                    previous.Etag
                );
        }

        return previous.Exists && _values.HasGuard(context, LowerId)
            ? new ConcurrencyViolation(Encoding.UTF8.GetString(Id), IsDocument: true, Expected: 0, previous.Etag)
            : null;
    }

    /// <summary>Puts or deletes a document in a cluster-wide transaction, after its expected version was
    /// compared.</summary>
    /// <returns>The reason to refuse the whole transaction, or null.</returns>
    public Rejection? ApplyInClusterTransaction(
        ApplyContext context,
        in Operation operation,
        bool hasGuards,
        out OperationResult result
    )
    {
        ResolveId(context, operation.Id);
        using var previous = context.FindDocument(LowerId);
        bool isDelete = operation.Kind == OperationKind.Delete;
        context.Forcing = operation.ForcesRevision ? RevisionForcing.OfPrevious : RevisionForcing.None;
        if (DocumentRows.Charge(context, LowerId, previous, isDelete, operation.Content.Length) is { } tooLarge)
        {
            result = default;
            return tooLarge with { DocumentId = Encoding.UTF8.GetString(Id) };
        }

        if (isDelete)
        {
            result = _rows.Delete(context, LowerId, previous);
            return null;
        }

        if (hasGuards && CompareExchangeKey.FindGuardProblem(Id, LowerId) is { } problem)
        {
            result = default;
            return new Rejection(RejectionKind.Invalid, problem) { DocumentId = Encoding.UTF8.GetString(Id) };
        }

        result = Put(context, previous, operation);
        if (hasGuards)
        {
            _values.PutGuard(context, Id, LowerId);
        }

        return null;
    }

    /// <summary>
    /// Deletes an expired document if it still has the expected etag; otherwise does nothing. If the delete would purge
    /// very many revisions, removes only some of them and keeps the document. Later calls remove the others.
    /// </summary>
    public OperationResult Expire(ApplyContext context, ReadOnlySpan<byte> lowerId, long etag)
    {
        lowerId.CopyTo(_lowerId);
        _lowerIdLength = lowerId.Length;
        using var previous = context.FindDocument(lowerId);
        if (!previous.Exists || previous.Etag != etag)
        {
            return default;
        }

        if (_revisions.TryPurgeSome(context, LowerId, previous))
        {
            context.OperationsWithoutDocumentChange++;
            return default;
        }

        return _rows.Delete(context, LowerId, previous);
    }

    /// <summary>
    /// Stores a document that is refreshed or archived, with its changed metadata, if it still has the expected etag;
    /// otherwise does nothing.
    /// </summary>
    /// <returns>Whether a new version was stored.</returns>
    public bool TryChangeMetadata(ApplyContext context, ScheduleKind kind, in ScheduledDocument scheduled)
    {
        scheduled.LowerId.CopyTo(_lowerId);
        _lowerIdLength = scheduled.LowerId.Length;
        using var previous = context.FindDocument(scheduled.LowerId);
        if (!previous.Exists || previous.Etag != scheduled.Etag)
        {
            return false;
        }

        KeepStoredId(previous);
        var view = previous.View;
        _metadata.Clear(); // not afterwards, as Store may throw
        _content.Clear();
        ScheduledTimes.AppendChanged(_metadata, view.Metadata, kind);
        AppendPart(view.Collection);
        AppendPart(_metadata.Written);
        _content.Append(view.Body);
        Store(context, previous, _content.Written, view.Collection, view.ExpiresAtTicks, OperationStatus.Stored);
        return true;

        void AppendPart(ReadOnlySpan<byte> part) =>
            _content.Advance(Varint.WriteBytes(_content.Reserve(Varint.MaxBytes32 + part.Length), part));
    }

    /// <summary>Stores content that apply produced itself, under a literal id.</summary>
    public OperationResult PutContent(
        ApplyContext context,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        ReadOnlySpan<byte> content,
        ReadOnlySpan<byte> collection,
        long expiresAtTicks
    )
    {
        id.CopyTo(_id);
        _idLength = id.Length;
        lowerId.CopyTo(_lowerId);
        _lowerIdLength = lowerId.Length;
        return Store(context, previous, content, collection, expiresAtTicks, OperationStatus.Stored);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _patches.Dispose();
        _counters.Dispose();
        _writes.Dispose();
        _metadata.Release();
        _content.Release();
        _rows.Dispose();
        _revisions.Dispose();
        _revisionOperations.Dispose();
        _versions.Dispose();
    }

    private void ResolveId(ApplyContext context, in CommandId id)
    {
        if (id.Kind is not (CommandIdKind.Identity or CommandIdKind.NumberedInDatabase))
        {
            _idLength = id.Resolve(context.Etag, _id, _lowerId, out _lowerIdLength);
            return;
        }

        // As in RavenDB, skips a number if a client already stored a document under that id.
        var ids = new NumberedIds
        {
            Operations = this,
            Context = context,
            Id = id,
        };
        long number = IdentityOperations.TakeFree(context, id, ids);
        _idLength = id.Resolve(number, _id, _lowerId, out _lowerIdLength);
    }

    private bool IsTaken(ApplyContext context, in CommandId id, long number)
    {
        _idLength = id.Resolve(number, _id, _lowerId, out _lowerIdLength);
        using var existing = context.FindDocument(LowerId);
        return existing.Exists;
    }

    private OperationResult Put(ApplyContext context, in Document previous, in Operation operation)
    {
        var result = Store(
            context,
            previous,
            operation.Content,
            operation.Collection,
            operation.ExpiresAtTicks,
            OperationStatus.Stored
        );
        return operation.Id.Kind == CommandIdKind.Literal ? result : result with { Id = Encoding.UTF8.GetString(Id) };
    }

    private Rejection? Patch(
        ApplyContext context,
        in Document previous,
        in PatchProgram patch,
        out OperationResult result
    )
    {
        // The script may copy slightly more bytes than the budget has left. If it does, Charge refuses the command and
        // gives the right reason. Without the margin, the script would end with "too many steps".
        const int BytesBeyondBudget = 1024;
        _patches.CopiedBytesLeft = context.Patches.CopiedBytesLeft + BytesBeyondBudget;
        _patches.LogTicks = context.LogTicks;
        if (patch.Reaches) // other documents
        {
            _writes.Context = context;
            _patches.BeginWrites(_writes, LowerId, patch.ReservedEtags);
        }
        else
        {
            _patches.Writes.Clear();
        }

        var status = previous.Exists ? _patches.Apply(patch, previous.View) : _patches.ApplyToMissing(patch);
        if (status == PatchStatus.Failed)
        {
            result = default;
            string id = Encoding.UTF8.GetString(Id);
            var refused = _patches.IsChargedWhenFailed
                ? context.Patches.Charge(storedBytes: 0, previous.Length + _patches.CopiedBytes)
                : null;
            refused ??= new Rejection(
                patch.IsJsonPatch ? RejectionKind.Invalid : RejectionKind.PatchFailed,
                $"The patch of document {id} failed: {_patches.Failure}."
            );
            return refused with { DocumentId = id, Database = context.Database.Database.Name };
        }

        if (status == PatchStatus.DocumentDoesNotExist && patch.IsJsonPatch)
        {
            result = default;
            string id = Encoding.UTF8.GetString(Id);
            return new Rejection(
                RejectionKind.Invalid,
                $"Cannot apply json patch because the document {id} does not exist."
            )
            {
                DocumentId = id,
                Database = context.Database.Database.Name,
            };
        }

        long stored = status is PatchStatus.Created or PatchStatus.Patched ? _patches.Content.Length : 0;
        if (context.Patches.Charge(stored, previous.Length + stored + _patches.CopiedBytes) is { } refusal)
        {
            result = default;
            return refusal with { DocumentId = Encoding.UTF8.GetString(Id), Database = context.Database.Database.Name };
        }

        result = status switch
        {
            PatchStatus.Created or PatchStatus.Patched when _patches.Writes.ReplacesOwn => default, // set by _writes
            PatchStatus.Created or PatchStatus.Patched => StorePatched(context, previous, status),
            PatchStatus.NotModified => MakeUnchangedResult(context, previous),
            PatchStatus.Skipped => MakeUnchangedResult(context, previous) with { Status = OperationStatus.Skipped },
            _ => default,
        };
        if (patch.Reaches && _writes.Apply(_patches.Writes, ref result) is { } unwritten)
        {
            return unwritten;
        }

        if (patch.ReturnsDocument && result.Etag != 0 && context.HasCallers)
        {
            using var patched = context.FindDocument(LowerId);
            result = result with { Document = patched.Copy() };
        }

        return null;
    }

    private Rejection? ApplyToCounter(ApplyContext context, in Operation operation, out OperationResult result)
    {
        bool isGroupOpen = false;
        try
        {
            var refusal = ApplyInGroup(context, operation, out result);
            isGroupOpen = refusal is null or { Kind: RejectionKind.CounterOverflow } && !operation.EndsGroup;
            return refusal is null ? null : refusal with { Database = context.Database.Database.Name };
        }
        finally
        {
            if (!isGroupOpen)
            {
                _counters.End();
            }
        }
    }

    // A group: adjacent counter operations of one request on the same document.
    private Rejection? ApplyInGroup(ApplyContext context, in Operation operation, out OperationResult result)
    {
        result = default;
        if (operation.StartsGroup)
        {
            ResolveId(context, operation.Id);
            if (_counters.Begin(context, context.FindDocument(LowerId)) is { } tooLarge)
            {
                return tooLarge with { DocumentId = Encoding.UTF8.GetString(Id) };
            }
        }

        if (_counters.Apply(context, LowerId, operation, out result) is { } refusal)
        {
            return refusal;
        }

        if (!_counters.HasNewNames)
        {
            context.OperationsWithoutDocumentChange++;
            return null;
        }

        ref readonly var previous = ref _counters.Document;
        KeepStoredId(previous);
        var view = previous.View;
        var stored = _rows.Store(
            context,
            Id,
            LowerId,
            previous,
            view.Content,
            view.Collection,
            view.ExpiresAtTicks,
            result.Status,
            new DocumentParts { Counters = _counters.Stored, Attachments = view.Attachments }
        );
        // The group stored the document again, because the names of its counters changed. High records this.
        result = result with
        {
            Etag = stored.Etag,
            LastModifiedTicks = stored.LastModifiedTicks,
            High = OperationResult.Rewritten,
        };
        return null;
    }

    private void KeepStoredId(in Document previous)
    {
        var id = previous.Head.Id;
        id.CopyTo(_id);
        _idLength = id.Length;
    }

    private OperationResult StorePatched(ApplyContext context, in Document previous, PatchStatus status)
    {
        if (previous.Exists)
        {
            KeepStoredId(previous);
        }

        return Store(
            context,
            previous,
            _patches.Content,
            _patches.Collection,
            _patches.ExpiresAtTicks,
            status == PatchStatus.Created ? OperationStatus.Created : OperationStatus.Patched
        ) with
        {
            Id = Encoding.UTF8.GetString(Id),
        };
    }

    private static OperationResult MakeUnchangedResult(ApplyContext context, in Document previous) =>
        new()
        {
            Status = OperationStatus.NotModified,
            Etag = previous.Etag,
            LastModifiedTicks = previous.Head.LastModifiedTicks,
            Id = Encoding.UTF8.GetString(previous.Head.Id),
            Collection = context.Collection(previous.Head.Collection).TextOf(previous.Head.Collection),
        };

    private OperationResult Store(
        ApplyContext context,
        in Document previous,
        ReadOnlySpan<byte> content,
        ReadOnlySpan<byte> collection,
        long expiresAtTicks,
        OperationStatus status
    ) =>
        _rows.Store(
            context,
            Id,
            LowerId,
            previous,
            content,
            collection,
            expiresAtTicks,
            status,
            DocumentRows.KeptParts(context, previous)
        );

    private readonly ref struct NumberedIds : INumberedIds
    {
        public required DocumentOperations Operations { get; init; }

        public required ApplyContext Context { get; init; }

        public required CommandId Id { get; init; }

        public bool IsTaken(long number) => Operations.IsTaken(Context, Id, number);
    }
}
