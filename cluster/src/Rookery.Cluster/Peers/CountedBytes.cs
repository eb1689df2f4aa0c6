using Rookery.Platform;

namespace Rookery.Cluster.Peers;

/// <summary>
/// Counts the bytes that one owner holds in a share of the memory budget. The owner itself bounds them; counting them
/// leaves less for other shares. A mutable struct: do not copy it.
/// </summary>
/// <param name="share">The share; null to report nowhere.</param>
internal struct CountedBytes(MemoryShare? share)
{
    private long _bytes;

    /// <summary>Reports the number of bytes that the owner holds now.</summary>
    public void Set(long bytes)
    {
        if (bytes > _bytes)
        {
            share?.Reserve(bytes - _bytes);
        }
        else if (bytes < _bytes)
        {
            share?.Release(_bytes - bytes);
        }

        _bytes = bytes;
    }
}
