using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;

namespace Rookery.Documents.Nodes;

/// <summary>
/// Makes compare-exchange values absent for readers as soon as they have expired. The time of the newest log entry
/// decides which values are absent. If values have expired since that entry, a reader proposes the removal of one of
/// them: this adds an entry, with which all expired values become absent. So all readers and writers agree, and no
/// absent value returns. Concurrent readers of a database share one removal.
/// </summary>
public static class CompareExchangeExpiry
{
    // The first removal may be another reader's, proposed before this reader's values were due. The second is then this
    // reader's own. If the time of its entry is not steady, as after a jump of the clock, no value becomes absent, and
    // the reader proposes a third.
    private const int MaxRemovals = 3;

    /// <summary>
    /// Waits until all values of a database that have expired by the cluster's time are absent for the reads that
    /// follow. Costs one look-up if nothing has expired, and nothing in a database without values. Does nothing while
    /// the cluster's time is uncertain.
    /// </summary>
    public static ValueTask EndDueValuesAsync(Database database, IConsensus consensus) =>
        consensus.Time is { IsSure: true, UtcTicks: var nowTicks } && HasDueValues(database, nowTicks)
            ? EndDueValuesAsync(database, consensus, nowTicks)
            : default;

    private static async ValueTask EndDueValuesAsync(Database database, IConsensus consensus, long nowTicks)
    {
        for (int i = 0; i < MaxRemovals && HasDueValues(database, nowTicks); i++)
        {
            if (!await ShareRemovalAsync(database, consensus, nowTicks))
            {
                return;
            }
        }
    }

    // Waits for the removal that another reader began, or begins one. Returns false if values cannot be removed now.
    private static Task<bool> ShareRemovalAsync(Database database, IConsensus consensus, long nowTicks)
    {
        // The waiting readers continue on several threads. Otherwise one thread would answer them one after another.
        var removal = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        return database.TryBeginRemoval(removal.Task) ?? LeadRemovalAsync(database, consensus, nowTicks, removal);
    }

    private static async Task<bool> LeadRemovalAsync(
        Database database,
        IConsensus consensus,
        long nowTicks,
        TaskCompletionSource<bool> removal
    )
    {
        try
        {
            bool isRemoved = await RemoveOneAsync(database, consensus, nowTicks);
            database.EndRemoval();
            removal.SetResult(isRemoved);
            return isRemoved;
        }
        catch (Exception failure)
        {
            database.EndRemoval();
            removal.SetException(failure);
            _ = removal.Task.Exception; // marks the exception as observed, even if no other reader waits
            throw;
        }
    }

    private static async Task<bool> RemoveOneAsync(Database database, IConsensus consensus, long nowTicks)
    {
        byte[] from = FirstDueKey(database);
        if (
            Expiration.NextCommand(database, nowTicks, ref from, out _, CommandKind.ExpireCompareExchange, limit: 1)
            is not { } command
        )
        {
            return true; // another entry ended the values meanwhile, or they cannot be read
        }

        var outcome = await consensus.ProposeAsync(command, CancellationToken.None);
        // The entry may be applied only at the leader: wait until it is applied here, too.
        return outcome.Rejection is null && await consensus.ReadBarrierAsync();
    }

    // Returns the key at which the search for expired values starts. Values before it in the order of expiry are absent
    // already, removed or not.
    private static byte[] FirstDueKey(Database database)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        using var reader = database.OpenReader();
        return Key.WriteNumber(key, database.Number, Table.CompareExchangeExpiry, reader.ReadExpiryTicks() + 1)
            .ToArray();
    }

    private static bool HasDueValues(Database database, long nowTicks)
    {
        using var reader = database.OpenReader();
        return reader.ReadStatistics().CompareExchangeValues > 0 && reader.HasDueCompareExchange(nowTicks);
    }
}
