using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// Finds documents whose time is over and proposes their deletion, by id and etag. Nothing is written when nothing
/// expires, and nothing expires while the cluster's time is in doubt.
/// </summary>
internal sealed class Expiration(DatabaseCatalog databases, IConsensus consensus)
{
    // About 100 KiB a command: other writes get their turn between.
    private const int DocumentsPerCommand = 1024;

    /// <summary>Goes through all databases once.</summary>
    public Task RunOnceAsync(CancellationToken cancellationToken) =>
        databases.ForEachReadableAsync(RunOnceAsync, cancellationToken);

    private async Task RunOnceAsync(Database database, CancellationToken cancellationToken)
    {
        byte[] from = [];
        while (
            consensus.IsLeader
            && consensus.Time is { IsSure: true, UtcTicks: var nowTicks }
            && NextCommand(database, nowTicks, ref from, out int found) is { } command
        )
        {
            var outcome = await consensus.ProposeAsync(command, cancellationToken);
            if (outcome.Rejection is not null || found < DocumentsPerCommand)
            {
                break;
            }
        }
    }

    /// <summary>
    /// The command that deletes the documents that expired first; null when none did. Those that cannot be read stay:
    /// they must not keep the others from going.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="nowTicks">The time.</param>
    /// <param name="from">
    /// Where to begin: empty in the first command of a round, then behind the one before. From the table's start each
    /// would walk over what all those before it deleted. What is stored with an earlier time meanwhile goes in the next
    /// round.
    /// </param>
    /// <param name="found">Documents in the command.</param>
    internal static CommandBuffer? NextCommand(Database database, long nowTicks, ref byte[] from, out int found)
    {
        Span<byte> start = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        using var reader = database.OpenReader();
        using var rows = reader.Snapshot.Seek(
            from.Length > 0 ? from : Key.Prefix(start, database.Number, Table.Expiry),
            Key.Number(to, database.Number, Table.Expiry, nowTicks + 1)
        );
        found = 0;
        if (!rows.MoveNext())
        {
            return null;
        }

        using var writer = new ExpiryWriter(database.Number);
        do
        {
            if (IsReadable(reader, rows.Value))
            {
                writer.Add(rows.Value, rows.Sequence);
                found++;
            }

            if (found == DocumentsPerCommand)
            {
                from = [.. rows.Key, 0]; // the smallest key behind it
                break;
            }
        } while (rows.MoveNext());
        return found == 0 ? null : writer.Complete();
    }

    private static bool IsReadable(in DatabaseReader reader, ReadOnlySpan<byte> lowerId)
    {
        try
        {
            if (reader.TryGetByLowerId(lowerId, out var document))
            {
                document.Dispose();
            }

            return true;
        }
        catch (DamagedException)
        {
            return false;
        }
    }
}
