using System.Buffers.Binary;
using Rookery.Documents.Attachments;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// The encoding of commands, version 2: <c>[version u8][kind u8][flags u8][database u32][operations u32][key 16 bytes,
/// request 16 bytes if flag 4]</c>, then the body of the kind. Integers are little-endian; the key and the request are
/// hashes, stored big-endian.
/// </summary>
/// <remarks>
/// An operation: <c>[kind | id kind &lt;&lt; 4][flags][id u16+bytes][lower id u16+bytes if flag 8][change vector
/// u8+bytes if MustEqual]</c>, then for a put <c>[expires i64 if flag 4][content u32+bytes]</c>, for a patch
/// <c>[program u32+bytes]</c>. An operation on a compare-exchange value: <c>[kind][flags][key u16+bytes][lower key
/// u16+bytes if flag 8][index i64]</c>, then for a put the expiry and the content as above. An operation on a counter:
/// <c>[kind][flags][id u16+bytes if flag 16][lower id u16+bytes if flags 16 and 8][name u16+bytes][lower name u16+bytes
/// if flag 4]</c>, then for an increment <c>[delta i64]</c>. The first operation of a group has the id for all of them.
/// An operation on revisions continues with <c>[action u8]</c>, then for Revert <c>[etag i64]</c>, for Enforce
/// <c>[includes forced u8]</c>, for Delete <c>[includes forced u8][first i64][from i64][to i64][length varint][etags
/// i64]</c>. An operation on an attachment continues with <c>[name u16+bytes]</c>, and a put with <c>[content type
/// u16+bytes][size i64][hash 32 bytes]</c>. A copy of an attachment continues as <see cref="AttachmentCopyCommand"/>
/// says; a version continues as <see cref="VersionCommand"/> says, then like a put. Apply lower-cases ASCII ids. Other
/// ids carry their lower-cased form, so that nodes with different versions of Unicode agree.
/// </remarks>
internal static class CommandFormat
{
    public const byte Version = 2; // 1 was written before the first release and cannot be read
    public const int FixedHeaderBytes = 11;
    public const int KindOffset = 1;
    public const int FlagsOffset = 2;
    public const int OperationCountOffset = 7;

    // Flags of the header.
    public const byte HeaderSkipsUnchanged = 2;
    public const byte HeaderHasKey = 4; // 1 marked a key without a request hash, in version 1
    public const byte HeaderWithoutGuards = 8;
    public const byte HeaderNamesContents = 16; // some operation puts an attachment, or a version with attachments

    // Some patch reserves etags for other documents: the number of operations in the header includes them.
    public const byte HeaderReservesEtags = 32;

    // An id that ends in '/' gets the next number of its database, as in RavenDB, and not its etag. A HiLo command
    // keeps the metadata of its document. The proposer sets the flag.
    public const byte HeaderNumbersInDatabase = 64;
    public const byte HeaderFlags =
        HeaderSkipsUnchanged
        | HeaderHasKey
        | HeaderWithoutGuards
        | HeaderNamesContents
        | HeaderReservesEtags
        | HeaderNumbersInDatabase;
    public const int KeyedHeaderBytes = FixedHeaderBytes + IdempotencyKey.Length + RequestHash.Length;

    /// <summary>Length of the size and the hash of a content, with which a put of an attachment ends.</summary>
    public const int AttachmentContentBytes = sizeof(long) + ContentHash.Length;

    private const int OperationHeadBytes = 4;

    // Flags of an operation; the lowest bits are the Expectation.
    public const byte ExpectationMask = 3;
    public const byte HasExpiry = 4;
    public const byte HasLowerId = 8;
    public const byte ReturnsDocument = 16;
    public const byte SkipsOnMismatch = 32;
    public const byte ForcesRevision = 64; // of a put

    // Flags of an operation on a counter.
    public const byte HasLowerCounter = 4;
    public const byte StartsGroup = 16;
    public const byte EndsGroup = 32;

    /// <summary>Writes a header. The request hash stays zero until <see cref="RequestHash.Write"/>.</summary>
    public static void WriteHeader(
        CommandBuffer buffer,
        CommandKind kind,
        uint database,
        int operations,
        IdempotencyKey key,
        bool skipUnchanged = false
    )
    {
        Span<byte> span = buffer.GetSpan(KeyedHeaderBytes);
        span[0] = Version;
        span[KindOffset] = (byte)kind;
        span[FlagsOffset] = (byte)((key.IsPresent ? HeaderHasKey : 0) | (skipUnchanged ? HeaderSkipsUnchanged : 0));
        BinaryPrimitives.WriteUInt32LittleEndian(span[3..], database);
        BinaryPrimitives.WriteUInt32LittleEndian(span[OperationCountOffset..], (uint)operations);
        if (key.IsPresent)
        {
            key.Write(span[FixedHeaderBytes..]);
            span[(FixedHeaderBytes + IdempotencyKey.Length)..KeyedHeaderBytes].Clear();
        }

        buffer.Advance(key.IsPresent ? KeyedHeaderBytes : FixedHeaderBytes);
    }

    /// <summary>Returns the number of operations, without the etags that patches reserve.</summary>
    public static int CountOperations(CommandReader command)
    {
        int count = 0;
        while (command.TryReadOperation(out _))
        {
            count++;
        }

        return count;
    }

    /// <summary>Writes the head that all operations share.</summary>
    public static void WriteOperation(
        CommandBuffer buffer,
        OperationKind kind,
        ReadOnlySpan<byte> id,
        ExpectedChangeVector expected,
        byte flags
    )
    {
        Invariant.Holds(id.Length is > 0 and <= DocumentId.MaxBytes, "ids are checked before they are encoded");
        Span<byte> span = buffer.GetSpan(2 + (2 * (2 + DocumentId.MaxBytes)) + 1 + ExpectedChangeVector.MaxBytes);
        span[0] = (byte)((int)kind | ((int)KindOf(kind, id) << 4));
        int at = WriteShort(span, at: 2, id);
        if (!System.Text.Ascii.IsValid(id))
        {
            flags |= HasLowerId;
            int lowerLength = DocumentId.ToLower(id, span.Slice(at + 2, DocumentId.MaxBytes));
            BinaryPrimitives.WriteUInt16LittleEndian(span[at..], (ushort)lowerLength);
            at += 2 + lowerLength;
        }

        span[1] = (byte)(flags | (byte)expected.Expectation);
        if (expected.Expectation == Expectation.MustEqual)
        {
            span[at++] = (byte)expected.Text.Length;
            expected.Text.CopyTo(span[at..]);
            at += expected.Text.Length;
        }

        buffer.Advance(at);
    }

    /// <summary>Writes a put.</summary>
    public static void WritePut(
        CommandBuffer buffer,
        ReadOnlySpan<byte> id,
        ExpectedChangeVector expected,
        in ParsedDocument document,
        bool forcesRevision = false
    )
    {
        byte flags = (byte)(ExpiryFlag(document) | (forcesRevision ? ForcesRevision : 0));
        WriteOperation(buffer, OperationKind.Put, id, expected, flags);
        WriteContent(buffer, document);
    }

    /// <summary>Writes a version of a document.</summary>
    public static void WriteVersion(
        CommandBuffer buffer,
        ReadOnlySpan<byte> id,
        scoped in VersionCommand version,
        in ParsedDocument document,
        bool isForced
    )
    {
        byte flags = (byte)(ExpiryFlag(document) | (isForced ? ForcesRevision : 0));
        WriteOperation(buffer, OperationKind.Version, id, ExpectedChangeVector.None, flags);
        VersionCommand.Write(buffer, version);
        WriteContent(buffer, document);
    }

    /// <summary>Writes a put of a compare-exchange value.</summary>
    public static void WriteCompareExchangePut(
        CommandBuffer buffer,
        ReadOnlySpan<byte> key,
        long index,
        in ParsedDocument value
    )
    {
        WriteOperation(buffer, OperationKind.CompareExchangePut, key, ExpectedChangeVector.None, ExpiryFlag(value));
        WriteInt64(buffer, index);
        WriteContent(buffer, value);
    }

    /// <summary>Writes a delete of a compare-exchange value.</summary>
    public static void WriteCompareExchangeDelete(CommandBuffer buffer, ReadOnlySpan<byte> key, long index)
    {
        WriteOperation(buffer, OperationKind.CompareExchangeDelete, key, ExpectedChangeVector.None, flags: 0);
        WriteInt64(buffer, index);
    }

    /// <summary>Writes an operation on a counter.</summary>
    public static void WriteCounter(
        CommandBuffer buffer,
        OperationKind kind,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> counter,
        long delta,
        byte groupFlags
    )
    {
        bool isAscii = System.Text.Ascii.IsValid(counter);
        byte flags = (byte)(groupFlags | (isAscii ? 0 : HasLowerCounter));
        if ((groupFlags & StartsGroup) != 0)
        {
            WriteOperation(buffer, kind, id, ExpectedChangeVector.None, flags);
        }
        else
        {
            var head = buffer.GetSpan(2);
            head[0] = (byte)kind;
            head[1] = flags;
            buffer.Advance(2);
        }

        Span<byte> span = buffer.GetSpan((2 * (2 + CounterName.MaxBytes)) + sizeof(long));
        int at = WriteShort(span, at: 0, counter);
        if (!isAscii)
        {
            int lowerLength = DocumentId.ToLower(counter, span.Slice(at + 2, CounterName.MaxBytes));
            BinaryPrimitives.WriteUInt16LittleEndian(span[at..], (ushort)lowerLength);
            at += 2 + lowerLength;
        }

        if (kind == OperationKind.CounterIncrement)
        {
            BinaryPrimitives.WriteInt64LittleEndian(span[at..], delta);
            at += sizeof(long);
        }

        buffer.Advance(at);
    }

    /// <summary>Writes a put of an attachment.</summary>
    public static void WriteAttachmentPut(
        CommandBuffer buffer,
        ReadOnlySpan<byte> id,
        ExpectedChangeVector expected,
        in AttachmentEntry attachment
    )
    {
        WriteOperation(buffer, OperationKind.AttachmentPut, id, expected, flags: 0);
        Span<byte> span = buffer.GetSpan(
            (2 * sizeof(ushort)) + attachment.Name.Length + attachment.ContentType.Length + AttachmentContentBytes
        );
        int at = WriteShort(span, WriteShort(span, at: 0, attachment.Name), attachment.ContentType);
        WriteAttachmentContent(span[at..], attachment.Size, attachment.Hash);
        buffer.Advance(at + AttachmentContentBytes);
    }

    /// <summary>Writes the size and the hash of a content.</summary>
    /// <param name="destination">At least <see cref="AttachmentContentBytes"/> bytes.</param>
    /// <param name="size">Size of the content in bytes.</param>
    /// <param name="hash">Its hash.</param>
    public static void WriteAttachmentContent(Span<byte> destination, long size, ContentHash hash)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, size);
        hash.Write(destination[sizeof(long)..]);
    }

    /// <summary>Writes a delete of an attachment.</summary>
    public static void WriteAttachmentDelete(
        CommandBuffer buffer,
        ReadOnlySpan<byte> id,
        ExpectedChangeVector expected,
        ReadOnlySpan<byte> name
    )
    {
        WriteOperation(buffer, OperationKind.AttachmentDelete, id, expected, flags: 0);
        Span<byte> span = buffer.GetSpan(sizeof(ushort) + name.Length);
        buffer.Advance(WriteShort(span, at: 0, name));
    }

    /// <summary>Writes an operation on revisions.</summary>
    public static void WriteRevision(CommandBuffer buffer, ReadOnlySpan<byte> id, scoped in RevisionCommand command)
    {
        WriteOperation(buffer, OperationKind.Revision, id, ExpectedChangeVector.None, flags: 0);
        var span = buffer.GetSpan(2 + (3 * sizeof(long)) + Varint.MaxBytes32 + command.Etags.Length);
        span[0] = (byte)command.Action;
        int at = 1;
        switch (command.Action)
        {
            case RevisionAction.Revert:
                BinaryPrimitives.WriteInt64LittleEndian(span[at..], command.Etag);
                at += sizeof(long);
                break;
            case RevisionAction.Delete:
                span[at++] = command.IncludesForced ? (byte)1 : (byte)0;
                foreach (long number in (ReadOnlySpan<long>)[command.Etag, command.FromTicks, command.ToTicks])
                {
                    BinaryPrimitives.WriteInt64LittleEndian(span[at..], number);
                    at += sizeof(long);
                }

                at += Varint.WriteBytes(span[at..], command.Etags);
                break;
            case RevisionAction.Enforce:
                span[at++] = command.IncludesForced ? (byte)1 : (byte)0;
                break;
            default:
                break;
        }

        buffer.Advance(at);
    }

    private static byte ExpiryFlag(in ParsedDocument document) => document.ExpiresAtTicks == 0 ? (byte)0 : HasExpiry;

    private static void WriteInt64(CommandBuffer buffer, long value)
    {
        BinaryPrimitives.WriteInt64LittleEndian(buffer.GetSpan(sizeof(long)), value);
        buffer.Advance(sizeof(long));
    }

    private static void WriteContent(CommandBuffer buffer, in ParsedDocument document)
    {
        int contentBytes = StoredDocument.ContentBytes(document);
        Span<byte> span = buffer.GetSpan(sizeof(long) + sizeof(int) + contentBytes);
        int at = 0;
        if (document.ExpiresAtTicks != 0)
        {
            BinaryPrimitives.WriteInt64LittleEndian(span, document.ExpiresAtTicks);
            at = sizeof(long);
        }

        BinaryPrimitives.WriteInt32LittleEndian(span[at..], contentBytes);
        at += sizeof(int);
        buffer.Advance(at + StoredDocument.WriteContent(span[at..], document));
    }

    /// <summary>Writes a put without an id: the bytes of its GUID stay zero.</summary>
    /// <returns>Offset of the GUID in the buffer.</returns>
    public static int WritePutWithoutId(
        CommandBuffer buffer,
        ExpectedChangeVector expected,
        in ParsedDocument document,
        bool forcesRevision = false
    )
    {
        int start = buffer.Length;
        Span<byte> emptyGuid = stackalloc byte[GuidId.Length];
        emptyGuid.Clear();
        WritePut(buffer, emptyGuid, expected, document, forcesRevision);
        buffer.WrittenSpan[start] = (int)OperationKind.Put | ((int)CommandIdKind.Generated << 4);
        return start + OperationHeadBytes;
    }

    /// <summary>Writes a 16-bit length and the bytes. Returns the position after them.</summary>
    public static int WriteShort(Span<byte> span, int at, ReadOnlySpan<byte> bytes)
    {
        BinaryPrimitives.WriteUInt16LittleEndian(span[at..], checked((ushort)bytes.Length));
        bytes.CopyTo(span[(at + 2)..]);
        return at + 2 + bytes.Length;
    }

    private static CommandIdKind KindOf(OperationKind kind, ReadOnlySpan<byte> id) =>
        (kind, id[^1]) switch
        {
            (OperationKind.Put, (byte)'/') => CommandIdKind.Numbered,
            (OperationKind.Put, (byte)'|') => CommandIdKind.Identity,
            _ => CommandIdKind.Literal,
        };
}
