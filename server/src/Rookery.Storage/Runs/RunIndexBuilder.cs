using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>Gathers the index of a run while its blocks are written.</summary>
internal sealed class RunIndexBuilder
{
    private readonly byte[] _lastKey = new byte[RunWriter.KeyLimitBytes];
    private int _lastKeyLength;
    private byte[] _bytes = new byte[4096];

    public RunIndexBuilder() => Length = Varint.Write(_bytes, RunFormat.HeaderBytes);

    /// <summary>Bytes of the index so far.</summary>
    public int Length { get; private set; }

    public uint Blocks { get; private set; }

    public ReadOnlySpan<byte> Encoded => _bytes.AsSpan(0, Length);

    /// <summary>Adds the block that was just written.</summary>
    public void Add(ReadOnlySpan<byte> firstKey, ReadOnlySpan<byte> blockLastKey, int bytesOnDisk)
    {
        // The first block keeps its whole first key: what is below it is surely absent.
        int separatorLength =
            Blocks == 0 ? firstKey.Length : _lastKey.AsSpan(0, _lastKeyLength).CommonPrefixLength(firstKey) + 1;
        if (_bytes.Length - Length < separatorLength + (2 * Varint.MaxBytes64))
        {
            Array.Resize(ref _bytes, (_bytes.Length * 2) + separatorLength);
        }

        Length += Varint.Write(_bytes.AsSpan(Length), (ulong)bytesOnDisk);
        Length += Varint.Write(_bytes.AsSpan(Length), (ulong)separatorLength);
        firstKey[..separatorLength].CopyTo(_bytes.AsSpan(Length));
        Length += separatorLength;
        Blocks++;
        blockLastKey.CopyTo(_lastKey);
        _lastKeyLength = blockLastKey.Length;
    }
}
