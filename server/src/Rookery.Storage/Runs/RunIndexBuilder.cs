namespace Rookery.Storage;

/// <summary>Gathers the index of a run while its blocks are written.</summary>
internal sealed class RunIndexBuilder
{
    private readonly byte[] lastKey = new byte[RunWriter.KeyLimitBytes];
    private int lastKeyLength;
    private byte[] bytes = new byte[4096];

    public RunIndexBuilder() => Length = Varint.Write(bytes, RunFormat.HeaderBytes);

    /// <summary>Bytes of the index so far.</summary>
    public int Length { get; private set; }

    public uint Blocks { get; private set; }

    public ReadOnlySpan<byte> Encoded => bytes.AsSpan(0, Length);

    /// <summary>Adds the block that was just written.</summary>
    public void Add(ReadOnlySpan<byte> firstKey, ReadOnlySpan<byte> blockLastKey, int bytesOnDisk)
    {
        // The first block keeps its whole first key: what is below it is surely absent.
        int separatorLength = Blocks == 0 ? firstKey.Length : lastKey.AsSpan(0, lastKeyLength).CommonPrefixLength(firstKey) + 1;
        if (bytes.Length - Length < separatorLength + (2 * Varint.LimitBytes))
        {
            Array.Resize(ref bytes, (bytes.Length * 2) + separatorLength);
        }

        Length += Varint.Write(bytes.AsSpan(Length), (ulong)bytesOnDisk);
        Length += Varint.Write(bytes.AsSpan(Length), (ulong)separatorLength);
        firstKey[..separatorLength].CopyTo(bytes.AsSpan(Length));
        Length += separatorLength;
        Blocks++;
        blockLastKey.CopyTo(lastKey);
        lastKeyLength = blockLastKey.Length;
    }
}
