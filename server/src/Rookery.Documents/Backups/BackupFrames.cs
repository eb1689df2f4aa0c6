using System.Buffers;
using System.Buffers.Binary;
using Rookery.Journal;
using Rookery.Platform;

namespace Rookery.Documents.Backups;

/// <summary>
/// The file <c>frames</c> of a backup: the journal entries after the last index in the backup's runs, in order. The
/// file begins with <see cref="Preamble"/>. An entry is <c>[u32 payload length][u8 type][i64 index][i64 term][i64
/// operations before][u32 operations][u32 CRC-32C][payload]</c>, little-endian. The CRC covers the fields before it and
/// the payload.
/// </summary>
internal static class BackupFrames
{
    /// <summary>The name of the file.</summary>
    public const string FileName = "frames";

    private const int HeaderBytes = 37;
    private const int ChecksumOffset = HeaderBytes - sizeof(uint);

    /// <summary>The first bytes of the file; they name the version of the format.</summary>
    public static ReadOnlySpan<byte> Preamble => "rookery frames 1\n"u8;

    public static void Write(IBufferWriter<byte> output, in JournalFrame frame)
    {
        Span<byte> head = output.GetSpan(HeaderBytes);
        BinaryPrimitives.WriteInt32LittleEndian(head, frame.Payload.Length);
        head[4] = (byte)frame.Type;
        BinaryPrimitives.WriteInt64LittleEndian(head[5..], frame.Index);
        BinaryPrimitives.WriteInt64LittleEndian(head[13..], frame.Term);
        BinaryPrimitives.WriteInt64LittleEndian(head[21..], frame.OperationsBefore);
        BinaryPrimitives.WriteInt32LittleEndian(head[29..], frame.OperationCount);
        BinaryPrimitives.WriteUInt32LittleEndian(
            head[ChecksumOffset..],
            ChecksumOf(head[..ChecksumOffset], frame.Payload.Span)
        );
        output.Advance(HeaderBytes);
        output.Write(frame.Payload.Span);
    }

    /// <summary>Reads all entries. Each has its own array, so it stays valid.</summary>
    /// <exception cref="BackupException">The file is damaged or of another version.</exception>
    public static IEnumerable<JournalFrame> Read(IDiskFile file)
    {
        byte[] head = new byte[HeaderBytes];
        long offset = Preamble.Length;
        if (file.Read(head.AsSpan(0, Preamble.Length), 0) < Preamble.Length)
        {
            throw Truncated(file, offset: 0);
        }

        if (!head.AsSpan(0, Preamble.Length).SequenceEqual(Preamble))
        {
            throw new BackupException(
                $"{file.Path} is not a file of frames that this version of Rookery reads. Restore with the "
                    + $"version that took the backup."
            );
        }

        while (offset < file.Length)
        {
            if (file.Read(head, offset) < HeaderBytes)
            {
                throw Truncated(file, offset);
            }

            int length = BinaryPrimitives.ReadInt32LittleEndian(head);
            if (length < 0)
            {
                throw Damaged(file, offset);
            }

            // The length is checked before the payload is allocated, because a damaged length could be huge.
            if (length > file.Length - offset - HeaderBytes)
            {
                throw Truncated(file, offset);
            }

            byte[] payload = new byte[length];
            if (file.Read(payload, offset + HeaderBytes) < length)
            {
                throw Truncated(file, offset);
            }

            if (
                ChecksumOf(head.AsSpan(0, ChecksumOffset), payload)
                != BinaryPrimitives.ReadUInt32LittleEndian(head.AsSpan(ChecksumOffset))
            )
            {
                throw Damaged(file, offset);
            }

            yield return Decode(head, payload);
            offset += HeaderBytes + length;
        }
    }

    private static JournalFrame Decode(ReadOnlySpan<byte> head, byte[] payload) =>
        new(
            (FrameType)head[4],
            BinaryPrimitives.ReadInt64LittleEndian(head[5..]),
            BinaryPrimitives.ReadInt64LittleEndian(head[13..]),
            BinaryPrimitives.ReadInt64LittleEndian(head[21..]),
            BinaryPrimitives.ReadInt32LittleEndian(head[29..]),
            payload
        );

    private static uint ChecksumOf(ReadOnlySpan<byte> head, ReadOnlySpan<byte> payload) =>
        Checksum.Finish(Checksum.Append(Checksum.Append(Checksum.Start, head), payload));

    private static BackupException Damaged(IDiskFile file, long offset) =>
        new($"{file.Path} is damaged at byte {offset}: the checksum of an entry does not match. Use another backup.");

    private static BackupException Truncated(IDiskFile file, long offset) =>
        new(
            $"{file.Path} is incomplete or damaged: it ends before the length of the part that begins at byte "
                + $"{offset}. Use another backup."
        );
}
