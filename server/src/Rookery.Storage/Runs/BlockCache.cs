namespace Rookery.Storage;

/// <summary>
/// Decompressed blocks of runs in native memory. A hit takes no lock and no hash; a miss is read once, however many ask. New blocks have to be
/// asked for again before they may push out old ones (S3-FIFO, Yang et al., SOSP 2023), so a walk over everything does not empty the cache.
/// Safe for any number of threads.
/// </summary>
internal sealed class BlockCache : IDisposable
{
    /// <summary>Makes an empty cache.</summary>
    /// <param name="capacityBytes">Native memory it may use, including index and filter of every open run. Blocks that readers hold may exceed it.</param>
    public BlockCache(long capacityBytes) => throw new NotSupportedException();

    /// <summary>The capacity; setting a lower one evicts at once.</summary>
    public long CapacityBytes { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }

    /// <summary>Native memory taken from the system.</summary>
    public long UsedBytes => throw new NotSupportedException();

    /// <summary>Gives memory back that was not asked for since the last call: call it about every half minute from a timer.</summary>
    public void TrimIdle() => throw new NotSupportedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotSupportedException();
}
