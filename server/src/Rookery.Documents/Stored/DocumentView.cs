using System.Buffers.Binary;
using Rookery.Platform;
using Rookery.Scripting.Running;

namespace Rookery.Documents.Stored;

/// <summary>A stored document, decoded in place.</summary>
public readonly ref struct DocumentView
{
    /// <summary>Decodes a stored value.</summary>
    /// <param name="value">The value; if the body is not needed, its first <see cref="StoredDocument.BodyOffset"/>
    /// bytes suffice.</param>
    /// <exception cref="StoredDocumentException">The bytes are not a stored document, or have a newer
    /// format.</exception>
    public DocumentView(ReadOnlySpan<byte> value)
    {
        int at = ReadHead(value, out var head);
        Id = head.Id;
        Attachments = head.Attachments;
        Counters = new DocumentCounters(head.Counters);
        Revisions = head.Revisions;
        LastModifiedTicks = head.LastModifiedTicks;
        ExpiresAtTicks = head.ExpiresAtTicks;
        Content = value[at..];
        if (
            !Varint.TryReadBytes(value, ref at, out ReadOnlySpan<byte> collection)
            || !Varint.TryReadBytes(value, ref at, out ReadOnlySpan<byte> metadata)
        )
        {
            throw Broken();
        }

        Collection = collection;
        Metadata = metadata;
        Body = value[at..];
    }

    /// <summary>The id, as written.</summary>
    public ReadOnlySpan<byte> Id { get; }

    /// <summary>The collection's name; empty for <c>@empty</c>.</summary>
    public ReadOnlySpan<byte> Collection { get; }

    /// <summary>The user's metadata members, without braces.</summary>
    public ReadOnlySpan<byte> Metadata { get; }

    /// <summary>The body's members, without braces.</summary>
    public ReadOnlySpan<byte> Body { get; }

    /// <summary>Time of the last change, in UTC ticks.</summary>
    public long LastModifiedTicks { get; }

    /// <summary>Time at which the document expires, in UTC ticks; 0 if never.</summary>
    public long ExpiresAtTicks { get; }

    /// <summary>
    /// The names of the document's counters: walk over them with <see cref="Stored.CounterNames"/>; empty if it has
    /// none.
    /// </summary>
    public ReadOnlySpan<byte> CounterNames => Counters.Names;

    /// <summary>
    /// The document's attachments, as <see cref="Attachments.AttachmentList"/> reads them; empty if it has none.
    /// </summary>
    public ReadOnlySpan<byte> Attachments { get; }

    /// <summary>What the document stores about its revisions; empty without any.</summary>
    internal ReadOnlySpan<byte> Revisions { get; }

    /// <summary>What the document stores about its counters.</summary>
    internal DocumentCounters Counters { get; }

    /// <summary>The part after the head (<see cref="StoredDocument.WriteHead"/>): collection, metadata, body.</summary>
    public ReadOnlySpan<byte> Content { get; }

    /// <summary>Returns the document in its form for scripts.</summary>
    /// <param name="changeVector">The change vector for the metadata; empty to omit it.</param>
    public ScriptDocument ToScript(ReadOnlySpan<byte> changeVector = default) =>
        new()
        {
            Id = Id,
            Collection = Collection,
            Metadata = Metadata,
            ComputedMetadata = DocumentWriter.ComputedMembers(this),
            Body = Body,
            LastModifiedTicks = LastModifiedTicks,
            ChangeVector = changeVector,
        };

    /// <summary>Decodes a head and returns the offset of the content.</summary>
    internal static int ReadHead(ReadOnlySpan<byte> value, out StoredHead head)
    {
        // Format and flags, the last-modified time, and the length of the id.
        const int FixedBytes = 2 + sizeof(long) + sizeof(ushort);
        if (value.Length < FixedBytes)
        {
            throw Broken();
        }

        if (value[0] != StoredDocument.Format)
        {
            throw new StoredDocumentException(
                $"A stored document has format {value[0]}, and this version reads format "
                    + $"{StoredDocument.Format}: it was written by a newer version, so start that one."
            );
        }

        long expiresAtTicks = 0;
        int at = 2 + sizeof(long);
        if ((value[1] & StoredDocument.HasExpiry) != 0)
        {
            if (value.Length < FixedBytes + sizeof(long))
            {
                throw Broken();
            }

            expiresAtTicks = BinaryPrimitives.ReadInt64LittleEndian(value[at..]);
            at += sizeof(long);
        }

        int counterBytes = ReadPartLength(value, StoredDocument.HasCounters, ref at);
        int attachmentBytes = ReadPartLength(value, StoredDocument.HasAttachments, ref at);
        int revisionBytes = ReadPartLength(value, StoredDocument.HasRevisions, ref at);
        int idLength = BinaryPrimitives.ReadUInt16LittleEndian(value[at..]);
        at += sizeof(ushort);
        head = new StoredHead
        {
            LastModifiedTicks = BinaryPrimitives.ReadInt64LittleEndian(value[2..]),
            ExpiresAtTicks = expiresAtTicks,
            Id = Take(value, ref at, idLength),
            Counters = Take(value, ref at, counterBytes),
            Attachments = Take(value, ref at, attachmentBytes),
            Revisions = Take(value, ref at, revisionBytes),
        };
        return at;
    }

    private static int ReadPartLength(ReadOnlySpan<byte> value, byte flag, scoped ref int at)
    {
        if ((value[1] & flag) == 0)
        {
            return 0;
        }

        if (value.Length < at + sizeof(int) + sizeof(ushort))
        {
            throw Broken();
        }

        at += sizeof(int);
        return BinaryPrimitives.ReadInt32LittleEndian(value[(at - sizeof(int))..]);
    }

    private static ReadOnlySpan<byte> Take(ReadOnlySpan<byte> value, scoped ref int at, int length)
    {
        if ((uint)length > (uint)(value.Length - at))
        {
            throw Broken();
        }

        at += length;
        return value.Slice(at - length, length);
    }

    /// <summary>Returns the length of a head.</summary>
    /// <param name="prefix">The first <see cref="StoredDocument.MaxHeadBytes"/> bytes of the value, or all.</param>
    internal static int ReadHeadLength(ReadOnlySpan<byte> prefix)
    {
        if (prefix.Length < 2)
        {
            throw Broken();
        }

        int at = 2 + sizeof(long) + ((prefix[1] & StoredDocument.HasExpiry) == 0 ? 0 : sizeof(long));
        long parts = 0;
        foreach (
            byte flag in (ReadOnlySpan<byte>)
                [StoredDocument.HasCounters, StoredDocument.HasAttachments, StoredDocument.HasRevisions]
        )
        {
            parts += (uint)ReadPartLength(prefix, flag, ref at);
        }

        if (prefix.Length - at < sizeof(ushort))
        {
            throw Broken();
        }

        long length = at + sizeof(ushort) + BinaryPrimitives.ReadUInt16LittleEndian(prefix[at..]) + parts;
        return length <= int.MaxValue ? (int)length : throw Broken();
    }

    /// <summary>Returns where the part about counters begins in a document that has one.</summary>
    /// <param name="prefix">The first <see cref="StoredDocument.MaxHeadBytes"/> bytes of the value, or all.</param>
    internal static int ReadCountersOffset(ReadOnlySpan<byte> prefix)
    {
        if (prefix.Length < 2)
        {
            throw Broken();
        }

        int idAt =
            2
            + sizeof(long)
            + ((prefix[1] & StoredDocument.HasExpiry) == 0 ? 0 : sizeof(long))
            + ((prefix[1] & StoredDocument.HasCounters) == 0 ? 0 : sizeof(int))
            + ((prefix[1] & StoredDocument.HasAttachments) == 0 ? 0 : sizeof(int))
            + ((prefix[1] & StoredDocument.HasRevisions) == 0 ? 0 : sizeof(int));
        return prefix.Length - idAt >= sizeof(ushort)
            ? idAt + sizeof(ushort) + BinaryPrimitives.ReadUInt16LittleEndian(prefix[idAt..])
            : throw Broken();
    }

    internal static StoredDocumentException Broken() =>
        new(
            "A stored document's lengths do not fit its bytes, although they passed their checksum: a bug "
                + "wrote it, so keep the data directory and report it."
        );
}

/// <summary>The decoded head of a stored document.</summary>
internal readonly ref struct StoredHead
{
    /// <summary>The id, as written.</summary>
    public ReadOnlySpan<byte> Id { get; init; }

    /// <summary>Time of the last change, in UTC ticks.</summary>
    public long LastModifiedTicks { get; init; }

    /// <summary>Time at which the document expires, in UTC ticks; 0 if never.</summary>
    public long ExpiresAtTicks { get; init; }

    /// <summary>See <see cref="DocumentParts.Counters"/>.</summary>
    public ReadOnlySpan<byte> Counters { get; init; }

    /// <summary>See <see cref="DocumentParts.Attachments"/>.</summary>
    public ReadOnlySpan<byte> Attachments { get; init; }

    /// <summary>See <see cref="DocumentParts.Revisions"/>.</summary>
    public ReadOnlySpan<byte> Revisions { get; init; }
}

/// <summary>
/// Thrown if bytes whose checksum is right are not a stored document. A newer version or a bug wrote them.
/// </summary>
/// <param name="message">The problem, in one sentence.</param>
public sealed class StoredDocumentException(string message) : Exception(message);
