using System.Globalization;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Stored;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Apply;

/// <summary>
/// Puts and deletes compare-exchange values and atomic guards. The index of a value is the etag of the operation that
/// wrote it: etags are never used twice, so an index stands for one version only. A value that has expired is absent,
/// whether it is removed already or not. An atomic guard is a value that exists only as long as its document.
/// </summary>
internal sealed class CompareExchangeOperations
{
    // A longer value is not copied into the outcome, because many commands may fail at once. The caller reads such a
    // value itself.
    private const int CopiedBytes = 64 << 10;

    private readonly byte[] _key = new byte[CompareExchangeKey.MaxBytes];
    private readonly byte[] _lowerKey = new byte[CompareExchangeKey.MaxBytes];
    private readonly byte[] _head = new byte[StoredDocument.MaxHeadBytes];
    private readonly byte[] _guard = new byte[64 + (6 * DocumentId.MaxBytes)];

    /// <summary>Applies a put or delete that is a command of its own: a mismatch is a result, not a refusal.</summary>
    /// <returns>The reason to refuse the command, or null.</returns>
    public Rejection? Exchange(ApplyContext context, in Operation operation, out OperationResult result)
    {
        result = default;
        if (FindExpiryProblem(context, operation) is { } refusal)
        {
            return refusal;
        }

        var lowerKey = _lowerKey.AsSpan(0, operation.Id.WriteLowerName(_lowerKey));
        using var previous = context.FindCompareExchange(lowerKey);
        long index = IndexOf(context, previous);
        bool isDelete = operation.Kind == OperationKind.CompareExchangeDelete;
        if (isDelete && index == 0)
        {
            result = MakeResult(context, OperationStatus.NotFound);
            return null;
        }

        if (index != operation.ExpectedIndex)
        {
            result = MakeResult(context, OperationStatus.Mismatched) with
            {
                Etag = index == 0 ? context.Etag : index,
                Document = Copy(context, previous, index),
            };
            return null;
        }

        var copy = isDelete ? Copy(context, previous, index) : null;
        result = Change(context, operation, lowerKey, previous) with { Document = copy };
        return null;
    }

    /// <summary>
    /// Refuses a put of a value that has expired already, for example from a client whose clock is slow. Such a value
    /// would never exist. If it is a lock, this client and the next one would both believe that they hold it.
    /// </summary>
    /// <returns>The refusal, or null.</returns>
    public static Rejection? FindExpiryProblem(ApplyContext context, in Operation operation)
    {
        long expiresAtTicks = operation.ExpiresAtTicks;
        if (
            operation.Kind != OperationKind.CompareExchangePut
            || expiresAtTicks == 0
            || IsLive(context, expiresAtTicks)
        )
        {
            return null;
        }

        string key = Encoding.UTF8.GetString(operation.Id.Written);
        return new Rejection(
            RejectionKind.Invalid,
            $"The compare-exchange value {key} would expire at {Time(expiresAtTicks)}, but the cluster's time is "
                + $"{Time(context.Entry.ExpiryTicks)} already. Nothing was stored: send an @expires after that time, "
                + "and check the clock of this client."
        )
        {
            DocumentId = key,
        };

        static string Time(long ticks) =>
            new DateTime(ticks, DateTimeKind.Utc).ToString("O", CultureInfo.InvariantCulture);
    }

    /// <summary>Checks an operation of a cluster-wide transaction.</summary>
    /// <returns>The violation, or null.</returns>
    public ConcurrencyViolation? CheckInClusterTransaction(ApplyContext context, in Operation operation)
    {
        var lowerKey = _lowerKey.AsSpan(0, operation.Id.WriteLowerName(_lowerKey));
        using var previous = context.FindCompareExchange(lowerKey);
        long index = IndexOf(context, previous);
        return index == operation.ExpectedIndex
            ? null
            : new ConcurrencyViolation(
                Encoding.UTF8.GetString(operation.Id.Written),
                IsDocument: false,
                operation.ExpectedIndex,
                index
            );
    }

    /// <summary>Applies an operation of a cluster-wide transaction, after its expected version was compared.</summary>
    public OperationResult ApplyInClusterTransaction(ApplyContext context, in Operation operation)
    {
        var lowerKey = _lowerKey.AsSpan(0, operation.Id.WriteLowerName(_lowerKey));
        using var previous = context.FindCompareExchange(lowerKey);
        return Change(context, operation, lowerKey, previous);
    }

    /// <summary>Removes a value if it still has the index and has expired.</summary>
    public static bool TryExpire(ApplyContext context, ReadOnlySpan<byte> lowerKey, long index)
    {
        using var value = context.FindCompareExchange(lowerKey);
        if (!value.Exists || value.Etag != index || IsLive(context, value.Head.ExpiresAtTicks))
        {
            return false;
        }

        Remove(context, lowerKey, value);
        return true;
    }

    /// <summary>Whether the document has an atomic guard.</summary>
    public bool HasGuard(ApplyContext context, ReadOnlySpan<byte> lowerId)
    {
        using var guard = FindGuard(context, lowerId, out _);
        return guard.Exists;
    }

    /// <summary>Stores the atomic guard of a document that the current operation stored.</summary>
    public void PutGuard(ApplyContext context, ReadOnlySpan<byte> id, ReadOnlySpan<byte> lowerId)
    {
        using var previous = FindGuard(context, lowerId, out var lowerKey);
        CompareExchangeKey.GuardPrefix.CopyTo(_key);
        id.CopyTo(_key.AsSpan(CompareExchangeKey.GuardPrefix.Length));
        var key = _key.AsSpan(0, CompareExchangeKey.GuardPrefix.Length + id.Length);

        // The content of a stored document without collection and metadata: {"Object":{"Id":"…"}}.
        ReadOnlySpan<byte> beforeId = "\0\0\"Object\":{\"Id\":\""u8;
        beforeId.CopyTo(_guard);
        int length = beforeId.Length + JsonText.Escape(id, _guard.AsSpan(beforeId.Length));
        "\"}"u8.CopyTo(_guard.AsSpan(length));
        Put(context, key, lowerKey, previous, _guard.AsSpan(0, length + 2), expiresAtTicks: 0);
    }

    /// <summary>Removes the atomic guard of a document that the current operation deleted.</summary>
    public void RemoveGuard(ApplyContext context, ReadOnlySpan<byte> lowerId)
    {
        if (context.Database.Counters.CompareExchangeValues == 0)
        {
            return; // most databases have none, and need no look-up for each deletion
        }

        using var guard = FindGuard(context, lowerId, out var lowerKey);
        if (guard.Exists)
        {
            Remove(context, lowerKey, guard);
        }
    }

    private Document FindGuard(ApplyContext context, ReadOnlySpan<byte> lowerId, out ReadOnlySpan<byte> lowerKey)
    {
        lowerKey = default;
        if (lowerId.Length > CompareExchangeKey.MaxBytes - CompareExchangeKey.GuardPrefix.Length)
        {
            return default;
        }

        CompareExchangeKey.GuardPrefix.CopyTo(_lowerKey);
        lowerId.CopyTo(_lowerKey.AsSpan(CompareExchangeKey.GuardPrefix.Length));
        lowerKey = _lowerKey.AsSpan(0, CompareExchangeKey.GuardPrefix.Length + lowerId.Length);
        return context.FindCompareExchange(lowerKey);
    }

    private OperationResult Change(
        ApplyContext context,
        in Operation operation,
        ReadOnlySpan<byte> lowerKey,
        in Document previous
    )
    {
        if (operation.Kind == OperationKind.CompareExchangePut)
        {
            Put(context, operation.Id.Written, lowerKey, previous, operation.Content, operation.ExpiresAtTicks);
            return MakeResult(context, OperationStatus.Stored);
        }

        if (!previous.Exists)
        {
            return MakeResult(context, OperationStatus.NotFound);
        }

        Remove(context, lowerKey, previous);
        return MakeResult(context, OperationStatus.Deleted);
    }

    private void Put(
        ApplyContext context,
        ReadOnlySpan<byte> key,
        ReadOnlySpan<byte> lowerKey,
        in Document previous,
        ReadOnlySpan<byte> content,
        long expiresAtTicks
    )
    {
        RemovePrevious(context, previous);
        context.Database.Counters.CompareExchangeValues += previous.Exists ? 0 : 1;
        Span<byte> row = stackalloc byte[Key.MaxBytes];
        uint database = context.Database.Number;
        int headLength = StoredDocument.WriteHead(_head, key, context.LogTicks, expiresAtTicks);
        context.Batch.Put(
            Key.WriteText(row, database, Table.CompareExchange, lowerKey),
            context.Etag,
            _head.AsSpan(0, headLength),
            content
        );
        if (expiresAtTicks != 0)
        {
            context.Batch.Put(
                Key.WriteNumbers(row, database, Table.CompareExchangeExpiry, expiresAtTicks, context.Etag),
                context.Etag,
                lowerKey
            );
        }
    }

    private static void Remove(ApplyContext context, ReadOnlySpan<byte> lowerKey, in Document value)
    {
        RemovePrevious(context, value);
        Span<byte> row = stackalloc byte[Key.MaxBytes];
        context.Batch.Delete(
            Key.WriteText(row, context.Database.Number, Table.CompareExchange, lowerKey),
            context.Etag
        );
        context.Database.Counters.CompareExchangeValues--;
        Invariant.Holds(
            context.Database.Counters.CompareExchangeValues >= 0 || context.TreatsDamagedAsMissing,
            "the number of compare-exchange values is not negative"
        );
    }

    private static void RemovePrevious(ApplyContext context, in Document previous)
    {
        if (!previous.Exists)
        {
            return;
        }

        long expiresAtTicks = previous.Head.ExpiresAtTicks;
        if (expiresAtTicks != 0)
        {
            Span<byte> row = stackalloc byte[Key.MaxBytes];
            context.Batch.Delete(
                Key.WriteNumbers(
                    row,
                    context.Database.Number,
                    Table.CompareExchangeExpiry,
                    expiresAtTicks,
                    previous.Etag
                ),
                context.Etag
            );
        }

        previous.ReleaseLarge(context.Batch, context.Etag);
    }

    // Zero ticks stand for a value that never expires.
    private static bool IsLive(ApplyContext context, long expiresAtTicks) =>
        expiresAtTicks == 0 || expiresAtTicks > context.Entry.ExpiryTicks;

    // Index of a value; 0 if there is none or if it has expired.
    private static long IndexOf(ApplyContext context, in Document value) =>
        value.Exists && IsLive(context, value.Head.ExpiresAtTicks) ? value.Etag : 0;

    private static CommandBuffer? Copy(ApplyContext context, in Document value, long index) =>
        index != 0 && context.HasCallers && value.Length <= CopiedBytes ? value.Copy() : null;

    private static OperationResult MakeResult(ApplyContext context, OperationStatus status) =>
        new()
        {
            Status = status,
            Etag = context.Etag,
            LastModifiedTicks = context.LogTicks,
        };
}
