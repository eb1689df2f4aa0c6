using Rookery.Disk;

namespace Rookery.Storage;

/// <summary>Memory that only grows and is given back as a whole. One thread allocates; what it handed out stays where it is until <see cref="Free"/>.</summary>
internal sealed unsafe class Arena(ArenaPool pool)
{
    private readonly List<nint> chunks = [];
    private byte* next;
    private byte* end;
    private long usedBytes;

    /// <summary>Bytes handed out.</summary>
    public long UsedBytes => Volatile.Read(ref usedBytes);

    /// <summary>Gives <paramref name="bytes"/> bytes at an address divisible by 8. Their content is arbitrary.</summary>
    public byte* Allocate(int bytes)
    {
        Invariant.Holds(bytes <= ArenaPool.ChunkBytes, "an allocation fits an arena chunk");
        int rounded = (bytes + 7) & ~7;
        if (end - next < rounded)
        {
            next = pool.Rent();
            end = next + ArenaPool.ChunkBytes;
            chunks.Add((nint)next);
        }

        byte* allocated = next;
        next += rounded;
        Volatile.Write(ref usedBytes, usedBytes + rounded);
        return allocated;
    }

    /// <summary>Gives all memory back. Nobody may hold an address from here.</summary>
    public void Free()
    {
        pool.Return(chunks);
        chunks.Clear();
        next = end = null;
    }
}
