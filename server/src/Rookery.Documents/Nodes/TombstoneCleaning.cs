using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;

namespace Rookery.Documents.Nodes;

/// <summary>
/// Removes old tombstones, by proposing a new tombstone horizon. Proposes nothing if no deletion is old enough.
/// Tombstones are kept for 24 hours, for readers that follow the changes. A reader that was away longer starts over
/// (docs/explanation/storage.md).
/// </summary>
internal sealed class TombstoneCleaning(NodeStore store, IConsensus consensus)
{
    /// <summary>Minimum time that a deletion is kept.</summary>
    public static readonly TimeSpan Lifetime = TimeSpan.FromHours(24);

    /// <summary>
    /// The horizon rises only when the oldest deletion is older than <see cref="Lifetime"/> and this time together.
    /// Raising it deletes a range, which forces a flush, so it rises at most about once an hour.
    /// </summary>
    public static readonly TimeSpan Slack = TimeSpan.FromHours(1);

    // Apply counts the tombstones, which takes about 5 ms for each command, so other writes are applied in between.
    private const int TombstonesPerCommand = 16_384;

    /// <summary>Raises the horizon of all databases, once.</summary>
    public Task RunOnceAsync(CancellationToken cancellationToken) =>
        store.Databases.ForEachReadableAsync(RunOnceAsync, cancellationToken);

    private async Task RunOnceAsync(Database database, CancellationToken cancellationToken)
    {
        var (nowTicks, isSure) = consensus.Time;
        if (!isSure || store.Applier.LastUnsteadyTicks > nowTicks - Lifetime.Ticks)
        {
            return; // a deletion from before a jump of the clock may be younger than its ticks say
        }

        long oldestTicks = nowTicks - (Lifetime + Slack).Ticks;
        while (
            consensus.IsLeader
            && NextHorizon(database, oldestTicks, nowTicks - Lifetime.Ticks, out bool isLast) is var horizon and > 0
        )
        {
            var outcome = await consensus.ProposeAsync(
                CommandEncoder.SetTombstoneHorizon(database.Number, horizon),
                cancellationToken
            );
            if (outcome.Rejection is not null || isLast)
            {
                break;
            }

            oldestTicks = nowTicks - Lifetime.Ticks;
        }
    }

    /// <summary>
    /// Returns the etag of the last deletion before <paramref name="beforeTicks"/>, limited to what one command may
    /// remove (then <paramref name="isLast"/> is false); 0 if the oldest deletion is not older than
    /// <paramref name="oldestTicks"/>.
    /// </summary>
    private static long NextHorizon(Database database, long oldestTicks, long beforeTicks, out bool isLast)
    {
        isLast = true;
        using var reader = database.OpenReader();
        var statistics = reader.ReadStatistics();
        if (statistics.Tombstones == 0)
        {
            return 0;
        }

        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        using var rows = reader.Snapshot.Seek(
            Key.WriteNumber(from, database.Number, Table.Tombstones, statistics.TombstoneHorizon + 1),
            Key.WritePrefix(to, database.Number, Table.Tombstones + 1)
        );
        long horizon = 0;
        for (int count = 0; rows.MoveNext(); count++)
        {
            long deletedTicks = TombstoneValue.TicksOf(rows.Value);
            if (deletedTicks >= (count == 0 ? oldestTicks : beforeTicks))
            {
                return horizon;
            }

            if (count == TombstonesPerCommand)
            {
                isLast = false;
                return horizon;
            }

            horizon = Key.NumberOf(rows.Key);
        }

        return horizon;
    }
}
