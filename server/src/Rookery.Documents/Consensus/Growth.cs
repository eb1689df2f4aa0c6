using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Subscriptions;

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
        : KeepsDeleted(command, databases)
            ? new Rejection(
                RejectionKind.InsufficientSpace,
                reason
                    + " Revisions of deleted documents are kept, so a deletion takes more space than it frees. To free "
                    + "some, remove revisions (DELETE admin/revisions), or set PurgeOnDelete in the configuration of "
                    + "revisions before you delete documents."
            )
        : null;

    // Each deleted document becomes a revision of its whole content.
    private static bool KeepsDeleted(ReadOnlySpan<byte> command, DatabaseCatalog databases)
    {
        var reader = new CommandReader(command);
        if (!databases.TryGet(reader.Database, out var database) || database.Revisions is not { KeepsDeleted: true })
        {
            return false;
        }

        if (reader.Kind == CommandKind.ExpireDocuments)
        {
            return true;
        }

        while (
            reader.Kind is CommandKind.Batch or CommandKind.ClusterTransaction
            && reader.TryReadOperation(out var operation)
        )
        {
            if (operation.Kind is OperationKind.Delete or OperationKind.AttachmentDelete)
            {
                return true;
            }
        }

        return false;
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
