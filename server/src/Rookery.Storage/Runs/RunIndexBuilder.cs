using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// Builds the index of a run while its blocks are written: the offset of the first block, then the size and the
/// separator of every block (<see cref="RunFormat"/>).
/// </summary>
internal sealed class RunIndexBuilder
{
    private readonly byte[] _lastKey = new byte[RunWriter.KeyLimitBytes];
    private int _lastKeyLength;
    private readonly GrowableBytes _bytes = new();

    public RunIndexBuilder() => _bytes.AppendVarint(RunFormat.HeaderBytes);

    /// <summary>Length of the index so far, in bytes.</summary>
    public int Length => _bytes.Length;

    public uint Blocks { get; private set; }

    public ReadOnlySpan<byte> Encoded => _bytes.Written;

    /// <summary>Adds the block that was just written.</summary>
    public void Add(ReadOnlySpan<byte> firstKey, ReadOnlySpan<byte> blockLastKey, int bytesOnDisk)
    {
        // A separator is above all keys of the earlier blocks and not above the block's first key: the shortest prefix
        // of that key suffices. The first separator is the whole key: keys below it are surely absent.
        int separatorLength =
            Blocks == 0 ? firstKey.Length : _lastKey.AsSpan(0, _lastKeyLength).CommonPrefixLength(firstKey) + 1;
        _bytes.AppendVarint((ulong)bytesOnDisk);
        _bytes.AppendVarint((ulong)separatorLength);
        _bytes.Append(firstKey[..separatorLength]);
        Blocks++;
        blockLastKey.CopyTo(_lastKey);
        _lastKeyLength = blockLastKey.Length;
    }
}
