using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;

namespace Rookery.Documents.Nodes;

/// <summary>
/// Finds deletions that are old enough to be forgotten and proposes a new tombstone horizon, by etag. Nothing is
/// written when there are none. Deletions are kept for whoever follows the changes and was away: 24 hours, as long as a
/// retry is recognised; who stays away longer starts over (docs/explanation/storage.md).
/// </summary>
internal sealed class TombstoneCleaning(NodeStore store, IConsensus consensus)
{
    /// <summary>How long a deletion is remembered at least.</summary>
    public static readonly TimeSpan Lifetime = TimeSpan.FromHours(24);

    /// <summary>
    /// How much older the oldest gets before any goes: a horizon deletes a range, which makes the memtable be flushed,
    /// so it rises once an hour and not once a minute.
    /// </summary>
    public static readonly TimeSpan Slack = TimeSpan.FromHours(1);

    // Apply counts them, about 5 ms a command: other writes get their turn between.
    private const int TombstonesPerCommand = 16_384;

    /// <summary>Goes through all databases once.</summary>
    public Task RunOnceAsync(CancellationToken cancellationToken) =>
        store.Databases.ForEachReadableAsync(RunOnceAsync, cancellationToken);

    private async Task RunOnceAsync(Database database, CancellationToken cancellationToken)
    {
        var (nowTicks, isSure) = consensus.Time;
        if (!isSure || store.AgesFromTicks > nowTicks - Lifetime.Ticks)
        {
            return; // a deletion before the time jumped may be younger than it seems
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
    /// The etag of the last deletion before <paramref name="beforeTicks"/>, or of the last that one command forgets; 0
    /// while the oldest is no older than <paramref name="oldestTicks"/>.
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
            Key.Number(from, database.Number, Table.Tombstones, statistics.TombstoneHorizon + 1),
            Key.Prefix(to, database.Number, Table.Tombstones + 1)
        );
        long horizon = 0;
        for (int found = 0; rows.MoveNext(); found++)
        {
            long deletedTicks = TombstoneValue.TicksOf(rows.Value);
            if (deletedTicks >= (found == 0 ? oldestTicks : beforeTicks))
            {
                return horizon;
            }

            if (found == TombstonesPerCommand)
            {
                isLast = false;
                return horizon;
            }

            horizon = Key.NumberOf(rows.Key);
        }

        return horizon;
    }
}
