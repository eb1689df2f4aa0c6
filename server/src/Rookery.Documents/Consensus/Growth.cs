using Rookery.Documents.Commands;

namespace Rookery.Documents.Consensus;

/// <summary>Tells commands that grow the data from those that must go on when space runs out.</summary>
internal static class Growth
{
    /// <summary>Whether the command may grow the data. A batch that only deletes does not.</summary>
    public static bool Grows(ReadOnlySpan<byte> command)
    {
        var reader = new CommandReader(command);
        switch (reader.Kind)
        {
            case CommandKind.DeleteDatabases
            or CommandKind.ExpireDocuments
            or CommandKind.SetTombstoneHorizon
            or CommandKind.HiloReturn
            or CommandKind.RenewHistory:
                return false;
            case CommandKind.SetClusterRecords:
                return false; // small, and what helps a full cluster: a member, a certificate, a token
            case CommandKind.ChangeIndexes:
                while (reader.TryReadIndex(out var index))
                {
                    if (index.Kind == IndexCommandKind.Put)
                    {
                        return true;
                    }
                }

                return false;
            case CommandKind.Batch:
                while (reader.TryReadOperation(out var operation))
                {
                    if (operation.Kind != OperationKind.Delete)
                    {
                        return true;
                    }
                }

                return false;
            default:
                return true;
        }
    }
}
