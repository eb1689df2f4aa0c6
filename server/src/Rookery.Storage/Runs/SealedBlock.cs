using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>A block as stored, after its checksum was checked.</summary>
internal readonly unsafe ref struct SealedBlock
{
    /// <summary>Reason for a block that cannot be decoded although its checksum matches.</summary>
    public const string Malformed = "the payload of a block is malformed";

    private readonly ReadOnlySpan<byte> _payload;
    private readonly bool _isCompressed;

    private SealedBlock(ReadOnlySpan<byte> payload, bool isCompressed, int rawLength, int rows)
    {
        _payload = payload;
        _isCompressed = isCompressed;
        RawLength = rawLength;
        Rows = rows;
    }

    public int RawLength { get; }

    public int Rows { get; }

    /// <summary>Memory that <see cref="TryUnpack"/> fills, in bytes.</summary>
    public int MemoryBytes => BlockView.MemoryBytes(RawLength, Rows);

    /// <summary>Checks the bytes of a block.</summary>
    /// <returns>What is wrong; null if the block is valid.</returns>
    public static string? Open(ReadOnlySpan<byte> bytes, long fileId, long offset, out SealedBlock block)
    {
        // The header is [u32 checksum][u32 length and flag][u32 rows].
        block = default;
        if (BinaryPrimitives.ReadUInt32LittleEndian(bytes) != RunFormat.ChecksumOf(fileId, offset, bytes[4..]))
        {
            return "the checksum of a block does not match";
        }

        uint lengthAndFlag = BinaryPrimitives.ReadUInt32LittleEndian(bytes[4..]);
        uint length = lengthAndFlag & ~RunFormat.CompressedFlag;
        uint rows = BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]);
        bool isLz4 = length != lengthAndFlag;
        var stored = bytes[RunFormat.BlockHeaderBytes..];
        if (length > RunFormat.RawLimitBytes || rows > ushort.MaxValue || (!isLz4 && length != stored.Length))
        {
            return "the header of a block is invalid";
        }

        block = new SealedBlock(stored, isLz4, (int)length, (int)rows);
        return null;
    }

    /// <summary>
    /// Writes the raw block and its directory to <paramref name="memory"/>. Returns false if the payload is malformed.
    /// </summary>
    public bool TryUnpack(byte* memory)
    {
        var raw = new Span<byte>(memory, RawLength);
        if (_isCompressed)
        {
            if (!Lz4.TryDecompress(_payload, raw))
            {
                return false;
            }
        }
        else
        {
            _payload.CopyTo(raw);
        }

        return new BlockView(memory, RawLength, Rows).TryBuildDirectory();
    }
}
