using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>What a frame says beside its type.</summary>
[Flags]
internal enum FrameFlags : byte
{
    None = 0,

    /// <summary>The last frame of its journal write; the next write begins in the next block.</summary>
    EndOfWrite = 1,

    /// <summary>The second of the two copies of a vote.</summary>
    VoteCopy = 2,

    /// <summary>Every flag this program knows.</summary>
    All = EndOfWrite | VoteCopy,
}

/// <summary>
/// The local header around a replicated payload, 64 bytes, little-endian. It repeats the payload's checksum: without
/// that a stale payload of a recycled segment, of the same length and with its own valid checksum, would pass behind a
/// new header after a torn write.
/// </summary>
/// <param name="Type">What the frame is.</param>
/// <param name="Flags">What it says beside.</param>
/// <param name="Incarnation">The life of the segment it was written in.</param>
/// <param name="Write">The number of the journal write it belongs to.</param>
/// <param name="Index">As in <see cref="JournalFrame"/>.</param>
/// <param name="Term">As in <see cref="JournalFrame"/>.</param>
/// <param name="OperationsBefore">As in <see cref="JournalFrame"/>.</param>
/// <param name="PayloadLength">Bytes of the encoded payload behind the header.</param>
/// <param name="OperationCount">As in <see cref="JournalFrame"/>.</param>
/// <param name="PayloadChecksum">The CRC-32C that the payload ends with; 0 of no payload.</param>
/// <param name="Landmarks">
/// How many landmarks its segment has up to it, itself included; <see cref="UnknownLandmarks"/> when the version that
/// wrote it did not count. Shows whether one is hidden in a gap.
/// </param>
internal readonly record struct FrameHeader(
    FrameType Type,
    FrameFlags Flags,
    long Incarnation,
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
    /// What a header begins with: FF R K F. No UTF-8 text holds the byte FF, so no document's text can pass for a
    /// frame.
    /// </summary>
    public static ReadOnlySpan<byte> Magic => [0xFF, (byte)'R', (byte)'K', (byte)'F'];

    public bool IsReplicated => Type is FrameType.Batch or FrameType.NoOp or FrameType.Configuration;

    /// <summary>Whether it changes what other frames mean, so that its loss has to be noticed.</summary>
    public bool IsLandmark => Type is FrameType.Vote or FrameType.Configuration or FrameType.Truncation;

    /// <summary>
    /// Whether index and term tell where the log ended when it was written; zeros in journals of earlier versions. It
    /// is nothing but a note, so that an entry which rots right before it is known to be lost: a member that had
    /// acknowledged it, stopped in order and did not know, voted for logs without it.
    /// </summary>
    public bool TellsEnd => Type is FrameType.Vote or FrameType.CleanStop or FrameType.Start;

    public bool EndsWrite => (Flags & FrameFlags.EndOfWrite) != FrameFlags.None;

    /// <summary>The header of <paramref name="frame"/> when it is written.</summary>
    public static FrameHeader Of(
        in JournalFrame frame,
        FrameFlags flags,
        long incarnation,
        long write,
        int landmarks
    ) =>
        new(
            frame.Type,
            flags,
            incarnation,
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
    /// Reads a header whose checksum holds. Says nothing about whether it belongs here, or whether its type is known.
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
        BinaryPrimitives.WriteInt64LittleEndian(destination[8..], Incarnation);
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
