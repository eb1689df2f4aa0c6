using Rookery.Documents.Apply;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Platform;

namespace Rookery.Documents.Redis;

/// <summary>The documents as the log has them between two commands of one entry.</summary>
/// <param name="rows">Stores documents.</param>
internal sealed class LogStore(DocumentRows rows) : RedisStore
{
    private ApplyContext? _context;
    private long _nextEtag;

    /// <summary>Number of documents stored and deleted by the command of the log.</summary>
    public long Writes { get; private set; }

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
        _nextEtag = context.Etag;
        NowTicks = context.LogTicks;
        ExpiryTicks = context.Entry.ExpiryTicks;
        Writes = 0;
        Refusal = null;
    }

    /// <summary>Charges the budget of the entry.</summary>
    /// <returns>False if the command is refused.</returns>
    public bool TryCharge(long storedBytes, long copiedBytes)
    {
        if (Refusal is null && Context.Patches.Charge(storedBytes, copiedBytes) is { } refusal)
        {
            Refusal =
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
                    );
        }

        return Refusal is null;
    }

    /// <inheritdoc/>
    public override Document Find(ReadOnlySpan<byte> lowerId)
    {
        var document = Context.FindDocument(lowerId);
        TryCharge(storedBytes: 0, document.Length);
        return document;
    }

    /// <inheritdoc/>
    public override void Put(RedisTarget target, RedisContent content)
    {
        var context = Context;
        if (HasParts(target) && !target.Exists && !TryDelete(target))
        {
            return; // the expired version has attachments or counters, which the new one must not get
        }

        var bytes = content.Written;
        var previous = target.Stored;
        if (
            !TryChargeParts(target, isDelete: false, bytes.Length)
            || !TryCharge(bytes.Length, previous.Length + bytes.Length)
        )
        {
            return;
        }

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
    public override void Delete(RedisTarget target) => TryDelete(target);

    /// <inheritdoc/>
    public override long CountDocuments() => Context.Database.Counters.Documents;

    private static bool HasParts(RedisTarget target)
    {
        if (!target.Stored.Exists)
        {
            return false;
        }

        var head = target.Stored.Head;
        return !head.CounterNames.IsEmpty || !head.Attachments.IsEmpty;
    }

    private bool TryDelete(RedisTarget target)
    {
        if (!TryChargeParts(target, isDelete: true, newLength: 0))
        {
            return false;
        }

        Context.Etag = _nextEtag++;
        rows.Delete(Context, target.LowerId, target.Stored);
        Writes++;
        target.Forget(exists: false);
        return true;
    }

    private bool TryChargeParts(RedisTarget target, bool isDelete, long newLength)
    {
        Refusal ??= DocumentRows.Charge(Context, target.LowerId, target.Stored, isDelete, newLength);
        return Refusal is null;
    }
}
