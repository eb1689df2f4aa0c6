using Rookery.Platform;

namespace Rookery.Storage.Memory;

/// <summary>
/// Chunks of native memory for arenas, straight from the system (mmap), because malloc keeps what it was given back
/// once it has seen large blocks come and go. Chunks that come back wait here for the next memtable until
/// <see cref="Trim"/>. Thread-safe.
/// </summary>
internal sealed unsafe class ArenaPool(MemoryShare share) : IDisposable
{
    /// <summary>
    /// Bytes of a chunk: a multiple of the largest page size of our boards (16 KiB), and small enough that a nearly
    /// empty memtable is small.
    /// </summary>
    public const int ChunkBytes = 256 * 1024;

    private readonly Lock _gate = new();
    private readonly Stack<nint> _idle = new();

    /// <summary>Bytes of chunks that wait to be used again.</summary>
    public long IdleBytes
    {
        get
        {
            lock (_gate)
            {
                return (long)_idle.Count * ChunkBytes;
            }
        }
    }

    /// <summary>
    /// Takes a chunk. Goes over the share when it must: a write that is in the journal has to be applied.
    /// </summary>
    public byte* Rent()
    {
        lock (_gate)
        {
            if (_idle.TryPop(out nint chunk))
            {
                return (byte*)chunk;
            }
        }

        byte* mapped = NativePages.Map(ChunkBytes);
        share.Reserve(ChunkBytes);
        return mapped;
    }

    /// <summary>Takes chunks back.</summary>
    public void Return(List<nint> chunks)
    {
        lock (_gate)
        {
            foreach (nint chunk in chunks)
            {
                _idle.Push(chunk);
            }
        }
    }

    /// <summary>Gives waiting chunks back to the system.</summary>
    public void Trim()
    {
        lock (_gate)
        {
            while (_idle.TryPop(out nint chunk))
            {
                NativePages.Unmap((byte*)chunk, ChunkBytes);
                share.Release(ChunkBytes);
            }
        }
    }

    public void Dispose() => Trim();
}
