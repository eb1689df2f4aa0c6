using Rookery.Documents.Apply;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Revisions;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// Finds expired documents and compare-exchange values and proposes their deletion, by id and etag. Writes nothing if
/// nothing expired, and deletes nothing while the cluster's time is uncertain.
/// </summary>
internal sealed class Expiration(DatabaseCatalog databases, IConsensus consensus)
{
    // About 100 KiB per command, so other writes are applied in between. An attachment counts as a document, because
    // apply changes the row of its content.
    private const int DocumentsPerCommand = 1024;

    // Documents with revisions are copied when they are deleted.
    private const int CopiedBytesPerCommand = 4 << 20;

    // Rows that one search reads, so that its snapshot is released soon if it skips many documents.
    private const int RowsPerSearch = 8 * DocumentsPerCommand;

    /// <summary>Proposes deletions for all databases, once.</summary>
    public Task RunOnceAsync(CancellationToken cancellationToken) =>
        databases.ForEachReadableAsync(RunOnceAsync, cancellationToken);

    private async Task RunOnceAsync(Database database, CancellationToken cancellationToken)
    {
        await RunAsync(database, CommandKind.ExpireDocuments, long.MaxValue, cancellationToken);
        await RunAsync(database, CommandKind.ExpireCompareExchange, long.MaxValue, cancellationToken);
    }

    /// <summary>Proposes deletions for one database.</summary>
    /// <param name="database">The database.</param>
    /// <param name="kind">ExpireDocuments or ExpireCompareExchange.</param>
    /// <param name="maxItems">Maximum number of documents or values.</param>
    /// <param name="cancellationToken">Ends the search.</param>
    public async Task RunAsync(Database database, CommandKind kind, long maxItems, CancellationToken cancellationToken)
    {
        byte[] from = [];
        bool skipsKept = false;
        for (long left = maxItems; left > 0 && !cancellationToken.IsCancellationRequested; )
        {
            if (!consensus.IsLeader || consensus.Time is not { IsSure: true, UtcTicks: var nowTicks })
            {
                break;
            }

            byte[] start = from;
            int limit = (int)Math.Min(left, DocumentsPerCommand);
            var command = NextCommand(database, nowTicks, ref from, out int count, kind, limit, skipsKept);
            var rejection = command is null
                ? null
                : (await consensus.ProposeAsync(command, cancellationToken)).Rejection;
            if (rejection is { Kind: RejectionKind.InsufficientSpace } && !skipsKept)
            {
                // Deleting a document that is kept as a revision frees no space. Deleting the others does.
                (skipsKept, from) = (true, start);
                continue;
            }

            if (rejection is not null || from.Length == 0)
            {
                break;
            }

            left -= count;
        }
    }

    /// <summary>
    /// Encodes the deletion of the documents that expired first; returns null if the search found none. Skips documents
    /// that cannot be read, so that they do not block the others.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="nowTicks">The current time, in UTC ticks.</param>
    /// <param name="from">The key at which the search starts: empty for the first command of a round, then the key
    /// after the previous command's last document, and empty again after the last command. The search need not skip
    /// the rows that earlier commands deleted. A document stored meanwhile with an earlier expiry is deleted in the
    /// next round.</param>
    /// <param name="count">Number of documents or values in the command.</param>
    /// <param name="kind">ExpireDocuments or ExpireCompareExchange.</param>
    /// <param name="limit">Maximum number of documents or values in the command.</param>
    /// <param name="skipsKept">Whether to skip documents that become revisions when they are deleted.</param>
    internal static CommandBuffer? NextCommand(
        Database database,
        long nowTicks,
        ref byte[] from,
        out int count,
        CommandKind kind = CommandKind.ExpireDocuments,
        int limit = DocumentsPerCommand,
        bool skipsKept = false
    )
    {
        byte table = kind == CommandKind.ExpireDocuments ? Table.Expiry : Table.CompareExchangeExpiry;
        Span<byte> start = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        using var reader = database.OpenReader();
        using var rows = reader.Snapshot.Seek(
            from.Length > 0 ? from : Key.WritePrefix(start, database.Number, table),
            Key.WriteNumber(to, database.Number, table, nowTicks + 1)
        );
        count = 0;
        from = [];
        if (!rows.MoveNext())
        {
            return null;
        }

        int attachments = 0;
        int read = 0;
        long copiedBytes = 0;
        using var writer = new ExpiryWriter(database.Number, kind);
        do
        {
            bool isPart = false;
            if (
                !(skipsKept && IsKept(reader, kind, rows.Value))
                && TryMeasure(reader, kind, rows.Value, nowTicks, out int ofDocument, out long bytes, out isPart)
            )
            {
                writer.Add(rows.Value, rows.Sequence);
                count++;
                attachments += ofDocument;
                copiedBytes += bytes;
            }

            bool isFull = count == limit || attachments >= limit || copiedBytes >= CopiedBytesPerCommand;
            if (isFull || isPart || ++read == RowsPerSearch)
            {
                from = isPart ? rows.Key.ToArray() : [.. rows.Key, 0]; // this document, or the next possible key
                break;
            }
        } while (rows.MoveNext());
        return count == 0 ? null : writer.Complete();
    }

    private static bool IsKept(in DatabaseReader reader, CommandKind kind, ReadOnlySpan<byte> lowerId)
    {
        try
        {
            return kind == CommandKind.ExpireDocuments && Growth.IsKeptWhenDeleted(reader, lowerId);
        }
        catch (DamagedException)
        {
            return true; // a damaged document cannot be deleted either
        }
    }

    // Returns whether the document or value can be read and deleted. One that cannot must not block the others. Sets
    // isPart if apply removes only some of its revisions and keeps the document for the next command.
    private static bool TryMeasure(
        in DatabaseReader reader,
        CommandKind kind,
        ReadOnlySpan<byte> lowerId,
        long nowTicks,
        out int attachments,
        out long copiedBytes,
        out bool isPart
    )
    {
        attachments = 0;
        copiedBytes = 0;
        isPart = false;
        try
        {
            if (kind != CommandKind.ExpireDocuments)
            {
                reader.TryGetCompareExchange(lowerId, out var value);
                value.Dispose();
                return true;
            }

            uint number = reader.Database.Number;
            new ChangeCheck(reader.Snapshot, number, reader.Database, nowTicks).RunForExpiry(lowerId);
            PreviousVersions.CheckGuard(reader.Snapshot, number, lowerId);
            if (reader.TryGetByLowerId(lowerId, out var document))
            {
                using (document)
                {
                    var head = document.Head;
                    attachments = AttachmentList.CountOf(head.Attachments);
                    if (reader.Database.MayHaveRevisions)
                    {
                        long revisions = head.Revisions.IsEmpty
                            ? 0
                            : new RevisionSource(reader.Snapshot, number).ReadState(lowerId).Rows;
                        copiedBytes =
                            document.Length
                            + (RevisionRows.BytesPerCounter * (long)head.Counters.Count)
                            + (RevisionRows.BytesPerRemoval * revisions);
                        isPart = revisions > RevisionRows.MaxDeletesPerEntry;
                    }
                }
            }

            return true;
        }
        catch (DamagedException)
        {
            return false;
        }
    }
}
