using Rookery.Platform;

namespace Rookery.Redis.Connections;

/// <summary>
/// Reserves the memory that a connection holds between commands, as far as it exceeds
/// <see cref="MemoryShare.BytesWithoutReservation"/>. Not thread-safe.
/// </summary>
/// <param name="memory">The share.</param>
internal sealed class HeldMemory(MemoryShare memory) : IDisposable
{
    private long _bytes;
    private long _reservedBytes;

    /// <summary>Adds bytes; returns false, and adds nothing, if the node has no memory for them.</summary>
    public bool TryAdd(long bytes)
    {
        long needed = _bytes + bytes;
        if (needed > MemoryShare.BytesWithoutReservation && needed > _reservedBytes)
        {
            if (!memory.TryReserveFromCaches(needed - _reservedBytes))
            {
                return false;
            }

            _reservedBytes = needed;
        }

        _bytes = needed;
        return true;
    }

    /// <summary>Removes bytes that were added.</summary>
    public void Remove(long bytes)
    {
        _bytes -= bytes;
        long needed = _bytes > MemoryShare.BytesWithoutReservation ? _bytes : 0;
        if (_reservedBytes > needed)
        {
            memory.Release(_reservedBytes - needed);
            _reservedBytes = needed;
        }
    }

    /// <inheritdoc/>
    public void Dispose() => Remove(_bytes);
}
