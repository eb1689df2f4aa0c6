using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using OperationStatus = Rookery.Documents.Consensus.OperationStatus;

namespace Rookery.Documents.Apply;

/// <summary>
/// The stored form of the outcome of a command with an idempotency key: <c>[u8 format][i64 log time][request 16
/// bytes][i64 index][u32 count]([u8 status][i64 etag][i64 last modified][i64 low][i64 high][text id][text
/// collection][hash 32 bytes, i64 size, text content type if the highest bit of the status is set])*</c>. A text is
/// <c>[u16 length + 1, or 0 for null][UTF-8]</c>. Documents returned by a patch are not stored: a client can read them
/// again.
/// </summary>
internal static class OutcomeEncoding
{
    private const byte Format = 2; // 1 had no hash of the request, before the first release
    private const int RequestOffset = 1 + sizeof(long);
    private const int IndexOffset = RequestOffset + RequestHash.Length;
    private const int HeadBytes = IndexOffset + sizeof(long) + sizeof(int);
    private const int HasAttachment = 0x80; // from FormatLevel.Attachments on
    private const int ResultBytes = 1 + (4 * sizeof(long));

    /// <summary>Appends an outcome.</summary>
    /// <param name="writer">Receives the bytes.</param>
    /// <param name="request">The hash of the request (<see cref="RequestHash"/>).</param>
    /// <param name="outcome">The outcome; not a rejection.</param>
    public static void Write(IBufferWriter<byte> writer, UInt128 request, in CommandOutcome outcome)
    {
        var head = writer.GetSpan(HeadBytes);
        head[0] = Format;
        BinaryPrimitives.WriteInt64LittleEndian(head[1..], outcome.LogTimeTicks);
        BinaryPrimitives.WriteUInt128BigEndian(head[RequestOffset..], request);
        BinaryPrimitives.WriteInt64LittleEndian(head[IndexOffset..], outcome.Index);
        BinaryPrimitives.WriteInt32LittleEndian(head[(IndexOffset + sizeof(long))..], outcome.Count);
        writer.Advance(HeadBytes);
        for (int i = 0; i < outcome.Count; i++)
        {
            var result = outcome[i];
            var span = writer.GetSpan(ResultBytes);
            span[0] = (byte)((int)result.Status | (result.Attachment is null ? 0 : HasAttachment));
            BinaryPrimitives.WriteInt64LittleEndian(span[1..], result.Etag);
            BinaryPrimitives.WriteInt64LittleEndian(span[9..], result.LastModifiedTicks);
            BinaryPrimitives.WriteInt64LittleEndian(span[17..], result.Low);
            BinaryPrimitives.WriteInt64LittleEndian(span[25..], result.High);
            writer.Advance(ResultBytes);
            WriteText(writer, result.Id);
            WriteText(writer, result.Collection);
            if (result.Attachment is { } attachment)
            {
                WriteAttachment(writer, attachment);
            }
        }
    }

    /// <summary>Returns the log time of the command, in UTC ticks.</summary>
    public static long LogTicksOf(ReadOnlySpan<byte> value)
    {
        FormatGuard.Expect(value.Length >= HeadBytes && value[0] == Format, "idempotency key");
        return BinaryPrimitives.ReadInt64LittleEndian(value[1..]);
    }

    /// <summary>Returns the hash of the request that had this outcome.</summary>
    public static UInt128 RequestOf(ReadOnlySpan<byte> value) => RequestHash.Read(value[RequestOffset..]);

    public static CommandOutcome Read(ReadOnlySpan<byte> value)
    {
        long logTicks = LogTicksOf(value);
        long index = BinaryPrimitives.ReadInt64LittleEndian(value[IndexOffset..]);
        int count = BinaryPrimitives.ReadInt32LittleEndian(value[(IndexOffset + sizeof(long))..]);
        value = value[HeadBytes..];
        var results = new OperationResult[count];
        foreach (ref var result in results.AsSpan())
        {
            var head = value[..ResultBytes];
            value = value[ResultBytes..];
            result = new OperationResult
            {
                Status = (OperationStatus)(head[0] & ~HasAttachment),
                Etag = BinaryPrimitives.ReadInt64LittleEndian(head[1..]),
                LastModifiedTicks = BinaryPrimitives.ReadInt64LittleEndian(head[9..]),
                Low = BinaryPrimitives.ReadInt64LittleEndian(head[17..]),
                High = BinaryPrimitives.ReadInt64LittleEndian(head[25..]),
                Id = ReadText(ref value),
                Collection = ReadText(ref value),
                Attachment = (head[0] & HasAttachment) == 0 ? null : ReadAttachment(ref value),
            };
        }

        return new CommandOutcome(index, logTicks, results);
    }

    private static void WriteAttachment(IBufferWriter<byte> writer, CopiedAttachment attachment)
    {
        var span = writer.GetSpan(ContentHash.Length + sizeof(long));
        attachment.Hash.Write(span);
        BinaryPrimitives.WriteInt64LittleEndian(span[ContentHash.Length..], attachment.Size);
        writer.Advance(ContentHash.Length + sizeof(long));
        WriteText(writer, attachment.ContentType);
    }

    private static CopiedAttachment ReadAttachment(ref ReadOnlySpan<byte> value)
    {
        var hash = ContentHash.Read(value);
        long size = BinaryPrimitives.ReadInt64LittleEndian(value[ContentHash.Length..]);
        value = value[(ContentHash.Length + sizeof(long))..];
        return new CopiedAttachment(hash, ReadText(ref value) ?? string.Empty, size);
    }

    private static void WriteText(IBufferWriter<byte> writer, string? text)
    {
        int length = text is null ? 0 : Encoding.UTF8.GetByteCount(text);
        var span = writer.GetSpan(sizeof(ushort) + length);
        BinaryPrimitives.WriteUInt16LittleEndian(span, (ushort)(text is null ? 0 : length + 1));
        Encoding.UTF8.GetBytes(text, span[sizeof(ushort)..]);
        writer.Advance(sizeof(ushort) + length);
    }

    private static string? ReadText(ref ReadOnlySpan<byte> value)
    {
        int length = BinaryPrimitives.ReadUInt16LittleEndian(value) - 1;
        value = value[sizeof(ushort)..];
        if (length < 0)
        {
            return null;
        }

        string text = Encoding.UTF8.GetString(value[..length]);
        value = value[length..];
        return text;
    }
}
