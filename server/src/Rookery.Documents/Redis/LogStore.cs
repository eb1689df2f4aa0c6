using System.Diagnostics.CodeAnalysis;
using Rookery.Documents.Apply;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Platform;

namespace Rookery.Documents.Redis;

/// <summary>
/// The documents as a command of the log finds them: with the changes of the commands before it in the entry.
/// </summary>
/// <param name="rows">Stores documents.</param>
internal sealed class LogStore(DocumentRows rows) : RedisStore
{
    // A lookup takes about as long as copying this many bytes.
    private const int BytesPerLookup = 256;

    private const int MaxTombstonesOfGuard = 4096;

    private ApplyContext? _context;
    private long _firstEtag;
    private long _nextEtag;

    /// <summary>Number of documents stored and deleted by the command of the log.</summary>
    public long Writes { get; private set; }

    /// <summary>
    /// Whether the command stores or deletes documents whatever their previous versions are. An export of damaged data
    /// carries out such a command although a document is damaged, and leaves out the others: their results would look
    /// complete, but lack what was damaged.
    /// </summary>
    public bool Overwrites { get; set; }

    /// <summary>Number of etags used.</summary>
    public long Etags => _nextEtag - _firstEtag;

    /// <summary>The reason to refuse the command of the log; null if there is none.</summary>
    public Rejection? Refusal { get; private set; }

    /// <inheritdoc/>
    public override long Seed => NowTicks + _nextEtag;

    /// <inheritdoc/>
    public override bool CanWalk => false;

    private ApplyContext Context => _context ?? throw new InvalidOperationException("no command is being applied");

    /// <summary>Begins a command of the log.</summary>
    public void Begin(ApplyContext context)
    {
        _context = context;
        _firstEtag = _nextEtag = context.Etag;
        NowTicks = context.LogTicks;
        ExpiryTicks = context.Database.Configurations.KeepsExpired ? 0 : context.Entry.ExpiryTicks;
        Writes = 0;
        Overwrites = false;
        Refusal = null;
    }

    /// <summary>Charges the budget of the entry.</summary>
    /// <exception cref="RedisLimitException">The command of the log is refused: see <see cref="Refusal"/>.</exception>
    public void Charge(long storedBytes, long copiedBytes)
    {
        if (Context.Patches.Charge(storedBytes, copiedBytes) is { } refusal)
        {
            Refuse(
                refusal.Kind == RejectionKind.Overloaded
                    ? new Rejection(
                        RejectionKind.Overloaded,
                        "Too many changes of large documents came at once. Nothing of these commands was carried out; "
                            + "try again in a second."
                    )
                    : new Rejection(
                        RejectionKind.TooLarge,
                        $"The commands store more than {Amount.Bytes(PatchBudget.StoredBytesPerCommand)} of documents, "
                            + $"or copy more than {Amount.Bytes(PatchBudget.CopiedBytesPerCommand)} on the way. "
                            + "Nothing of them was carried out; send fewer commands at once."
                    )
            );
        }
    }

    /// <inheritdoc/>
    public override void Spend(long bytes) => Charge(storedBytes: 0, bytes);

    /// <inheritdoc/>
    public override Document Find(ReadOnlySpan<byte> lowerId)
    {
        var document = Context.FindDocument(lowerId);
        if (Context.Damage is { } damage && !Overwrites)
        {
            Refuse(new Rejection(RejectionKind.Damaged, damage.Sentence)); // only in exports
        }

        try
        {
            Charge(storedBytes: 0, document.Length + BytesPerLookup);
        }
        catch (RedisLimitException)
        {
            document.Dispose();
            throw;
        }

        return document;
    }

    /// <inheritdoc/>
    public override void Put(RedisTarget target, RedisContent content)
    {
        var context = Context;
        if (HasParts(target) && !target.Exists)
        {
            Delete(target); // the expired version has attachments or counters, which the new one must not get
        }

        var bytes = content.Written;
        if (bytes.Length > DocumentLimits.MaxDocumentBytes)
        {
            // Another client's document of nearly this length gets @redis or @expires.
            Refuse(
                new Rejection(
                    RejectionKind.TooLarge,
                    $"A document would be larger than {Amount.Bytes(DocumentLimits.MaxDocumentBytes)}. Nothing of the "
                        + "commands was carried out; shorten it first."
                )
            );
        }

        var previous = target.Stored;
        ChargeParts(target, isDelete: false, bytes.Length);
        Charge(bytes.Length, previous.Length + bytes.Length);
        context.Etag = _nextEtag++;
        rows.Store(
            context,
            target.Id,
            target.LowerId,
            previous,
            bytes,
            content.Collection,
            content.ExpiresAtTicks,
            OperationStatus.Stored,
            DocumentRows.KeptParts(context, previous)
        );
        Writes++;
        target.Forget(exists: true);
    }

    /// <inheritdoc/>
    public override void Replace(RedisTarget target, RedisContent content)
    {
        if (HasParts(target))
        {
            Delete(target);
        }

        Put(target, content);
    }

    /// <inheritdoc/>
    public override void Delete(RedisTarget target)
    {
        ChargeParts(target, isDelete: true, newLength: 0);
        Context.Etag = _nextEtag++;
        rows.Delete(Context, target.LowerId, target.Stored);
        Writes++;
        target.Forget(exists: false);
    }

    /// <inheritdoc/>
    public override long CountDocuments() => Context.Database.Counters.Documents;

    /// <summary>
    /// Returns whether an absent key may have existed after an etag. If more keys were deleted since then than a guard
    /// reads, or their tombstones were removed, returns true.
    /// </summary>
    /// <param name="target">The key.</param>
    /// <param name="etag">The etag of the last operation before.</param>
    /// <exception cref="RedisLimitException">The guards take more work than a command of the log may.</exception>
    public bool MayHaveExistedSince(RedisTarget target, long etag)
    {
        var context = Context;
        var counters = context.Database.Counters;
        if (counters.LastDocumentEtag <= etag)
        {
            return false;
        }

        if (counters.TombstoneHorizon > etag || (target.Stored.Exists && target.Stored.Etag > etag))
        {
            return true;
        }

        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        uint database = context.Database.Number;
        using var tombstones = context.Batch.Seek(
            Key.WriteNumber(from, database, Table.Tombstones, etag + 1),
            Key.WritePrefix(to, database, Table.Tombstones + 1)
        );
        Span<byte> lowerId = stackalloc byte[DocumentId.MaxBytes];
        for (int read = 0; tombstones.MoveNext(); read++)
        {
            Charge(storedBytes: 0, BytesPerLookup);
            if (
                read == MaxTombstonesOfGuard
                || (
                    DocumentId.TryToLower(TombstoneValue.IdOf(tombstones.Value), lowerId, out int length)
                    && lowerId[..length].SequenceEqual(target.LowerId)
                )
            )
            {
                return true;
            }
        }

        return false;
    }

    private static bool HasParts(RedisTarget target)
    {
        if (!target.Stored.Exists)
        {
            return false;
        }

        var head = target.Stored.Head;
        return !head.CounterNames.IsEmpty || !head.Attachments.IsEmpty;
    }

    private void ChargeParts(RedisTarget target, bool isDelete, long newLength)
    {
        if (DocumentRows.Charge(Context, target.LowerId, target.Stored, isDelete, newLength) is { } refusal)
        {
            Refuse(refusal);
        }
    }

    [DoesNotReturn]
    private void Refuse(Rejection refusal)
    {
        Refusal = refusal;
        throw new RedisLimitException(refusal.Message);
    }
}
