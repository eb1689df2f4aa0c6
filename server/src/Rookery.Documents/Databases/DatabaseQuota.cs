using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Platform;

namespace Rookery.Documents.Databases;

/// <summary>
/// Limits the number of databases by the memory of the leader, which proposes their creation. So the limit does not
/// depend on the member that received the request. Creations in flight are not counted, so they may exceed the limit.
/// </summary>
/// <param name="databases">The databases of the node.</param>
/// <param name="memory">The memory of the node.</param>
public sealed class DatabaseQuota(DatabaseCatalog databases, MemoryBudget memory)
{
    // Memory of an empty database, as measured with thousands of them.
    private const int BytesPerDatabase = 6 << 10;

    // Databases may take this fraction of the memory.
    private const int Fraction = 8;

    /// <summary>
    /// Returns the rejection (507) of a command that creates one database too many; null for other commands, and for a
    /// database that exists.
    /// </summary>
    public Rejection? Check(scoped CommandReader command)
    {
        if (command.Kind != CommandKind.CreateDatabase)
        {
            return null;
        }

        long limit = memory.TotalBytes / Fraction / BytesPerDatabase;
        int count = databases.All.Count;
        return count < limit || databases.TryGet(Encoding.UTF8.GetString(command.ReadCreateDatabase().LowerName), out _)
            ? null
            : new Rejection(
                RejectionKind.InsufficientSpace,
                $"The database was not created: there are {Amount.Number(count)}, and the leader, with "
                    + $"--memory {memory.TotalBytes >> 20}M, allows at most {Amount.Number(limit)}. Delete some, or "
                    + "give the nodes more memory."
            );
    }
}
