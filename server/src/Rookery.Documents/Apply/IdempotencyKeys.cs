using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>
/// Stores the outcomes of commands with an idempotency key, so that a retry is not applied again. An outcome is kept
/// for 24 hours of log time, unless the database stored <see cref="KeysPerDatabase"/> newer ones. A jump of the clock
/// expires no outcome.
/// </summary>
internal static class IdempotencyKeys
{
    /// <summary>Maximum number of keys that a database keeps.</summary>
    public const int KeysPerDatabase = 65_536;

    private const long LifetimeTicks = 24 * TimeSpan.TicksPerHour;

    // Each command adds one key and removes up to two. So a backlog shrinks, and no command removes many at once.
    private const int ForgottenPerCommand = 2;

    // Number of the oldest keys that one search reads. The cost of a search rises with the number of runs and of
    // tombstones of removed keys.
    private const int OldestKeysRead = 32;

    private static Rejection Reused { get; } =
        new(
            RejectionKind.IdempotencyKeyReused,
            "This Idempotency-Key or raft-request-id was used for another request already. Nothing of this request "
                + "was stored; give each request a key of its own."
        );

    /// <summary>Returns the row key of a command's outcome.</summary>
    public static ReadOnlySpan<byte> RowKey(Span<byte> buffer, uint database, IdempotencyKey key) =>
        Key.WriteNumbers(buffer, database, Table.Idempotency, (long)key.High, (long)key.Low);

    /// <summary>
    /// Looks up the outcome of an earlier command with this key. Returns that outcome if the request was the same;
    /// otherwise a refusal.
    /// </summary>
    /// <param name="context">The command that is being applied.</param>
    /// <param name="key">Its key.</param>
    /// <param name="request">The hash of its request.</param>
    /// <param name="outcome">The outcome or refusal.</param>
    /// <param name="hasExpired">Whether an outcome was found that has expired; it counts as missing.</param>
    public static bool TryFind(
        ApplyContext context,
        IdempotencyKey key,
        UInt128 request,
        out CommandOutcome outcome,
        out bool hasExpired
    )
    {
        try
        {
            return TryRead(context, key, request, out outcome, out hasExpired);
        }
        catch (DamagedException) when (context.TreatsDamagedAsMissing)
        {
            outcome = default;
            hasExpired = false;
            return false; // an export then carries out the command, because few commands are repeated
        }
    }

    private static bool TryRead(
        ApplyContext context,
        IdempotencyKey key,
        UInt128 request,
        out CommandOutcome outcome,
        out bool hasExpired
    )
    {
        Span<byte> buffer = stackalloc byte[Key.MaxBytes];
        outcome = default;
        hasExpired = false;
        if (!context.Batch.TryGet(RowKey(buffer, context, key), out var row))
        {
            return false;
        }

        using var value = new Document(row);
        hasExpired = context.Entry.IsOlder(OutcomeEncoding.LogTicksOf(value.Bytes), LifetimeTicks);
        if (hasExpired)
        {
            return false;
        }

        outcome =
            OutcomeEncoding.RequestOf(value.Bytes) == request
                ? OutcomeEncoding.Read(value.Bytes)
                : new CommandOutcome(Reused);
        return true;
    }

    /// <summary>Stores an outcome and removes up to two old ones.</summary>
    /// <param name="context">The command that was applied.</param>
    /// <param name="key">Its key.</param>
    /// <param name="request">The hash of its request.</param>
    /// <param name="lastEtag">Its last etag.</param>
    /// <param name="outcome">Its outcome.</param>
    /// <param name="hasExpired">What <see cref="TryFind"/> returned for the key.</param>
    public static void Store(
        ApplyContext context,
        IdempotencyKey key,
        UInt128 request,
        long lastEtag,
        in CommandOutcome outcome,
        bool hasExpired
    )
    {
        if (hasExpired)
        {
            RemoveExpired(context, key, lastEtag);
        }

        Span<byte> buffer = stackalloc byte[Key.MaxBytes];
        Span<byte> hash = stackalloc byte[IdempotencyKey.Length];
        using var value = CommandBuffer.Rent();
        OutcomeEncoding.Write(value, request, outcome);
        context.Batch.Put(RowKey(buffer, context, key), lastEtag, value.Written.Span);
        key.Write(hash);
        context.Batch.Put(OrderKey(buffer, context, context.LogTicks, lastEtag), lastEtag, hash);
        context.Database.Counters.IdempotencyKeys++;
        if (!context.TreatsDamagedAsMissing) // an export needs no room, and the oldest rows may be damaged
        {
            RemoveOldest(context, lastEtag);
        }
    }

    // Removes the outcome of an earlier, expired use of the key, with its row in the table by time. If this row stayed,
    // the new outcome would be removed when the old one is due.
    private static void RemoveExpired(ApplyContext context, IdempotencyKey key, long sequence)
    {
        Span<byte> buffer = stackalloc byte[Key.MaxBytes];
        bool isFound = context.Batch.TryGet(RowKey(buffer, context, key), out var row);
        Invariant.Holds(isFound, "an expired idempotency key has a row");
        using var old = new Document(row);
        context.Batch.Delete(OrderKey(buffer, context, OutcomeEncoding.LogTicksOf(old.Bytes), old.Etag), sequence);
        old.ReleaseLarge(context.Batch, sequence);
        context.Database.Counters.IdempotencyKeys--;
        context.Database.OldestKeys.Clear(); // the key may be one of them
    }

    private static void RemoveOldest(ApplyContext context, long sequence)
    {
        var database = context.Database;
        for (int i = 0; i < ForgottenPerCommand; i++)
        {
            if (database.OldestKeys.Count == 0)
            {
                ReadOldest(context);
            }

            if (
                !database.OldestKeys.TryPeek(out var oldest)
                || (
                    !context.Entry.IsOlder(oldest.LogTicks, LifetimeTicks)
                    && database.Counters.IdempotencyKeys <= KeysPerDatabase
                )
            )
            {
                return;
            }

            database.OldestKeys.Dequeue();
            Remove(context, oldest.LogTicks, oldest.Etag, oldest.Key, sequence);
        }
    }

    private static void Remove(ApplyContext context, long usedTicks, long etag, IdempotencyKey key, long sequence)
    {
        Span<byte> buffer = stackalloc byte[Key.MaxBytes];
        context.Batch.Delete(OrderKey(buffer, context, usedTicks, etag), sequence);
        var forgotten = RowKey(buffer, context, key);
        if (context.Batch.TryGet(forgotten, out var row))
        {
            using (row)
            {
                context.Batch.ReleaseLarge(row, sequence); // large outcomes are stored in chunks
            }
        }

        context.Batch.Delete(forgotten, sequence);
        ref var counters = ref context.Database.Counters;
        counters.IdempotencyKeys--;
        context.Database.LastForgottenKey = (usedTicks, etag);
        counters.IdempotencyHorizonTicks = Math.Max(counters.IdempotencyHorizonTicks, usedTicks + 1);
    }

    // Reads the oldest rows of the table by time. Log times rise, so later commands add keys only after these.
    private static void ReadOldest(ApplyContext context)
    {
        var database = context.Database;
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        using RowCursor rows = context.Batch.Seek(
            OldestKey(context, from),
            Key.WritePrefix(to, database.Number, Table.IdempotencyOrder + 1)
        );
        while (database.OldestKeys.Count < OldestKeysRead && rows.MoveNext())
        {
            database.OldestKeys.Enqueue(
                (Key.NumberOf(rows.Key), Key.LastNumberOf(rows.Key), IdempotencyKey.Read(rows.Value))
            );
        }
    }

    // The search starts after the last removed key. The tombstones of removed keys remain until a merge, and skipping
    // all of them for each search would take longer and longer. After a start, only the log time of the last removed
    // key is known, which all keys of one entry share.
    private static ReadOnlySpan<byte> OldestKey(ApplyContext context, Span<byte> buffer)
    {
        var database = context.Database;
        return database.LastForgottenKey is { } last
            ? OrderKey(buffer, context, last.LogTicks, last.Etag + 1)
            : Key.WriteNumber(
                buffer,
                database.Number,
                Table.IdempotencyOrder,
                Math.Max(database.Counters.IdempotencyHorizonTicks - 1, 0)
            );
    }

    private static ReadOnlySpan<byte> OrderKey(Span<byte> buffer, ApplyContext context, long usedTicks, long etag) =>
        Key.WriteNumbers(buffer, context.Database.Number, Table.IdempotencyOrder, usedTicks, etag);

    private static ReadOnlySpan<byte> RowKey(Span<byte> buffer, ApplyContext context, IdempotencyKey key) =>
        RowKey(buffer, context.Database.Number, key);
}
