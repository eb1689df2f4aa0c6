using System.Buffers.Binary;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>
/// Remembers the outcomes of commands that carry an idempotency key, so that a retry is applied once: for 24 hours of
/// log time, or the newest
/// <see cref="KeysPerDatabase"/> of a database. A jump of the time ages none. What is older than the database's horizon
/// may be forgotten.
/// </summary>
internal static class IdempotencyKeys
{
    /// <summary>How many keys a database remembers at most.</summary>
    public const int KeysPerDatabase = 65_536;

    private const long LifetimeTicks = 24 * TimeSpan.TicksPerHour;

    // Two go for each that comes, so that a backlog shrinks, and no command pays for many.
    private const int ForgottenPerCommand = 2;

    private const int OrderKeyBytes = Key.PrefixBytes + (2 * sizeof(long));

    private static Rejection Reused { get; } =
        new(
            RejectionKind.IdempotencyKeyReused,
            "This Idempotency-Key was used for another request, whose outcome it stands for. Nothing of this "
                + "one was stored; give each request a key of its own."
        );

    /// <summary>The key of the row that remembers a command.</summary>
    public static ReadOnlySpan<byte> RowKey(Span<byte> buffer, uint database, IdempotencyKey key) =>
        Key.Numbers(buffer, database, Table.Idempotency, (long)key.High, (long)key.Low);

    /// <summary>
    /// The outcome of an earlier command with this key: its own if it asked for the same, or a refusal.
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
        if (context.Frame.IsOlder(OutcomeEncoding.LogTicksOf(value.Bytes), LifetimeTicks))
        {
            return false;
        }

        outcome =
            OutcomeEncoding.RequestOf(value.Bytes) == request
                ? OutcomeEncoding.Read(value.Bytes)
                : new CommandOutcome(Reused);
        return true;
    }

    /// <summary>Remembers an outcome and forgets old ones.</summary>
    public static void Remember(
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
            // The same key after its time: its old place in the order would forget the new row.
            using var old = new Document(expired);
            context.Batch.Delete(
                Key.Numbers(buffer, database, Table.IdempotencyOrder, OutcomeEncoding.LogTicksOf(old.Bytes), old.Etag),
                lastEtag
            );
            old.ReleaseLarge(context.Batch, lastEtag);
            context.Database.Counters.IdempotencyKeys--;
        }

        context.Batch.Put(RowKey(buffer, context, key), lastEtag, value.Written.Span);
        BinaryPrimitives.WriteUInt64BigEndian(hash, key.High);
        BinaryPrimitives.WriteUInt64BigEndian(hash[sizeof(ulong)..], key.Low);
        context.Batch.Put(
            Key.Numbers(buffer, database, Table.IdempotencyOrder, context.LogTicks, lastEtag),
            lastEtag,
            hash
        );
        context.Database.Counters.IdempotencyKeys++;
        Forget(context, lastEtag);
    }

    private static void Forget(ApplyContext context, long sequence)
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
            if (!context.Frame.IsOlder(usedTicks, LifetimeTicks) && counters.IdempotencyKeys <= KeysPerDatabase)
            {
                return;
            }

            context.Batch.Delete(oldest, sequence);
            var forgotten = Key.Text(buffer, context.Database.Number, Table.Idempotency, hash);
            if (context.Batch.TryGet(forgotten, out var row))
            {
                using (row)
                {
                    context.Batch.ReleaseLarge(row, sequence); // the outcome of a batch of thousands lies in chunks
                }
            }

            context.Batch.Delete(forgotten, sequence);
            counters.IdempotencyKeys--;
            context.Database.LastForgottenKey = (usedTicks, Key.LastNumberOf(oldest));
            counters.IdempotencyHorizonTicks = Math.Max(counters.IdempotencyHorizonTicks, usedTicks + 1);
        }
    }

    private static bool TryReadOldest(ApplyContext context, Span<byte> key, Span<byte> hash)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        using RowCursor rows = context.Batch.Seek(
            OldestKey(context, from),
            Key.Prefix(to, context.Database.Number, Table.IdempotencyOrder + 1)
        );
        if (!rows.MoveNext())
        {
            return false;
        }

        rows.Key.CopyTo(key);
        rows.Value.CopyTo(hash);
        return true;
    }

    // Behind what was forgotten: its tombstones stay until they are compacted, and a walk over them for each command
    // would take longer with every one. Before the first command after a start only the log time of the last forgotten
    // key is known, of which a frame's commands share one.
    private static ReadOnlySpan<byte> OldestKey(ApplyContext context, Span<byte> buffer)
    {
        var database = context.Database;
        return database.LastForgottenKey is { } last
            ? Key.Numbers(buffer, database.Number, Table.IdempotencyOrder, last.LogTicks, last.Etag + 1)
            : Key.Number(
                buffer,
                database.Number,
                Table.IdempotencyOrder,
                Math.Max(database.Counters.IdempotencyHorizonTicks - 1, 0)
            );
    }

    private static ReadOnlySpan<byte> RowKey(Span<byte> buffer, ApplyContext context, IdempotencyKey key) =>
        RowKey(buffer, context.Database.Number, key);
}
