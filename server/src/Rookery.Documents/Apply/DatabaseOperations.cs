using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;

namespace Rookery.Documents.Apply;

/// <summary>
/// Creates and deletes databases and renews their history. Database numbers are never reused, so the range tombstone of
/// a deleted database cannot hide rows of a later one.
/// </summary>
internal sealed class DatabaseOperations(NodeState node)
{
    public Rejection? Create(
        in EntryScope scope,
        in CreateDatabaseCommand command,
        long etag,
        out OperationResult result
    )
    {
        string name = Encoding.UTF8.GetString(command.Name);
        string lowerName = Encoding.UTF8.GetString(command.LowerName);
        if (node.TryFind(lowerName, out var existing))
        {
            result = default;
            return new Rejection(RejectionKind.DatabaseExists, $"A database named {existing.Database.Name} exists.")
            {
                Database = existing.Database.Name,
            };
        }

        Span<byte> key = stackalloc byte[Key.MaxBytes];
        var record = new DatabaseRecord(
            node.NextDatabaseNumber(),
            name,
            lowerName,
            Encoding.ASCII.GetString(command.HistoryId),
            scope.LogTicks
        );
        scope.Batch.Put(Key.WriteNumber(key, Key.NoDatabase, Table.Databases, record.Number), etag, record.Encode());
        node.Add(record);
        result = new OperationResult
        {
            Status = OperationStatus.Configured,
            Etag = etag,
            LastModifiedTicks = scope.LogTicks,
            Id = name,
        };
        return null;
    }

    /// <summary>Gives a database another history id, which ends the subscriptions to the old history.</summary>
    public OperationResult RenewHistory(ApplyContext context, ReadOnlySpan<byte> historyId)
    {
        var record = context.Database.Database.Record with { HistoryId = Encoding.ASCII.GetString(historyId) };
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        context.Batch.Put(
            Key.WriteNumber(key, Key.NoDatabase, Table.Databases, record.Number),
            context.Etag,
            record.Encode()
        );
        node.Replace(context.Database, record);
        return new OperationResult
        {
            Status = OperationStatus.Configured,
            Etag = context.Etag,
            LastModifiedTicks = context.LogTicks,
            Id = record.Name,
        };
    }

    /// <summary>
    /// Deletes a database with all rows. The result is the default value if there is no such database.
    /// </summary>
    public OperationResult Delete(in EntryScope scope, ReadOnlySpan<byte> lowerName, long etag)
    {
        if (!node.TryFind(Encoding.UTF8.GetString(lowerName), out var database))
        {
            return default;
        }

        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        scope.Batch.DeleteRange(
            Key.WritePrefix(from, database.Number, table: 0),
            Key.WritePrefix(to, database.Number + 1, table: 0),
            etag
        );
        scope.Batch.Delete(Key.WriteNumber(from, Key.NoDatabase, Table.Databases, database.Number), etag);
        node.Remove(database);
        return new OperationResult
        {
            Status = OperationStatus.Deleted,
            Etag = etag,
            Id = database.Database.Name,
        };
    }
}
