using System.Buffers.Binary;
using Rookery.Documents.Parsing;
using Rookery.Platform;

namespace Rookery.Documents.Stored;

/// <summary>
/// The stored form of a document: a head that apply writes (format, flags, last-modified ticks, expiry, id), then the
/// content exactly as the command contains it (collection, metadata, body), so that apply copies and never parses.
/// </summary>
/// <remarks>
/// Head: <c>[format u8 = 1][flags u8][last-modified i64][expires i64 if flag 1][id length u16][id]</c>.
/// Content: <c>[length varint][collection][length varint][metadata members][body members]</c>. Integers are
/// little-endian.
/// </remarks>
public static class StoredDocument
{
    /// <summary>Maximum length of a head.</summary>
    public const int MaxHeadBytes = 1 + 1 + (2 * sizeof(long)) + sizeof(ushort) + Ids.DocumentId.MaxBytes;

    internal const byte Format = 1;
    internal const byte HasExpiry = 1;

    /// <summary>Writes the head of a stored document.</summary>
    /// <param name="destination">At least <see cref="MaxHeadBytes"/> bytes.</param>
    /// <param name="id">The id as written.</param>
    /// <param name="lastModifiedTicks">Log time of the entry, in UTC ticks.</param>
    /// <param name="expiresAtTicks">Time at which the document expires, in UTC ticks; 0 if never.</param>
    /// <returns>Bytes written.</returns>
    public static int WriteHead(
        Span<byte> destination,
        ReadOnlySpan<byte> id,
        long lastModifiedTicks,
        long expiresAtTicks
    )
    {
        destination[0] = Format;
        destination[1] = expiresAtTicks == 0 ? (byte)0 : HasExpiry;
        BinaryPrimitives.WriteInt64LittleEndian(destination[2..], lastModifiedTicks);
        int at = 2 + sizeof(long);
        if (expiresAtTicks != 0)
        {
            BinaryPrimitives.WriteInt64LittleEndian(destination[at..], expiresAtTicks);
            at += sizeof(long);
        }

        BinaryPrimitives.WriteUInt16LittleEndian(destination[at..], (ushort)id.Length);
        at += sizeof(ushort);
        id.CopyTo(destination[at..]);
        return at + id.Length;
    }

    /// <summary>
    /// Returns the offset of the body in a stored value: the number of bytes that a <see cref="DocumentView"/> without
    /// body needs.
    /// </summary>
    /// <param name="prefix">The first bytes of the value; 1200 always suffice.</param>
    /// <returns>Offset of the body.</returns>
    /// <exception cref="StoredDocumentException">The bytes are no stored document, or have a newer format.</exception>
    public static int BodyOffset(ReadOnlySpan<byte> prefix)
    {
        int at = DocumentView.ReadHead(prefix, out _, out _, out _);
        if (Varint.TryReadBytes(prefix, ref at, out _) && Varint.TryRead(prefix, ref at, out int metadataLength))
        {
            return at + metadataLength;
        }

        throw DocumentView.Broken();
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
