using Rookery.Documents.Consensus;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>
/// Removes the tombstones of deletions up to an etag, the horizon. A reader that follows changes from an earlier etag
/// must start over.
/// </summary>
internal static class TombstoneHorizon
{
    /// <summary>Raises a database's horizon and removes the tombstones through it. Never lowers the horizon.</summary>
    public static OperationResult Raise(ApplyContext context, long horizon)
    {
        ref var counters = ref context.Database.Counters;

        // Deletions with later etags do not exist yet. A higher horizon would force readers to start over although they
        // missed nothing.
        horizon = Math.Min(horizon, context.Etag - 1);
        if (horizon <= counters.TombstoneHorizon)
        {
            return new OperationResult { Status = OperationStatus.NotFound, Etag = counters.TombstoneHorizon };
        }

        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        uint database = context.Database.Number;
        var after = Key.WriteNumber(to, database, Table.Tombstones, horizon + 1);

        // The rows up to the earlier horizon are deleted, but remain in files until merges rewrite them. To pass over
        // these rows would take longer with each command, and would stop the node at damage that the proposer, which
        // begins after the earlier horizon, has not found.
        var first = Key.WriteNumber(from, database, Table.Tombstones, counters.TombstoneHorizon + 1);
        counters.Tombstones -= Count(context, first, after);
        context.Batch.DeleteRange(Key.WriteNumber(from, database, Table.Tombstones, 0), after, context.Etag);
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
