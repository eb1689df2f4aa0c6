using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;

namespace Rookery.Documents.Nodes;

/// <summary>
/// Ends compare-exchange values on time for readers. A value that has expired is absent from the next entry of the log
/// on, by the entry's time. If no entry came since, a reader proposes the removal itself. So all readers and writers
/// see the same order: no value that was absent returns.
/// </summary>
public static class CompareExchangeExpiry
{
    /// <summary>
    /// Waits until all values of a database that have expired by the cluster's time are absent for the reads that
    /// follow. Costs one look-up if nothing has expired, and nothing in a database without values. Does nothing while
    /// the cluster's time is uncertain.
    /// </summary>
    public static async ValueTask EndDueValuesAsync(Database database, IConsensus consensus)
    {
        if (consensus.Time is not { IsSure: true, UtcTicks: var nowTicks } || !HasDueValues(database, nowTicks))
        {
            return;
        }

        byte[] from = [];
        if (
            Expiration.NextCommand(database, nowTicks, ref from, out _, CommandKind.ExpireCompareExchange) is
            { } command
        )
        {
            var outcome = await consensus.ProposeAsync(command, CancellationToken.None);
            if (outcome.Rejection is null)
            {
                await consensus.ReadBarrierAsync(); // the entry may be applied only at the leader yet
            }
        }
    }

    private static bool HasDueValues(Database database, long nowTicks)
    {
        using var reader = database.OpenReader();
        return reader.ReadStatistics().CompareExchangeValues > 0 && reader.HasDueCompareExchange(nowTicks);
    }
}
