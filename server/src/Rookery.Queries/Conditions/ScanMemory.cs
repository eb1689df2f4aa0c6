using Rookery.Indexing.Grouping;
using Rookery.Platform;
using Rookery.Queries.Language;

namespace Rookery.Queries.Conditions;

/// <summary>
/// Memory that one query reserves from a share before it allocates, and releases at the end. Not thread-safe.
/// </summary>
/// <param name="share">The share to reserve from.</param>
internal sealed class ScanMemory(MemoryShare share) : IGroupMemory, IDisposable
{
    private long _heldBytes;

    /// <summary>Reserves memory, in bytes.</summary>
    /// <exception cref="QueryException">Too little memory is free, and the query already holds as much as every query
    /// is assured of; or other queries hold the memory (<see cref="QueryException.MemoryTaken"/>).</exception>
    public void Take(long bytes)
    {
        if (!share.TryReserve(bytes))
        {
            throw share.IsTakenByOthers(_heldBytes, bytes)
                ? new QueryException(QueryException.MemoryTaken)
                : new QueryException(
                    QueryFault.TooCostly,
                    $"The query needs more memory than is free of the {share.LimitBytes / (1024 * 1024)} MiB that "
                        + "queries may use: ask for fewer results, groups or distinct values at once."
                );
        }

        _heldBytes += bytes;
    }

    /// <summary>Releases memory, in bytes.</summary>
    public void Give(long bytes)
    {
        _heldBytes -= bytes;
        share.Release(bytes);
    }

    /// <summary>Releases all memory.</summary>
    public void Dispose()
    {
        share.Release(_heldBytes);
        _heldBytes = 0;
    }
}
