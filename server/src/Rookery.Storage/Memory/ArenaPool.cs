using Rookery.Platform;

namespace Rookery.Storage.Memory;

/// <summary>
/// Chunks of native memory for arenas. They are mapped directly (mmap), because malloc keeps freed memory of large
/// blocks. Returned chunks are reused for the next memtable until <see cref="Trim"/>. Thread-safe.
/// </summary>
internal sealed unsafe class ArenaPool : IDisposable
{
    /// <summary>
    /// Size of a chunk: a multiple of the largest page size of the supported boards (16 KiB), and small enough that a
    /// nearly empty memtable is small.
    /// </summary>
    public const int ChunkBytes = 256 * 1024;

    private readonly Lock _gate = new();
    private readonly Stack<nint> _idle = new();
    private readonly MemoryShare _share;

    /// <summary>Creates a pool whose chunks are charged to <paramref name="share"/>.</summary>
    public ArenaPool(MemoryShare share)
    {
        _share = share;
        share.AllowYielding(() => IdleBytes, Release);
    }

    /// <summary>Bytes of idle chunks.</summary>
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
    /// Returns a chunk. Exceeds the memory share if necessary: a write that is in the journal must be applied.
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
        _share.Reserve(ChunkBytes);
        return mapped;
    }

    /// <summary>Makes chunks idle, for the next <see cref="Rent"/>.</summary>
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

    /// <summary>Unmaps the idle chunks.</summary>
    public void Trim() => Release(long.MaxValue);

    private void Release(long bytes)
    {
        lock (_gate)
        {
            while (bytes > 0 && _idle.TryPop(out nint chunk))
            {
                NativePages.Unmap((byte*)chunk, ChunkBytes);
                _share.Release(ChunkBytes);
                bytes -= ChunkBytes;
            }
        }
    }

    public void Dispose() => Trim();
}
