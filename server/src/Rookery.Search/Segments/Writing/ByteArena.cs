using Rookery.Platform;

namespace Rookery.Search.Segments.Writing;

/// <summary>
/// Allocates bytes for one batch. Allocations have fixed addresses and are freed together. The memory is kept for the
/// next batch.
/// </summary>
internal sealed class ByteArena(MemoryShare share) : IDisposable
{
    private const int ChunkShift = 16;
    private const int ChunkBytes = 1 << ChunkShift;
    private const int ChunkLimit = 1 << (31 - ChunkShift);

    private readonly List<byte[]> _chunks = [];
    private int _usedChunks;

    // Bytes of long chunks beyond the usual length.
    private long _longBytes;

    // Bytes used in the last chunk.
    private int _inChunk = ChunkBytes;

    /// <summary>Allocated bytes, including unused ends of chunks.</summary>
    public long TakenBytes => _usedChunks == 0 ? 0 : ((long)(_usedChunks - 1) << ChunkShift) + _inChunk + _longBytes;

    /// <summary>
    /// Whether the share's limit was exceeded. Memory is allocated nevertheless, because a document must be indexed as
    /// a whole.
    /// </summary>
    public bool IsOverBudget { get; private set; }

    /// <summary>Allocates bytes and returns their address.</summary>
    public int Allocate(int bytes)
    {
        if (bytes > ChunkBytes - _inChunk)
        {
            NextChunk(bytes);
        }

        int address = ((_usedChunks - 1) << ChunkShift) + _inChunk;

        // A chunk for a longer allocation contains nothing else.
        _inChunk = Math.Min(_inChunk + bytes, ChunkBytes);
        return address;
    }

    /// <summary>
    /// Returns the bytes from an address to the end of its chunk, at least as many as were allocated.
    /// </summary>
    public Span<byte> SpanAt(int address) => _chunks[address >> ChunkShift].AsSpan(address & (ChunkBytes - 1));

    /// <summary>Copies bytes into the arena and returns their address.</summary>
    public int Add(ReadOnlySpan<byte> bytes)
    {
        int address = Allocate(bytes.Length);
        bytes.CopyTo(SpanAt(address));
        return address;
    }

    /// <summary>Frees all allocations.</summary>
    public void Clear()
    {
        for (int i = _chunks.Count - 1; i >= 0; i--)
        {
            if (_chunks[i].Length > ChunkBytes || IsOverBudget)
            {
                share.Release(_chunks[i].Length);
                _chunks.RemoveAt(i);
            }
        }

        _usedChunks = 0;
        _longBytes = 0;
        _inChunk = ChunkBytes;
        IsOverBudget = false;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Clear();
        share.Release((long)_chunks.Count * ChunkBytes);
        _chunks.Clear();
    }

    private void NextChunk(int bytes)
    {
        int length = Math.Max(bytes, ChunkBytes);
        Invariant.Holds(_usedChunks < ChunkLimit, "a batch has at most 32,768 chunks");
        if (length > ChunkBytes || _usedChunks == _chunks.Count)
        {
            if (!share.TryReserveFromCaches(length))
            {
                share.Reserve(length);
                IsOverBudget = true;
            }

            _chunks.Insert(_usedChunks, GC.AllocateUninitializedArray<byte>(length));
        }

        _usedChunks++;
        _longBytes += length - ChunkBytes;
        _inChunk = 0;
    }
}
