using Rookery.Indexing.Grouping;
using Rookery.Queries.Language;

namespace Rookery.Queries.Conditions;

/// <summary>
/// Memory of one part of a query, reserved before it is allocated, and released at the part's end. Not thread-safe.
/// </summary>
/// <param name="memory">The memory of the query.</param>
internal sealed class ScanMemory(QueryMemory memory) : IGroupMemory, IDisposable
{
    private long _heldBytes;

    /// <summary>Reserves memory, in bytes.</summary>
    /// <exception cref="QueryException">Too little memory is free, and the query already holds the amount that is
    /// guaranteed to each query; or other queries hold the memory
    /// (<see cref="QueryException.MemoryTaken"/>).</exception>
    public void Reserve(long bytes)
    {
        if (!memory.TryReserve(bytes))
        {
            throw memory.IsTakenByOthers(bytes)
                ? new QueryException(QueryException.MemoryTaken)
                : new QueryException(
                    QueryFault.TooCostly,
                    $"The query needs more memory than is free of the {memory.LimitBytes / (1024 * 1024)} MiB that "
                        + "queries may use: ask for fewer results, groups or distinct values at once."
                );
        }

        _heldBytes += bytes;
    }

    /// <summary>Reserves memory, in bytes, if it is free.</summary>
    public bool TryReserve(long bytes)
    {
        bool isFree = memory.TryReserve(bytes);
        _heldBytes += isFree ? bytes : 0;
        return isFree;
    }

    /// <summary>Releases memory, in bytes.</summary>
    public void Release(long bytes)
    {
        _heldBytes -= bytes;
        memory.Release(bytes);
    }

    /// <summary>Releases all memory. More can be reserved afterwards.</summary>
    public void ReleaseAll()
    {
        memory.Release(_heldBytes);
        _heldBytes = 0;
    }

    /// <inheritdoc/>
    public void Dispose() => ReleaseAll();
}
