using System.Buffers.Binary;
using Rookery.Documents.Attachments;
using Rookery.Documents.Parsing;
using Rookery.Platform;

namespace Rookery.Documents.Stored;

/// <summary>
/// The stored form of a document: a head that apply writes (format, flags, last-modified ticks, expiry, id), then the
/// content exactly as the command contains it (collection, metadata, body), so that apply copies and never parses.
/// </summary>
/// <remarks>
/// Head: <c>[format u8 = 1][flags u8][last-modified i64][expires i64 if flag 1][length of the counters' part u32 if
/// flag 2][length of the attachments' part u32 if flag 4][length of the revisions' part u32 if flag 8][id length
/// u16][id][<see cref="DocumentCounters"/> if flag 2][<see cref="AttachmentList"/> if flag 4][<see
/// cref="Revisions.RevisionFlags"/> u8 and values of counters if flag 8]</c>.
/// Content: <c>[length varint][collection][length varint][metadata members][body members]</c>. Integers are
/// little-endian.
/// </remarks>
public static class StoredDocument
{
    /// <summary>Maximum length of a head without the parts about counters, attachments and revisions.</summary>
    public const int MaxHeadBytes =
        1 + 1 + (2 * sizeof(long)) + (3 * sizeof(int)) + sizeof(ushort) + Ids.DocumentId.MaxBytes;

    internal const byte Format = 1;
    internal const byte HasExpiry = 1;
    internal const byte HasCounters = 2; // from format level 3 on
    internal const byte HasAttachments = 4; // from format level 3 on
    internal const byte HasRevisions = 8; // from format level 3 on
    private const byte HasParts = HasCounters | HasAttachments | HasRevisions;

    // This many bytes suffice to find the start of the body of a document without counters, attachments and revisions.
    internal const int PrefixBytes = 1200;

    /// <summary>
    /// Writes the head of a stored document. The parts about its counters, attachments and revisions follow, in this
    /// order; the caller writes them.
    /// </summary>
    /// <param name="destination">At least <see cref="MaxHeadBytes"/> bytes.</param>
    /// <param name="id">The id as written.</param>
    /// <param name="lastModifiedTicks">Log time of the entry, in UTC ticks.</param>
    /// <param name="expiresAtTicks">Time at which the document expires, in UTC ticks; 0 if never.</param>
    /// <param name="counterBytes">Length of the part about its counters; 0 if it has none.</param>
    /// <param name="attachmentBytes">Length of the part about its attachments; 0 if it has none.</param>
    /// <param name="revisionBytes">Length of the part about its revisions; 0 if it has none.</param>
    /// <returns>Bytes written.</returns>
    public static int WriteHead(
        Span<byte> destination,
        ReadOnlySpan<byte> id,
        long lastModifiedTicks,
        long expiresAtTicks,
        int counterBytes = 0,
        int attachmentBytes = 0,
        int revisionBytes = 0
    )
    {
        destination[0] = Format;
        destination[1] = (byte)(
            (expiresAtTicks == 0 ? 0 : HasExpiry)
            | (counterBytes == 0 ? 0 : HasCounters)
            | (attachmentBytes == 0 ? 0 : HasAttachments)
            | (revisionBytes == 0 ? 0 : HasRevisions)
        );
        BinaryPrimitives.WriteInt64LittleEndian(destination[2..], lastModifiedTicks);
        int at = 2 + sizeof(long);
        if (expiresAtTicks != 0)
        {
            BinaryPrimitives.WriteInt64LittleEndian(destination[at..], expiresAtTicks);
            at += sizeof(long);
        }

        if (counterBytes != 0)
        {
            BinaryPrimitives.WriteInt32LittleEndian(destination[at..], counterBytes);
            at += sizeof(int);
        }

        if (attachmentBytes != 0)
        {
            BinaryPrimitives.WriteInt32LittleEndian(destination[at..], attachmentBytes);
            at += sizeof(int);
        }

        if (revisionBytes != 0)
        {
            BinaryPrimitives.WriteInt32LittleEndian(destination[at..], revisionBytes);
            at += sizeof(int);
        }

        BinaryPrimitives.WriteUInt16LittleEndian(destination[at..], (ushort)id.Length);
        at += sizeof(ushort);
        id.CopyTo(destination[at..]);
        return at + id.Length;
    }

    /// <summary>Returns whether a stored document has a time of expiry.</summary>
    /// <param name="prefix">The first bytes of the value.</param>
    internal static bool MayExpire(ReadOnlySpan<byte> prefix) => prefix.Length > 1 && (prefix[1] & HasExpiry) != 0;

    /// <summary>Appends a head with its parts.</summary>
    internal static void AppendHead(
        PooledBytes output,
        ReadOnlySpan<byte> id,
        long lastModifiedTicks,
        long expiresAtTicks,
        scoped in DocumentParts parts
    )
    {
        output.Advance(
            WriteHead(
                output.Reserve(MaxHeadBytes),
                id,
                lastModifiedTicks,
                expiresAtTicks,
                parts.Counters.Length,
                parts.Attachments.Length,
                parts.Revisions.Length
            )
        );
        output.Append(parts.Counters);
        output.Append(parts.Attachments);
        output.Append(parts.Revisions);
    }

    /// <summary>
    /// Returns the offset of the body in a stored value: the number of bytes that a <see cref="DocumentView"/> without
    /// body needs.
    /// </summary>
    /// <param name="prefix">The first bytes of the value, at least <see cref="PrefixBytesOf"/>.</param>
    /// <returns>Offset of the body.</returns>
    /// <exception cref="StoredDocumentException">The bytes are not a stored document, or have a newer
    /// format.</exception>
    public static int BodyOffset(ReadOnlySpan<byte> prefix)
    {
        int at = DocumentView.ReadHead(prefix, out _);
        if (Varint.TryReadBytes(prefix, ref at, out _) && Varint.TryRead(prefix, ref at, out int metadataLength))
        {
            return at + metadataLength;
        }

        throw DocumentView.Broken();
    }

    /// <summary>Returns the number of first bytes that suffice for <see cref="BodyOffset"/>.</summary>
    /// <param name="prefix">The first bytes of the value, at least <see cref="PrefixBytes"/> or all.</param>
    /// <exception cref="StoredDocumentException">The bytes are not a stored document.</exception>
    internal static long PrefixBytesOf(ReadOnlySpan<byte> prefix)
    {
        int at = 2 + sizeof(long);
        if (prefix.Length < at)
        {
            throw DocumentView.Broken();
        }

        if ((prefix[1] & HasParts) == 0)
        {
            return PrefixBytes;
        }

        at += (prefix[1] & HasExpiry) == 0 ? 0 : sizeof(long);
        long bytes = PrefixBytes;
        for (int parts = prefix[1] & HasParts; parts != 0; parts &= parts - 1)
        {
            bytes +=
                prefix.Length - at >= sizeof(int)
                    ? BinaryPrimitives.ReadUInt32LittleEndian(prefix[at..])
                    : throw DocumentView.Broken();
            at += sizeof(int);
        }

        return bytes;
    }

    /// <summary>Returns the length of a document's content.</summary>
    internal static int ContentBytes(in ParsedDocument document) =>
        Varint.Size((uint)document.Collection.Length)
        + document.Collection.Length
        + Varint.Size((uint)document.Metadata.Length)
        + document.Metadata.Length
        + document.BodyLength;

    /// <summary>Writes the content of a document and returns its length.</summary>
    internal static int WriteContent(Span<byte> destination, in ParsedDocument document)
    {
        int at = Varint.WriteBytes(destination, document.Collection);
        at += Varint.WriteBytes(destination[at..], document.Metadata);
        document.BodyHead.CopyTo(destination[at..]);
        at += document.BodyHead.Length;
        if (!document.BodyHead.IsEmpty && !document.BodyTail.IsEmpty)
        {
            destination[at++] = (byte)',';
        }

        document.BodyTail.CopyTo(destination[at..]);
        return at + document.BodyTail.Length;
    }
}
