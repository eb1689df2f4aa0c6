using Rookery.Disk;

namespace Rookery.Indexing.Segments;

/// <summary>Bytes of one batch: pieces that never move, by address, all forgotten together. Its memory is kept for the next batch.</summary>
internal sealed class ByteArena(MemoryShare share) : IDisposable
{
    private const int ChunkShift = 16;
    private const int ChunkBytes = 1 << ChunkShift;
    private const int ChunkLimit = 1 << (31 - ChunkShift);

    private readonly List<byte[]> chunks = [];
    private int usedChunks;
    private long longBytes;
    private int inChunk = ChunkBytes;

    /// <summary>Bytes that pieces take, the ends of chunks included.</summary>
    public long TakenBytes => usedChunks == 0 ? 0 : ((long)(usedChunks - 1) << ChunkShift) + inChunk + longBytes;

    /// <summary>Whether the share had no more to give; the memory was taken nevertheless, because a document is indexed whole.</summary>
    public bool IsOverBudget { get; private set; }

    /// <summary>Takes a piece and gives its address.</summary>
    public int Take(int bytes)
    {
        if (bytes > ChunkBytes - inChunk)
        {
            NextChunk(bytes);
        }

        int address = ((usedChunks - 1) << ChunkShift) + inChunk;

        // Nothing follows a piece that is longer than a chunk.
        inChunk = Math.Min(inChunk + bytes, ChunkBytes);
        return address;
    }

    /// <summary>The bytes from an address to the end of its chunk, at least as many as were taken.</summary>
    public Span<byte> At(int address) => chunks[address >> ChunkShift].AsSpan(address & (ChunkBytes - 1));

    /// <summary>A copy in here.</summary>
    public int Add(ReadOnlySpan<byte> bytes)
    {
        int address = Take(bytes.Length);
        bytes.CopyTo(At(address));
        return address;
    }

    /// <summary>Forgets all pieces.</summary>
    public void Clear()
    {
        for (int i = chunks.Count - 1; i >= 0; i--)
        {
            if (chunks[i].Length > ChunkBytes || IsOverBudget)
            {
                share.Release(chunks[i].Length);
                chunks.RemoveAt(i);
            }
        }

        usedChunks = 0;
        longBytes = 0;
        inChunk = ChunkBytes;
        IsOverBudget = false;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Clear();
        share.Release((long)chunks.Count * ChunkBytes);
        chunks.Clear();
    }

    private void NextChunk(int bytes)
    {
        int length = Math.Max(bytes, ChunkBytes);
        Invariant.Holds(usedChunks < ChunkLimit, "a batch has at most 32,768 chunks");
        if (length > ChunkBytes || usedChunks == chunks.Count)
        {
            if (!share.TryReserve(length))
            {
                share.Reserve(length);
                IsOverBudget = true;
            }

            chunks.Insert(usedChunks, GC.AllocateUninitializedArray<byte>(length));
        }

        usedChunks++;
        longBytes += length - ChunkBytes;
        inChunk = 0;
    }
}
