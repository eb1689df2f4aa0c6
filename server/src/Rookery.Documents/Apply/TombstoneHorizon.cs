using Rookery.Documents.Consensus;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>Forgets deletions up to an etag. Whoever follows changes from below it must start over.</summary>
internal static class TombstoneHorizon
{
    public static OperationResult Raise(ApplyContext context, long horizon)
    {
        ref var counters = ref context.Database.Counters;

        // Above this command nothing was deleted yet, and who follows the changes must not be told to start over for
        // what he has not missed.
        horizon = Math.Min(horizon, context.Etag - 1);
        if (horizon <= counters.TombstoneHorizon)
        {
            return new OperationResult { Status = OperationStatus.NotFound, Etag = counters.TombstoneHorizon };
        }

        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        var first = Key.Number(from, context.Database.Number, Table.Tombstones, 0);
        var after = Key.Number(to, context.Database.Number, Table.Tombstones, horizon + 1);
        counters.Tombstones -= Count(context, first, after);
        context.Batch.DeleteRange(first, after, context.Etag);
        counters.TombstoneHorizon = horizon;
        return new OperationResult { Status = OperationStatus.Configured, Etag = horizon };
    }

    private static long Count(ApplyContext context, ReadOnlySpan<byte> first, ReadOnlySpan<byte> after)
    {
        long count = 0;
        using RowCursor rows = context.Batch.Seek(first, after);
        while (rows.MoveNext())
        {
            count++;
        }

        return count;
    }
}
