using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// Finds expired documents and proposes their deletion, by id and etag. Writes nothing if no document expired, and
/// deletes nothing while the cluster's time is uncertain.
/// </summary>
internal sealed class Expiration(DatabaseCatalog databases, IConsensus consensus)
{
    // About 100 KiB per command, so other writes are applied in between.
    private const int DocumentsPerCommand = 1024;

    /// <summary>Proposes deletions for all databases, once.</summary>
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
    /// Encodes the deletion of the documents that expired first; returns null if none did. Skips documents that cannot
    /// be read, so that they do not block the others.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="nowTicks">The current time, in UTC ticks.</param>
    /// <param name="from">The key at which the search starts: empty for the first command of a round, then the key
    /// after the previous command's last document. The search need not skip the rows that earlier commands deleted. A
    /// document stored meanwhile with an earlier expiry is deleted in the next round.</param>
    /// <param name="found">Number of documents in the command.</param>
    internal static CommandBuffer? NextCommand(Database database, long nowTicks, ref byte[] from, out int found)
    {
        Span<byte> start = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        using var reader = database.OpenReader();
        using var rows = reader.Snapshot.Seek(
            from.Length > 0 ? from : Key.WritePrefix(start, database.Number, Table.Expiry),
            Key.WriteNumber(to, database.Number, Table.Expiry, nowTicks + 1)
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
                from = [.. rows.Key, 0]; // the next possible key
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
