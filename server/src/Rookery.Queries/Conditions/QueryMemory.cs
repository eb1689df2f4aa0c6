using Rookery.Platform;

namespace Rookery.Queries.Conditions;

/// <summary>
/// Memory of one query: the total of its search, sort, groups, script and notes. That total decides whether a refused
/// reservation is the query's fault (<see cref="IsTakenByOthers"/>). Not thread-safe.
/// </summary>
/// <param name="share">The share to reserve from.</param>
public sealed class QueryMemory(MemoryShare share)
{
    /// <summary>Maximum memory of all queries together, in bytes.</summary>
    public long LimitBytes => share.LimitBytes;

    /// <summary>Bytes that the query holds.</summary>
    public long HeldBytes { get; private set; }

    /// <summary>Reserves memory, in bytes.</summary>
    /// <returns>False if less is free; nothing is reserved then.</returns>
    public bool TryReserve(long bytes)
    {
        if (!share.TryReserveFromCaches(bytes))
        {
            return false;
        }

        HeldBytes += bytes;
        return true;
    }

    /// <summary>Releases memory, in bytes.</summary>
    public void Release(long bytes)
    {
        HeldBytes -= bytes;
        share.Release(bytes);
    }

    /// <summary>Returns whether others hold the memory that <see cref="TryReserve"/> just refused.</summary>
    public bool IsTakenByOthers(long bytes) => share.IsTakenByOthers(HeldBytes, bytes);
}
