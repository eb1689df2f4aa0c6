using Rookery.Disk;

namespace Rookery.Indexing.Segments;

/// <summary>
/// Writes a tree of ascending keys, each with a payload, in one pass from the leaves up. A leaf is about 1 KiB: [varint items], then per item varint shared bytes with the key before,
/// varint further bytes, these bytes, varint payload bytes, the payload. Above it a block holds, per child, a key above the last one of the child before and not above its own first, the shortest above leaves, and as payload
/// varint address and varint number of keys below. Blocks of one level are held back until there are 128 KiB of them, so that a walk over the keys does not step through what the
/// payloads refer to.
/// </summary>
internal sealed class KeyTreeWriter
{
    private const int BlockBytes = 1024;
    private const int LeastItems = 4;
    private const int RunBytes = 128 << 10;

    private readonly SegmentOutput output;
    private readonly bool isLeaf;
    private readonly ByteSink items = new(2 * BlockBytes);
    private readonly ByteSink sealedBlocks = new();
    private readonly List<(byte[] Separator, int Start, long Keys)> run = [];
    private readonly byte[] lastKey = new byte[SegmentFormat.KeyLimitBytes];
    private readonly ByteSink childPayload = new(2 * Varint.LimitBytes);
    private KeyTreeWriter? parent;
    private byte[] separator = [];
    private int lastKeyLength;
    private int itemCount;
    private long keysInBlock;
    private long blocks;
    private long lastAddress;

    public KeyTreeWriter(SegmentOutput output)
        : this(output, isLeaf: true)
    {
    }

    private KeyTreeWriter(SegmentOutput output, bool isLeaf) => (this.output, this.isLeaf) = (output, isLeaf);

    /// <summary>Keys added.</summary>
    public long Count { get; private set; }

    /// <summary>Adds a key, which is higher than the one before (<see cref="Invariant"/>).</summary>
    public void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> payload) => Add(key, payload, keys: 1);

    /// <summary>Writes what is left.</summary>
    public KeyTreeRoot Finish()
    {
        if (Count == 0)
        {
            return default;
        }

        SealBlock();
        return FinishLevel(1);
    }

    private void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> payload, long keys)
    {
        var last = lastKey.AsSpan(0, lastKeyLength);
        Invariant.Holds(key.Length <= SegmentFormat.KeyLimitBytes, "a key is no longer than a term");
        Invariant.Holds(Count == 0 || key.SequenceCompareTo(last) > 0, "the keys of a tree ascend");
        int shared = key.CommonPrefixLength(last);
        if (items.Length >= BlockBytes && itemCount >= LeastItems)
        {
            SealBlock();

            // The keys of a level above are not the last ones below them: what is above one of them need not be above all of its child.
            separator = (isLeaf ? key[..(shared + 1)] : key).ToArray();
        }

        // A block can be read without those before it.
        shared = itemCount == 0 ? 0 : shared;
        items.WriteVarint((ulong)shared);
        items.WriteVarint((ulong)(key.Length - shared));
        items.Write(key[shared..]);
        items.WriteVarint((ulong)payload.Length);
        items.Write(payload);
        key.CopyTo(lastKey);
        lastKeyLength = key.Length;
        itemCount++;
        keysInBlock += keys;
        Count += keys;
    }

    private void SealBlock()
    {
        run.Add((separator, sealedBlocks.Length, keysInBlock));
        sealedBlocks.WriteVarint((ulong)itemCount);
        sealedBlocks.Write(items.Span);
        items.Clear();
        itemCount = 0;
        keysInBlock = 0;
        blocks++;
        if (sealedBlocks.Length >= RunBytes)
        {
            WriteRun();
        }
    }

    private void WriteRun()
    {
        for (int i = 0; i < run.Count; i++)
        {
            int end = i + 1 < run.Count ? run[i + 1].Start : sealedBlocks.Length;
            lastAddress = output.WriteUnit(sealedBlocks.Span[run[i].Start..end]);

            // A tree of one block needs none above it.
            if (blocks > 1)
            {
                parent ??= new KeyTreeWriter(output, isLeaf: false);
                childPayload.Clear();
                childPayload.WriteVarint((ulong)lastAddress);
                childPayload.WriteVarint((ulong)run[i].Keys);
                parent.Add(run[i].Separator, childPayload.Span, run[i].Keys);
            }
        }

        sealedBlocks.Clear();
        run.Clear();
    }

    private KeyTreeRoot FinishLevel(int height)
    {
        WriteRun();
        if (parent is null)
        {
            return new KeyTreeRoot(lastAddress, height, Count);
        }

        parent.SealBlock();
        return parent.FinishLevel(height + 1);
    }
}
