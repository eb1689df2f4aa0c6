using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Redis;
using Rookery.Documents.Revisions;
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
        : FindKept(command, databases) is { } kept ? new Rejection(RejectionKind.InsufficientSpace, $"{reason} {kept}")
        : null;

    /// <summary>Returns whether a deletion of the document stores a revision of its whole content.</summary>
    /// <param name="reader">The documents.</param>
    /// <param name="lowerId">The lower-cased id.</param>
    /// <exception cref="DamagedException">The document cannot be read.</exception>
    internal static bool IsKeptWhenDeleted(in DatabaseReader reader, ReadOnlySpan<byte> lowerId)
    {
        if (!reader.Database.MayHaveRevisions || !reader.TryGetByLowerId(lowerId, out var document))
        {
            return false;
        }

        using (document)
        {
            var rule = reader.Database.Revisions?.Find(document.Head.Collection);
            return rule is not { IsDisabled: false, PurgesOnDelete: true }
                && BecomesRevision(reader, lowerId, document, rule);
        }
    }

    // Returns why the first deletion that stores a revision does not free space; null if none does.
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
            || !database.MayHaveRevisions
        )
        {
            return null;
        }

        try
        {
            using var reader = database.OpenReader();
            return FindKept(reader, commands);
        }
        catch (DatabaseGoneException)
        {
            return null; // deleted or replaced meanwhile: apply decides about the command
        }
    }

    private static string? FindKept(in DatabaseReader reader, CommandReader commands)
    {
        if (commands.Kind == CommandKind.ExpireDocuments)
        {
            while (commands.TryReadExpiry(out var expired, out _))
            {
                if (IsKept(reader, expired, OperationKind.Delete))
                {
                    return DescribeKept(expired);
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
                if (keys.Command.IsWrite && IsKept(reader, keys.LowerId, OperationKind.Delete))
                {
                    return DescribeKept(keys.LowerId);
                }
            }

            return null;
        }

        while (commands.TryReadOperation(out var operation))
        {
            if (
                operation.Kind is OperationKind.Delete or OperationKind.AttachmentDelete or OperationKind.CounterDelete
                && IsKept(reader, lowerId[..operation.Id.WriteLowerName(lowerId)], operation.Kind)
            )
            {
                var id = operation.Id.Written;
                return operation.Kind switch
                {
                    OperationKind.AttachmentDelete => DescribeKept(id, "an attachment", "the attachment"),
                    OperationKind.CounterDelete => DescribeKept(id, "a counter", "the document as it was"),
                    _ => DescribeKept(id),
                };
            }
        }

        return null;
    }

    private static string DescribeKept(ReadOnlySpan<byte> id) =>
        $"The collection of document {Encoding.UTF8.GetString(id)} keeps revisions of deleted documents, or the "
        + "document is a revision itself, so its deletion takes more space than it frees. To free some, delete "
        + "documents of other collections, remove revisions (DELETE admin/revisions), or set PurgeOnDelete in the "
        + "configuration of revisions before you delete documents.";

    private static string DescribeKept(ReadOnlySpan<byte> id, string deleted, string kept) =>
        $"The deletion of {deleted} of document {Encoding.UTF8.GetString(id)} stores a new version of the document, "
        + $"and a revision keeps {kept}, so it takes more space than it frees. To free some, delete documents of "
        + "other collections, or remove revisions (DELETE admin/revisions).";

    private static bool IsKept(in DatabaseReader reader, ReadOnlySpan<byte> lowerId, OperationKind kind)
    {
        try
        {
            return kind == OperationKind.Delete
                ? IsKeptWhenDeleted(reader, lowerId)
                : IsKeptWhenChanged(reader, lowerId);
        }
        catch (DamagedException)
        {
            return false; // the read of its previous version refuses the command
        }
    }

    // Whether a change of the document's attachments or counters stores a revision.
    private static bool IsKeptWhenChanged(in DatabaseReader reader, ReadOnlySpan<byte> lowerId)
    {
        if (!reader.TryGetByLowerId(lowerId, out var document))
        {
            return false;
        }

        using (document)
        {
            var rule = reader.Database.Revisions?.Find(document.Head.Collection);
            return BecomesRevision(reader, lowerId, document, rule);
        }
    }

    // Whether the present version is kept as a revision when it is replaced or deleted.
    private static bool BecomesRevision(
        in DatabaseReader reader,
        ReadOnlySpan<byte> lowerId,
        in Document document,
        RevisionRule? rule
    ) =>
        rule is { Creates: true }
        || (
            !document.Head.Revisions.IsEmpty
            && new RevisionSource(reader.Snapshot, reader.Database.Number).ReadState(lowerId).LiveEtag != 0
        );

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
