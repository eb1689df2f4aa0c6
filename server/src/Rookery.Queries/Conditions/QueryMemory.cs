using Rookery.Platform;

namespace Rookery.Queries.Conditions;

/// <summary>
/// Memory of one query: what its search, sort, groups, script and notes hold together. A refused reservation is judged
/// by all of them. Not thread-safe.
/// </summary>
/// <param name="share">The share to reserve from.</param>
public sealed class QueryMemory(MemoryShare share)
{
    /// <summary>The bound of all queries, in bytes.</summary>
    public long LimitBytes => share.LimitBytes;

    /// <summary>Bytes that the query holds.</summary>
    public long HeldBytes { get; private set; }

    /// <summary>Reserves memory, in bytes.</summary>
    /// <returns>False when no more is free: then nothing is reserved.</returns>
    public bool TryTake(long bytes)
    {
        if (!share.TryReserveFromCaches(bytes))
        {
            return false;
        }

        HeldBytes += bytes;
        return true;
    }

    /// <summary>Releases memory, in bytes.</summary>
    public void Give(long bytes)
    {
        HeldBytes -= bytes;
        share.Release(bytes);
    }

    /// <summary>Returns whether others hold the memory that <see cref="TryTake"/> just refused.</summary>
    public bool IsTakenByOthers(long bytes) => share.IsTakenByOthers(HeldBytes, bytes);
}
