using System.Buffers.Binary;
using Rookery.Documents.Stored;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Attachments;

/// <summary>One attachment of a document. Spans point into the stored document.</summary>
public readonly ref struct AttachmentEntry
{
    /// <summary>The name, UTF-8.</summary>
    public ReadOnlySpan<byte> Name { get; init; }

    /// <summary>The content type, UTF-8; empty if none was given.</summary>
    public ReadOnlySpan<byte> ContentType { get; init; }

    /// <summary>Hash of the content.</summary>
    public ContentHash Hash { get; init; }

    /// <summary>Size of the content in bytes.</summary>
    public long Size { get; init; }

    /// <summary>Etag of the operation that stored the attachment.</summary>
    public long Etag { get; init; }
}

/// <summary>
/// The attachments of a document, as the head of the stored document contains them, ordered by name: for each
/// <c>[etag i64][size i64][hash 32 bytes][length varint][name][length varint][content type]</c>. Reads them in turn.
/// </summary>
/// <param name="list">The bytes; empty for a document without attachments.</param>
public ref struct AttachmentList(ReadOnlySpan<byte> list)
{
    /// <summary>Maximum length of a name in bytes.</summary>
    public const int MaxNameBytes = 512;

    /// <summary>Maximum length of a content type in bytes.</summary>
    public const int MaxContentTypeBytes = 256;

    /// <summary>Maximum length of a document's list in bytes: about 300 attachments.</summary>
    public const int MaxBytes = 32 << 10;

    private const int FixedBytes = (2 * sizeof(long)) + ContentHash.Length;

    // Names of members, quotes, the hash in base64, and the digits of the size.
    private const int JsonBytesPerEntry = 160;

    private readonly ReadOnlySpan<byte> _list = list;
    private int _position;

    /// <summary>Reads the next attachment; false at the end.</summary>
    /// <exception cref="StoredDocumentException">The bytes are no list of attachments.</exception>
    public bool TryRead(out AttachmentEntry entry)
    {
        entry = default;
        if (_position == _list.Length)
        {
            return false;
        }

        var bytes = _list[_position..];
        int at = FixedBytes;
        if (
            bytes.Length < FixedBytes
            || !Varint.TryReadBytes(bytes, ref at, out var name)
            || !Varint.TryReadBytes(bytes, ref at, out var contentType)
        )
        {
            throw DocumentView.Broken();
        }

        _position += at;
        entry = new AttachmentEntry
        {
            Etag = BinaryPrimitives.ReadInt64LittleEndian(bytes),
            Size = BinaryPrimitives.ReadInt64LittleEndian(bytes[sizeof(long)..]),
            Hash = ContentHash.Read(bytes[(2 * sizeof(long))..]),
            Name = name,
            ContentType = contentType,
        };
        return true;
    }

    /// <summary>Returns whether a name, in UTF-8, is one that an attachment can have.</summary>
    public static bool IsName(ReadOnlySpan<byte> name) => name.Length is > 0 and <= MaxNameBytes;

    /// <summary>Returns whether a content type, in UTF-8, is one that an attachment can have.</summary>
    public static bool IsContentType(ReadOnlySpan<byte> contentType) => contentType.Length <= MaxContentTypeBytes;

    /// <summary>Finds an attachment by name, without regard to the case of ASCII letters.</summary>
    public static bool TryFind(ReadOnlySpan<byte> list, ReadOnlySpan<byte> name, out AttachmentEntry entry)
    {
        var reader = new AttachmentList(list);
        while (reader.TryRead(out entry))
        {
            if (Compare(entry.Name, name) == 0)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Writes a list without the attachment of a name. Adds an entry, if there is one to add.</summary>
    /// <param name="list">The list.</param>
    /// <param name="name">The name to replace or remove.</param>
    /// <param name="added">The entry to add, of the same name.</param>
    /// <param name="adds">Whether to add the entry; otherwise the name is only removed.</param>
    /// <param name="destination">At least the length of the list and of the entry.</param>
    /// <returns>Bytes written.</returns>
    internal static int Write(
        ReadOnlySpan<byte> list,
        ReadOnlySpan<byte> name,
        scoped in AttachmentEntry added,
        bool adds,
        Span<byte> destination
    )
    {
        int written = 0;
        bool isAdded = !adds;
        var reader = new AttachmentList(list);
        while (reader.TryRead(out var entry))
        {
            int order = Compare(entry.Name, name);
            if (order >= 0 && !isAdded)
            {
                written += WriteEntry(destination[written..], added);
                isAdded = true;
            }

            written += order == 0 ? 0 : WriteEntry(destination[written..], entry);
        }

        return isAdded ? written : written + WriteEntry(destination[written..], added);
    }

    /// <summary>Sets the etag of all attachments of a list.</summary>
    internal static void SetEtags(Span<byte> list, long etag)
    {
        var reader = new AttachmentList(list);
        for (int at = 0; reader.TryRead(out _); at = reader._position)
        {
            BinaryPrimitives.WriteInt64LittleEndian(list[at..], etag);
        }
    }

    /// <summary>Returns the number of attachments.</summary>
    internal static int CountOf(ReadOnlySpan<byte> list)
    {
        int count = 0;
        var reader = new AttachmentList(list);
        while (reader.TryRead(out _))
        {
            count++;
        }

        return count;
    }

    /// <summary>Returns the length of an entry.</summary>
    public static int SizeOf(scoped in AttachmentEntry entry) =>
        FixedBytes
        + Varint.Size((uint)entry.Name.Length)
        + entry.Name.Length
        + Varint.Size((uint)entry.ContentType.Length)
        + entry.ContentType.Length;

    /// <summary>Returns an upper bound of the bytes that <see cref="WriteJson"/> writes.</summary>
    internal static int MaxJsonBytes(ReadOnlySpan<byte> list)
    {
        const int MemberBytes = 64;
        int bytes = MemberBytes;
        var reader = new AttachmentList(list);
        while (reader.TryRead(out var entry))
        {
            bytes += JsonBytesPerEntry + JsonText.EscapedBytes(entry.Name) + JsonText.EscapedBytes(entry.ContentType);
        }

        return bytes;
    }

    /// <summary>Writes the members of the metadata, each followed by a comma, and returns their length.</summary>
    internal static int WriteJson(Span<byte> destination, ReadOnlySpan<byte> list)
    {
        int at = Copy(destination, 0, "\"@attachments\":["u8);
        var reader = new AttachmentList(list);
        bool first = true;
        while (reader.TryRead(out var entry))
        {
            at = Copy(destination, at, first ? "{\"Name\":\""u8 : ",{\"Name\":\""u8);
            at += JsonText.Escape(entry.Name, destination[at..]);
            at = Copy(destination, at, "\",\"Hash\":\""u8);
            at += entry.Hash.WriteBase64(destination[at..]);
            at = Copy(destination, at, "\",\"ContentType\":\""u8);
            at += JsonText.Escape(entry.ContentType, destination[at..]);
            at = Copy(destination, at, "\",\"Size\":"u8);
            System.Buffers.Text.Utf8Formatter.TryFormat(entry.Size, destination[at..], out int digits);
            at = Copy(destination, at + digits, "}"u8);
            first = false;
        }

        return Copy(destination, at, "],"u8);
    }

    // Does not use the runtime's tables of Unicode, because apply must have the same result with every version.
    private static int Compare(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right)
    {
        int common = Math.Min(left.Length, right.Length);
        for (int i = 0; i < common; i++)
        {
            int difference = Lower(left[i]) - Lower(right[i]);
            if (difference != 0)
            {
                return difference;
            }
        }

        return left.Length - right.Length;
    }

    private static int Lower(byte letter) => letter is >= (byte)'A' and <= (byte)'Z' ? letter | 0x20 : letter;

    private static int WriteEntry(Span<byte> destination, scoped in AttachmentEntry entry)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, entry.Etag);
        BinaryPrimitives.WriteInt64LittleEndian(destination[sizeof(long)..], entry.Size);
        entry.Hash.Write(destination[(2 * sizeof(long))..]);
        int at = FixedBytes;
        at += Varint.WriteBytes(destination[at..], entry.Name);
        return at + Varint.WriteBytes(destination[at..], entry.ContentType);
    }

    private static int Copy(Span<byte> destination, int at, ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(destination[at..]);
        return at + bytes.Length;
    }
}
