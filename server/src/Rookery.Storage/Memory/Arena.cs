using Rookery.Platform;

namespace Rookery.Storage.Memory;

/// <summary>
/// An allocator whose memory is freed all at once, for one memtable. One thread allocates; addresses are valid until
/// <see cref="Free"/>.
/// </summary>
internal sealed unsafe class Arena(ArenaPool pool)
{
    private readonly List<nint> _chunks = [];
    private byte* _next;
    private byte* _end;
    private long _usedBytes;

    /// <summary>Bytes allocated.</summary>
    public long UsedBytes => Volatile.Read(ref _usedBytes);

    /// <summary>
    /// Allocates <paramref name="bytes"/> bytes at an address divisible by 8. Their content is arbitrary.
    /// </summary>
    public byte* Allocate(int bytes)
    {
        Invariant.Holds(bytes <= ArenaPool.ChunkBytes, "an allocation fits an arena chunk");
        int rounded = (bytes + 7) & ~7;
        if (_end - _next < rounded)
        {
            _next = pool.Rent();
            _end = _next + ArenaPool.ChunkBytes;
            _chunks.Add((nint)_next);
        }

        byte* allocated = _next;
        _next += rounded;
        Volatile.Write(ref _usedBytes, _usedBytes + rounded);
        return allocated;
    }

    /// <summary>Frees all memory. Addresses that <see cref="Allocate"/> returned become invalid.</summary>
    public void Free()
    {
        pool.Return(_chunks);
        _chunks.Clear();
        _next = null;
        _end = null;
    }
}
