using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Redis;
using Rookery.Documents.Subscriptions;
using Rookery.Storage;

namespace Rookery.Documents.Consensus;

/// <summary>Distinguishes commands that grow the data from those that remain allowed without free space.</summary>
public static class Growth
{
    /// <summary>Returns the rejection (507) of a command that grows the data; null if it does not.</summary>
    /// <param name="command">The command.</param>
    /// <param name="reason">Why it may not grow the data.</param>
    /// <param name="databases">The databases, as of the last applied entry.</param>
    public static Rejection? Check(ReadOnlySpan<byte> command, string reason, DatabaseCatalog databases) =>
        Grows(command) ? new Rejection(RejectionKind.InsufficientSpace, reason)
        : FindKept(command, databases) is { } id
            ? new Rejection(
                RejectionKind.InsufficientSpace,
                reason
                    + $" The collection of document {id} keeps revisions of deleted documents, so its deletion takes "
                    + "more space than it frees. To free some, delete documents of other collections, remove revisions "
                    + "(DELETE admin/revisions), or set PurgeOnDelete in the configuration of revisions before you "
                    + "delete documents."
            )
        : null;

    /// <summary>Returns whether a deletion of the document stores a revision of its whole content.</summary>
    /// <param name="reader">The documents.</param>
    /// <param name="lowerId">The lower-cased id.</param>
    /// <exception cref="DamagedException">The document cannot be read.</exception>
    internal static bool IsKeptWhenDeleted(in DatabaseReader reader, ReadOnlySpan<byte> lowerId)
    {
        if (
            reader.Database.Revisions is not { KeepsDeleted: true } revisions
            || !reader.TryGetByLowerId(lowerId, out var document)
        )
        {
            return false;
        }

        using (document)
        {
            return revisions.KeepsDeletedOf(document.Head.Collection);
        }
    }

    // The id of the first deleted document that becomes a revision of its whole content; null if none does.
    private static string? FindKept(ReadOnlySpan<byte> command, DatabaseCatalog databases)
    {
        var commands = new CommandReader(command);
        if (
            commands.Kind
                is not (
                    CommandKind.ExpireDocuments
                    or CommandKind.Batch
                    or CommandKind.ClusterTransaction
                    or CommandKind.Redis
                )
            || !databases.TryGet(commands.Database, out var database)
            || database.Revisions is not { KeepsDeleted: true }
        )
        {
            return null;
        }

        using var reader = database.OpenReader();
        if (commands.Kind == CommandKind.ExpireDocuments)
        {
            while (commands.TryReadExpiry(out var expired, out _))
            {
                if (MayBeKept(reader, expired))
                {
                    return Encoding.UTF8.GetString(expired);
                }
            }

            return null;
        }

        Span<byte> lowerId = stackalloc byte[Key.MaxBytes];
        if (commands.Kind == CommandKind.Redis)
        {
            var keys = new RedisKeys(commands.ReadRedis(), stackalloc byte[RedisKey.MaxIdBytes]);
            while (keys.MoveNext())
            {
                if (keys.Command.IsWrite && MayBeKept(reader, keys.LowerId))
                {
                    return Encoding.UTF8.GetString(keys.LowerId);
                }
            }

            return null;
        }

        while (commands.TryReadOperation(out var operation))
        {
            if (
                operation.Kind is OperationKind.Delete or OperationKind.AttachmentDelete
                && MayBeKept(reader, lowerId[..operation.Id.WriteLowerName(lowerId)])
            )
            {
                return Encoding.UTF8.GetString(operation.Id.Written);
            }
        }

        return null;
    }

    private static bool MayBeKept(in DatabaseReader reader, ReadOnlySpan<byte> lowerId)
    {
        try
        {
            return IsKeptWhenDeleted(reader, lowerId);
        }
        catch (DamagedException)
        {
            return false; // the read of its previous version refuses the command
        }
    }

    /// <summary>Returns whether the command may grow the data. A batch of deletes does not.</summary>
    private static bool Grows(ReadOnlySpan<byte> command)
    {
        var reader = new CommandReader(command);
        switch (reader.Kind)
        {
            case CommandKind.DeleteDatabases
            or CommandKind.ExpireDocuments
            or CommandKind.ExpireCompareExchange
            or CommandKind.SetTombstoneHorizon
            or CommandKind.HiloReturn
            or CommandKind.ConfigureRevisions
            or CommandKind.RenewHistory:
                return false;
            case CommandKind.SetConfiguration:
                return false; // small, and it can free space: the configuration of expiration
            case CommandKind.SetClusterRecords:
                return false; // small, and needed when a cluster is full: members, certificates, tokens
            case CommandKind.Redis:
                return RedisKeys.Grow(reader.ReadRedis());
            case CommandKind.ChangeSubscription:
                return reader.ReadSubscription().Kind == SubscriptionCommandKind.Put;
            case CommandKind.ChangeIndexes:
                while (reader.TryReadIndex(out var index))
                {
                    if (index.Kind == IndexCommandKind.Put)
                    {
                        return true;
                    }
                }

                return false;
            case CommandKind.Batch or CommandKind.ClusterTransaction or CommandKind.CompareExchange:
                while (reader.TryReadOperation(out var operation))
                {
                    if (
                        !IsRemovalOfRevisions(operation)
                        && operation.Kind
                            is not (
                                OperationKind.Delete
                                or OperationKind.CompareExchangeDelete
                                or OperationKind.CounterDelete
                                or OperationKind.CounterGet
                                or OperationKind.AttachmentDelete
                            )
                    )
                    {
                        return true;
                    }
                }

                return false;
            default:
                return true;
        }
    }

    private static bool IsRemovalOfRevisions(in Operation operation) =>
        operation.Kind == OperationKind.Revision
        && operation.Revision.Action is RevisionAction.Delete or RevisionAction.Enforce;
}
