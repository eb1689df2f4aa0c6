using Rookery.Platform;

namespace Rookery.Cluster.Peers;

/// <summary>
/// Bytes that one owner holds and a share of the memory budget counts. They are bounded elsewhere; counted, they leave
/// others less. Not to be copied while it is used.
/// </summary>
/// <param name="share">The share; null for none.</param>
internal struct CountedBytes(MemoryShare? share)
{
    private long _bytes;

    /// <summary>It holds so many now.</summary>
    public void Set(long held)
    {
        if (held > _bytes)
        {
            share?.Reserve(held - _bytes);
        }
        else if (held < _bytes)
        {
            share?.Release(_bytes - held);
        }

        _bytes = held;
    }
}
