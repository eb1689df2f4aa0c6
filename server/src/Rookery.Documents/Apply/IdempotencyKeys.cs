using System.Buffers.Binary;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
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

    private const int OrderKeyBytes = Key.PrefixBytes + (2 * sizeof(long));

    private static Rejection Reused { get; } =
        new(
            RejectionKind.IdempotencyKeyReused,
            "This Idempotency-Key was used for another request, whose outcome it stands for. Nothing of this "
                + "one was stored; give each request a key of its own."
        );

    /// <summary>Returns the row key of a command's outcome.</summary>
    public static ReadOnlySpan<byte> RowKey(Span<byte> buffer, uint database, IdempotencyKey key) =>
        Key.WriteNumbers(buffer, database, Table.Idempotency, (long)key.High, (long)key.Low);

    /// <summary>
    /// Looks up the outcome of an earlier command with this key. Returns that outcome if the request was the same;
    /// otherwise a refusal.
    /// </summary>
    public static bool TryFind(ApplyContext context, IdempotencyKey key, UInt128 request, out CommandOutcome outcome)
    {
        Span<byte> buffer = stackalloc byte[Key.MaxBytes];
        outcome = default;
        if (!context.Batch.TryGet(RowKey(buffer, context, key), out var row))
        {
            return false;
        }

        using var value = new Document(row);
        if (context.Entry.IsOlder(OutcomeEncoding.LogTicksOf(value.Bytes), LifetimeTicks))
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
    public static void Store(
        ApplyContext context,
        IdempotencyKey key,
        UInt128 request,
        long lastEtag,
        in CommandOutcome outcome
    )
    {
        uint database = context.Database.Number;
        Span<byte> buffer = stackalloc byte[Key.MaxBytes];
        Span<byte> hash = stackalloc byte[2 * sizeof(ulong)];
        using var value = CommandBuffer.Rent();
        OutcomeEncoding.Write(value, request, outcome);
        if (context.Batch.TryGet(RowKey(buffer, context, key), out var expired))
        {
            // The key was used before and expired. Its old place in the order would remove the new row too early.
            using var old = new Document(expired);
            context.Batch.Delete(
                Key.WriteNumbers(
                    buffer,
                    database,
                    Table.IdempotencyOrder,
                    OutcomeEncoding.LogTicksOf(old.Bytes),
                    old.Etag
                ),
                lastEtag
            );
            old.ReleaseLarge(context.Batch, lastEtag);
            context.Database.Counters.IdempotencyKeys--;
        }

        context.Batch.Put(RowKey(buffer, context, key), lastEtag, value.Written.Span);
        BinaryPrimitives.WriteUInt64BigEndian(hash, key.High);
        BinaryPrimitives.WriteUInt64BigEndian(hash[sizeof(ulong)..], key.Low);
        context.Batch.Put(
            Key.WriteNumbers(buffer, database, Table.IdempotencyOrder, context.LogTicks, lastEtag),
            lastEtag,
            hash
        );
        context.Database.Counters.IdempotencyKeys++;
        RemoveOldest(context, lastEtag);
    }

    private static void RemoveOldest(ApplyContext context, long sequence)
    {
        ref var counters = ref context.Database.Counters;
        Span<byte> oldest = stackalloc byte[OrderKeyBytes];
        Span<byte> buffer = stackalloc byte[Key.MaxBytes];
        Span<byte> hash = stackalloc byte[2 * sizeof(ulong)];
        for (int i = 0; i < ForgottenPerCommand; i++)
        {
            if (!TryReadOldest(context, oldest, hash))
            {
                return;
            }

            long usedTicks = Key.NumberOf(oldest);
            if (!context.Entry.IsOlder(usedTicks, LifetimeTicks) && counters.IdempotencyKeys <= KeysPerDatabase)
            {
                return;
            }

            context.Batch.Delete(oldest, sequence);
            var forgotten = Key.WriteText(buffer, context.Database.Number, Table.Idempotency, hash);
            if (context.Batch.TryGet(forgotten, out var row))
            {
                using (row)
                {
                    context.Batch.ReleaseLarge(row, sequence); // large outcomes are stored in chunks
                }
            }

            context.Batch.Delete(forgotten, sequence);
            counters.IdempotencyKeys--;
            context.Database.LastForgottenKey = (usedTicks, Key.LastNumberOf(oldest));
            counters.IdempotencyHorizonTicks = Math.Max(counters.IdempotencyHorizonTicks, usedTicks + 1);
        }
    }

    // Reads the oldest row of the order: its key, and the hash that is the key of the outcome.
    private static bool TryReadOldest(ApplyContext context, Span<byte> key, Span<byte> hash)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        using RowCursor rows = context.Batch.Seek(
            OldestKey(context, from),
            Key.WritePrefix(to, context.Database.Number, Table.IdempotencyOrder + 1)
        );
        if (!rows.MoveNext())
        {
            return false;
        }

        rows.Key.CopyTo(key);
        rows.Value.CopyTo(hash);
        return true;
    }

    // The search starts after the last removed key. The tombstones of removed keys remain until a merge, and skipping
    // all of them for each command would take longer and longer. After a start, only the log time of the last removed
    // key is known, which all keys of one entry have.
    private static ReadOnlySpan<byte> OldestKey(ApplyContext context, Span<byte> buffer)
    {
        var database = context.Database;
        return database.LastForgottenKey is { } last
            ? Key.WriteNumbers(buffer, database.Number, Table.IdempotencyOrder, last.LogTicks, last.Etag + 1)
            : Key.WriteNumber(
                buffer,
                database.Number,
                Table.IdempotencyOrder,
                Math.Max(database.Counters.IdempotencyHorizonTicks - 1, 0)
            );
    }

    private static ReadOnlySpan<byte> RowKey(Span<byte> buffer, ApplyContext context, IdempotencyKey key) =>
        RowKey(buffer, context.Database.Number, key);
}
