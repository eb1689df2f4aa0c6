using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>State of a segment's first block.</summary>
internal enum SegmentHeaderState
{
    /// <summary>All zeros: prepared and never used.</summary>
    Unused,

    /// <summary>A header with a matching checksum.</summary>
    Valid,

    /// <summary>Anything else: torn or damaged.</summary>
    Unreadable,
}

/// <summary>
/// The first block of a segment. It repeats the state from older segments that is still valid (vote, configuration,
/// loss), so that the older segments can be recycled. It also contains the previous segment's end, so that remains of a
/// torn write after that end are never read.
/// </summary>
/// <remarks>
/// The layout, little-endian: [8 magic][i32 version][i32 slot][i64 segment bytes][i64 generation][16 cluster id]
/// [16 store id][i64 first write][i64 previous generation][i64 previous end][i64 index][i64 term][i64 operations]
/// [i64 configuration index][i64 reset mark][4 zero][u16 vote length][u16 configuration length][vote][configuration].
/// At the end of the block: [i64 term and i64 index of the loss][u32 CRC-32C of all before].
/// </remarks>
internal sealed record SegmentHeader
{
    public const int Bytes = 4096;

    /// <summary>
    /// The version that is written. Since version 2 a write may end with a commit frame, and votes, starts and
    /// stops repeat the log's end. Segments of version 1 can be read; the log then continues in a segment of this
    /// version.
    /// </summary>
    public const int FormatVersion = 2;
    public const int MaxVoteBytes = 64 + Payload.OverheadBytes;
    public const int MaxConfigurationBytes = 2048 + Payload.OverheadBytes;

    private const ulong Magic = 0x314745534A4B52FF; // FF R K J S E G 1
    private const int VoteLengthOffset = 132;
    private const int ConfigurationLengthOffset = 134;
    private const int VoteOffset = 136;
    private const int ConfigurationOffset = VoteOffset + MaxVoteBytes;
    private const int LostOffset = ChecksumOffset - (2 * sizeof(long));
    private const int ChecksumOffset = Bytes - sizeof(uint);

    /// <summary>Format version of the segment.</summary>
    public int Version { get; private init; } = FormatVersion;

    /// <summary>The number in the file's name, to detect a copy under another name.</summary>
    public required int Slot { get; init; }

    /// <summary>Length of the file.</summary>
    public required long SegmentBytes { get; init; }

    /// <summary>Generation of the segment: a number that rises with each use of any segment.</summary>
    public required long Generation { get; init; }

    public required Guid ClusterId { get; init; }

    public required Guid StoreId { get; init; }

    /// <summary>Number of the first journal write in the segment.</summary>
    public required long FirstWrite { get; init; }

    /// <summary>Generation of the previous segment; 0 if the journal begins here.</summary>
    public required long PreviousGeneration { get; init; }

    /// <summary>Offset of the previous segment's end.</summary>
    public required long PreviousEnd { get; init; }

    /// <summary>Position before the first entry.</summary>
    public required JournalPosition Position { get; init; }

    /// <summary>Mark of the journal's last reset (<see cref="JournalReset.Mark"/>); 0 if it was never reset.</summary>
    public required long ResetMark { get; init; }

    /// <summary>The loss that was known when the segment was started (<see cref="LogMap.Lost"/>).</summary>
    public required EntryPosition Lost { get; init; }

    public required ReadOnlyMemory<byte> Vote { get; init; }

    public required long ConfigurationIndex { get; init; }

    public required ReadOnlyMemory<byte> Configuration { get; init; }

    /// <summary>Decodes the first block of the file at <paramref name="path"/>.</summary>
    /// <exception cref="JournalFormatException">A valid header of a version that this program does not
    /// know.</exception>
    public static SegmentHeaderState Read(ReadOnlySpan<byte> block, string path, out SegmentHeader? header)
    {
        header = null;
        if (!block.ContainsAnyExcept((byte)0))
        {
            return SegmentHeaderState.Unused;
        }

        if (
            block.Length < Bytes
            || BinaryPrimitives.ReadUInt64LittleEndian(block) != Magic
            || BinaryPrimitives.ReadUInt32LittleEndian(block[ChecksumOffset..]) != Checksum.Of(block[..ChecksumOffset])
        )
        {
            return SegmentHeaderState.Unreadable;
        }

        int version = BinaryPrimitives.ReadInt32LittleEndian(block[8..]);
        if (version is < 1 or > FormatVersion)
        {
            throw new JournalFormatException(
                $"{path} has journal format version {version}, and this program reads versions up to "
                    + $"{FormatVersion}: start the version of Rookery that wrote it."
            );
        }

        int voteLength = BinaryPrimitives.ReadUInt16LittleEndian(block[VoteLengthOffset..]);
        int configurationLength = BinaryPrimitives.ReadUInt16LittleEndian(block[ConfigurationLengthOffset..]);
        if (voteLength > MaxVoteBytes || configurationLength > MaxConfigurationBytes)
        {
            return SegmentHeaderState.Unreadable;
        }

        header = new SegmentHeader
        {
            Version = version,
            Slot = BinaryPrimitives.ReadInt32LittleEndian(block[12..]),
            SegmentBytes = BinaryPrimitives.ReadInt64LittleEndian(block[16..]),
            Generation = BinaryPrimitives.ReadInt64LittleEndian(block[24..]),
            ClusterId = new Guid(block.Slice(32, 16)),
            StoreId = new Guid(block.Slice(48, 16)),
            FirstWrite = BinaryPrimitives.ReadInt64LittleEndian(block[64..]),
            PreviousGeneration = BinaryPrimitives.ReadInt64LittleEndian(block[72..]),
            PreviousEnd = BinaryPrimitives.ReadInt64LittleEndian(block[80..]),
            Position = new JournalPosition(
                BinaryPrimitives.ReadInt64LittleEndian(block[88..]),
                BinaryPrimitives.ReadInt64LittleEndian(block[96..]),
                BinaryPrimitives.ReadInt64LittleEndian(block[104..])
            ),
            ConfigurationIndex = BinaryPrimitives.ReadInt64LittleEndian(block[112..]),
            ResetMark = BinaryPrimitives.ReadInt64LittleEndian(block[120..]),
            Lost = new EntryPosition(
                BinaryPrimitives.ReadInt64LittleEndian(block[LostOffset..]),
                BinaryPrimitives.ReadInt64LittleEndian(block[(LostOffset + sizeof(long))..])
            ),
            Vote = block.Slice(VoteOffset, voteLength).ToArray(),
            Configuration = block.Slice(ConfigurationOffset, configurationLength).ToArray(),
        };
        return SegmentHeaderState.Valid;
    }

    public void WriteTo(Span<byte> block)
    {
        block[..Bytes].Clear();
        BinaryPrimitives.WriteUInt64LittleEndian(block, Magic);
        BinaryPrimitives.WriteInt32LittleEndian(block[8..], Version);
        BinaryPrimitives.WriteInt32LittleEndian(block[12..], Slot);
        BinaryPrimitives.WriteInt64LittleEndian(block[16..], SegmentBytes);
        BinaryPrimitives.WriteInt64LittleEndian(block[24..], Generation);
        ClusterId.TryWriteBytes(block[32..]);
        StoreId.TryWriteBytes(block[48..]);
        BinaryPrimitives.WriteInt64LittleEndian(block[64..], FirstWrite);
        BinaryPrimitives.WriteInt64LittleEndian(block[72..], PreviousGeneration);
        BinaryPrimitives.WriteInt64LittleEndian(block[80..], PreviousEnd);
        BinaryPrimitives.WriteInt64LittleEndian(block[88..], Position.Index);
        BinaryPrimitives.WriteInt64LittleEndian(block[96..], Position.Term);
        BinaryPrimitives.WriteInt64LittleEndian(block[104..], Position.Operations);
        BinaryPrimitives.WriteInt64LittleEndian(block[112..], ConfigurationIndex);
        BinaryPrimitives.WriteInt64LittleEndian(block[120..], ResetMark);
        BinaryPrimitives.WriteUInt16LittleEndian(block[VoteLengthOffset..], (ushort)Vote.Length);
        BinaryPrimitives.WriteUInt16LittleEndian(block[ConfigurationLengthOffset..], (ushort)Configuration.Length);
        BinaryPrimitives.WriteInt64LittleEndian(block[LostOffset..], Lost.Term);
        BinaryPrimitives.WriteInt64LittleEndian(block[(LostOffset + sizeof(long))..], Lost.Index);
        Vote.Span.CopyTo(block[VoteOffset..]);
        Configuration.Span.CopyTo(block[ConfigurationOffset..]);
        BinaryPrimitives.WriteUInt32LittleEndian(block[ChecksumOffset..Bytes], Checksum.Of(block[..ChecksumOffset]));
    }
}
