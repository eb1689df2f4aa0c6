using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// Which block of a run may hold a key: the separators of all blocks, in native memory. About 40 bytes per block, so
/// 0.3 % of the rows; a lookup compares 8-byte heads that lie side by side (12 steps for a run of 64 MiB) and touches a
/// whole separator only where heads are equal.
/// </summary>
internal readonly unsafe struct RunIndex
{
    private readonly ulong* _heads;
    private readonly long* _offsets;
    private readonly uint* _keyOffsets;
    private readonly byte* _keys;
    private readonly int _prefixLength;

    private RunIndex(byte* memory, int blocks, int prefixLength)
    {
        Blocks = blocks;
        _heads = (ulong*)memory;
        _offsets = (long*)(_heads + blocks);
        _keyOffsets = (uint*)(_offsets + blocks + 1);
        _keys = (byte*)(_keyOffsets + blocks + 1);
        _prefixLength = prefixLength;
    }

    /// <summary>How many blocks the run has.</summary>
    public int Blocks { get; }

    /// <summary>Memory that <see cref="TryLoad"/> needs at most for an encoded index, in bytes.</summary>
    public static long MemoryBytes(long encodedBytes, uint blocks) =>
        (blocks * (sizeof(ulong) + sizeof(long) + sizeof(uint))) + sizeof(long) + sizeof(uint) + encodedBytes;

    /// <summary>Unpacks an index whose checksum has been checked. False when it does not hold together.</summary>
    /// <param name="encoded">The index as it lies on disk.</param>
    /// <param name="encodedBytes">Its length.</param>
    /// <param name="blocks">How many blocks the footer promises.</param>
    /// <param name="blocksEnd">Where the last block must end.</param>
    /// <param name="memory">At least <see cref="MemoryBytes"/>, aligned to eight; stays the index's.</param>
    /// <param name="index">The index.</param>
    public static bool TryLoad(
        byte* encoded,
        long encodedBytes,
        uint blocks,
        long blocksEnd,
        byte* memory,
        out RunIndex index
    )
    {
        index = default;
        byte* at = encoded;
        byte* end = encoded + encodedBytes;
        if (blocks > encodedBytes || !Varint.TryRead(ref at, end, out ulong offset) || offset != RunFormat.HeaderBytes)
        {
            return false;
        }

        var loading = new RunIndex(memory, (int)blocks, 0);
        uint keyOffset = 0;
        for (int block = 0; block < loading.Blocks; block++)
        {
            if (
                !Varint.TryRead(ref at, end, out ulong bytesOnDisk)
                || !Varint.TryRead(ref at, end, out ulong separatorLength)
                || separatorLength > (ulong)(end - at)
                || separatorLength > RunWriter.KeyLimitBytes
                || bytesOnDisk <= RunFormat.BlockHeaderBytes
                || bytesOnDisk > RunFormat.RawLimitBytes + RunFormat.BlockHeaderBytes
            )
            {
                return false;
            }

            loading._offsets[block] = (long)offset;
            loading._keyOffsets[block] = keyOffset;
            new ReadOnlySpan<byte>(at, (int)separatorLength).CopyTo(
                new Span<byte>(loading._keys + keyOffset, (int)separatorLength)
            );
            at += separatorLength;
            keyOffset += (uint)separatorLength;
            offset += bytesOnDisk;
        }

        loading._offsets[loading.Blocks] = (long)offset;
        loading._keyOffsets[loading.Blocks] = keyOffset;
        if (at != end || (long)offset != blocksEnd)
        {
            return false;
        }

        index = loading.WithHeads();
        return true;
    }

    /// <summary>The offset of a block in the file; of the number behind the last: where the blocks end.</summary>
    public long Offset(int block) => _offsets[block];

    /// <summary>The length of a block in the file, in bytes.</summary>
    public int BytesOnDisk(int block) => (int)(_offsets[block + 1] - _offsets[block]);

    /// <summary>Not above any key of the block, and above every key of the block before.</summary>
    public ReadOnlySpan<byte> Separator(int block) =>
        new(_keys + _keyOffsets[block], (int)(_keyOffsets[block + 1] - _keyOffsets[block]));

    /// <summary>
    /// The only block that may hold <paramref name="key"/>; -1 when it is below the first key of the run.
    /// </summary>
    public int BlockOf(ReadOnlySpan<byte> key)
    {
        if (Blocks == 0)
        {
            return -1;
        }

        var prefix = Separator(0)[.._prefixLength];
        if (!key.StartsWith(prefix))
        {
            return key.SequenceCompareTo(prefix) < 0 ? -1 : Blocks - 1;
        }

        var suffix = key[_prefixLength..];
        ulong head = KeyHead.Of8(suffix);
        int low = 0;
        int high = Blocks;
        while (low < high)
        {
            int middle = (int)((uint)(low + high) >> 1);
            bool isAbove =
                _heads[middle] != head
                    ? _heads[middle] > head
                    : Separator(middle)[_prefixLength..].SequenceCompareTo(suffix) > 0;
            if (isAbove)
            {
                high = middle;
            }
            else
            {
                low = middle + 1;
            }
        }

        return low - 1;
    }

    /// <summary>
    /// The block that begins at or before <paramref name="offset"/> of the file; -1 when that lies before the first,
    /// <see cref="Blocks"/> when behind the last.
    /// </summary>
    public int BlockAt(long offset)
    {
        int found = new ReadOnlySpan<long>(_offsets, Blocks + 1).BinarySearch(offset);
        return found >= 0 ? found
            : ~found - 1 == Blocks ? Blocks
            : ~found - 1;
    }

    /// <summary>
    /// Leaves what all separators begin with out of their heads: keys of one database and table differ only behind it.
    /// </summary>
    private RunIndex WithHeads()
    {
        int prefix = Blocks == 0 ? 0 : Separator(0).CommonPrefixLength(Separator(Blocks - 1));
        var index = new RunIndex((byte*)_heads, Blocks, prefix);
        for (int block = 0; block < Blocks; block++)
        {
            var separator = Separator(block);
            Invariant.Holds(separator.Length >= prefix, "separators are in order");
            index._heads[block] = KeyHead.Of8(separator[prefix..]);
        }

        return index;
    }
}
