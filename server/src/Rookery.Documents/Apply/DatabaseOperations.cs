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
    /// Returns the refusal of a command for a disabled database. Changes of configurations, the deletion of expired
    /// items and the commands that nodes propose themselves are not refused.
    /// </summary>
    /// <returns>The refusal, or null.</returns>
    public static Rejection? RefuseDisabled(DatabaseState database, CommandKind kind) =>
        kind
            is CommandKind.SetConfiguration
                or CommandKind.PutClientConfiguration
                or CommandKind.ExpireDocuments
                or CommandKind.ExpireCompareExchange
                or CommandKind.RunSchedule
                or CommandKind.SetTombstoneHorizon
                or CommandKind.RenewHistory
            ? null
            : database.Database.WhyDisabled();

    /// <summary>Returns the refusal of a deletion if the lock mode of one of the databases asks for it.</summary>
    /// <param name="command">The command, before its first name.</param>
    /// <returns>The refusal, or null.</returns>
    public Rejection? FindLocked(CommandReader command)
    {
        for (int i = 0; command.TryReadName(out var name); i++)
        {
            if (
                node.TryFind(Encoding.UTF8.GetString(name), out var database)
                && database.Configurations.LockMode == DatabaseLockMode.PreventDeletesError
            )
            {
                return new Rejection(
                    RejectionKind.DatabaseLocked,
                    $"Database '{database.Database.Name}' cannot be deleted because of the set lock mode "
                        + "('PreventDeletesError'). Nothing was deleted; set its lock mode to 'Unlock' before."
                )
                {
                    Database = database.Database.Name,
                    Operation = i,
                };
            }
        }

        return null;
    }

    /// <summary>
    /// Deletes a database with all rows. The result is the default value if there is no such database, or if its lock
    /// mode is <see cref="DatabaseLockMode.PreventDeletesIgnore"/>.
    /// </summary>
    public OperationResult Delete(in EntryScope scope, ReadOnlySpan<byte> lowerName, long etag)
    {
        if (
            !node.TryFind(Encoding.UTF8.GetString(lowerName), out var database)
            || database.Configurations.LockMode == DatabaseLockMode.PreventDeletesIgnore
        )
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
