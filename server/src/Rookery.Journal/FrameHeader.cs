using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>Flags of a frame.</summary>
[Flags]
internal enum FrameFlags : byte
{
    None = 0,

    /// <summary>The last frame of its journal write. The next write begins in the next block.</summary>
    EndOfWrite = 1,

    /// <summary>The second copy of a vote.</summary>
    VoteCopy = 2,

    /// <summary>All flags that this program knows.</summary>
    All = EndOfWrite | VoteCopy,
}

/// <summary>
/// The header of a frame on this node's disk, 64 bytes, little-endian; it is not replicated. It repeats the payload's
/// checksum. Otherwise, after a torn write into a recycled segment, an old payload of the same length could pass as the
/// payload of a new header.
/// </summary>
/// <remarks>
/// The layout: [4 magic][u8 type][u8 flags][u16 landmarks + 1, 0 for unknown][i64 generation][i64 write][i64 index]
/// [i64 term][i64 operations before][i32 payload length][i32 operation count][u32 payload checksum][u32 CRC-32C of the
/// bytes before].
/// </remarks>
/// <param name="Type">Type of the frame.</param>
/// <param name="Flags">Flags of the frame.</param>
/// <param name="Generation">Generation of the segment when the frame was written.</param>
/// <param name="Write">Number of the journal write that the frame belongs to.</param>
/// <param name="Index">As in <see cref="JournalFrame"/>, or the log's last index (<see cref="RecordsLogEnd"/>).</param>
/// <param name="Term">As in <see cref="JournalFrame"/>, or the term at the log's last index.</param>
/// <param name="OperationsBefore">As in <see cref="JournalFrame"/>.</param>
/// <param name="PayloadLength">Length of the encoded payload, which follows the header.</param>
/// <param name="OperationCount">As in <see cref="JournalFrame"/>.</param>
/// <param name="PayloadChecksum">The CRC-32C at the end of the payload; 0 without payload.</param>
/// <param name="Landmarks">Number of landmarks (<see cref="IsLandmark"/>) in the segment, up to and including this
/// frame; shows whether a gap hides one. <see cref="UnknownLandmarks"/> if an older version wrote the frame.</param>
internal readonly record struct FrameHeader(
    FrameType Type,
    FrameFlags Flags,
    long Generation,
    long Write,
    long Index,
    long Term,
    long OperationsBefore,
    int PayloadLength,
    int OperationCount,
    uint PayloadChecksum,
    int Landmarks
)
{
    public const int Bytes = 64;
    public const int UnknownLandmarks = -1;

    private const int ChecksumOffset = 60;

    /// <summary>
    /// The first bytes of a header: FF R K F. UTF-8 never contains the byte FF, so the text of a document never looks
    /// like a header.
    /// </summary>
    public static ReadOnlySpan<byte> Magic => [0xFF, (byte)'R', (byte)'K', (byte)'F'];

    public bool IsReplicated => Type is FrameType.Batch or FrameType.NoOp or FrameType.Configuration;

    /// <summary>
    /// Whether the loss of this frame must be detected, because it changes the meaning of other frames.
    /// </summary>
    public bool IsLandmark => Type is FrameType.Vote or FrameType.Configuration or FrameType.Truncation;

    /// <summary>
    /// Whether <c>Index</c> and <c>Term</c> repeat the end of the log at the time of writing; both are 0 in journals of
    /// older versions. By them a start detects that an acknowledged entry just before this frame was damaged. Otherwise
    /// a cleanly stopped member could vote for a log that lacks that entry.
    /// </summary>
    public bool RecordsLogEnd => Type is FrameType.Vote or FrameType.CleanStop or FrameType.Start;

    public bool EndsWrite => (Flags & FrameFlags.EndOfWrite) != FrameFlags.None;

    /// <summary>Creates the header of <paramref name="frame"/>.</summary>
    public static FrameHeader Of(in JournalFrame frame, FrameFlags flags, long generation, long write, int landmarks) =>
        new(
            frame.Type,
            flags,
            generation,
            write,
            frame.Index,
            frame.Term,
            frame.OperationsBefore,
            frame.Payload.Length,
            frame.OperationCount,
            Payload.ChecksumIn(frame.Payload.Span),
            landmarks
        );

    /// <summary>
    /// Decodes a header if its checksum matches. Does not check whether the header was written for its place, or
    /// whether its type is known.
    /// </summary>
    public static bool TryRead(ReadOnlySpan<byte> source, out FrameHeader header)
    {
        header = default;
        if (
            source.Length < Bytes
            || !source.StartsWith(Magic)
            || BinaryPrimitives.ReadUInt32LittleEndian(source[ChecksumOffset..])
                != Checksum.Of(source[..ChecksumOffset])
        )
        {
            return false;
        }

        header = new FrameHeader(
            (FrameType)source[4],
            (FrameFlags)source[5],
            BinaryPrimitives.ReadInt64LittleEndian(source[8..]),
            BinaryPrimitives.ReadInt64LittleEndian(source[16..]),
            BinaryPrimitives.ReadInt64LittleEndian(source[24..]),
            BinaryPrimitives.ReadInt64LittleEndian(source[32..]),
            BinaryPrimitives.ReadInt64LittleEndian(source[40..]),
            BinaryPrimitives.ReadInt32LittleEndian(source[48..]),
            BinaryPrimitives.ReadInt32LittleEndian(source[52..]),
            BinaryPrimitives.ReadUInt32LittleEndian(source[56..]),
            BinaryPrimitives.ReadUInt16LittleEndian(source[6..]) - 1
        );
        return true;
    }

    public void WriteTo(Span<byte> destination)
    {
        Magic.CopyTo(destination);
        destination[4] = (byte)Type;
        destination[5] = (byte)Flags;
        BinaryPrimitives.WriteUInt16LittleEndian(
            destination[6..],
            Landmarks < ushort.MaxValue ? (ushort)(Landmarks + 1) : (ushort)0
        );
        BinaryPrimitives.WriteInt64LittleEndian(destination[8..], Generation);
        BinaryPrimitives.WriteInt64LittleEndian(destination[16..], Write);
        BinaryPrimitives.WriteInt64LittleEndian(destination[24..], Index);
        BinaryPrimitives.WriteInt64LittleEndian(destination[32..], Term);
        BinaryPrimitives.WriteInt64LittleEndian(destination[40..], OperationsBefore);
        BinaryPrimitives.WriteInt32LittleEndian(destination[48..], PayloadLength);
        BinaryPrimitives.WriteInt32LittleEndian(destination[52..], OperationCount);
        BinaryPrimitives.WriteUInt32LittleEndian(destination[56..], PayloadChecksum);
        BinaryPrimitives.WriteUInt32LittleEndian(
            destination[ChecksumOffset..],
            Checksum.Of(destination[..ChecksumOffset])
        );
    }
}
