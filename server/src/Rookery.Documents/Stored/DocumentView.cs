using System.Buffers.Binary;
using Rookery.Platform;
using Rookery.Scripting.Running;

namespace Rookery.Documents.Stored;

/// <summary>A stored document, read in place.</summary>
public readonly ref struct DocumentView
{
    /// <summary>Reads a stored value.</summary>
    /// <param name="value">The value, or as much of it as <see cref="StoredDocument.BodyOffset"/> says, when the body
    /// is not needed.</param>
    /// <exception cref="StoredDocumentException">The bytes are no stored document, or of a newer format.</exception>
    public DocumentView(ReadOnlySpan<byte> value)
    {
        int at = ReadHead(value, out ReadOnlySpan<byte> id, out long lastModified, out long expires);
        Id = id;
        LastModifiedTicks = lastModified;
        ExpiresAtTicks = expires;
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

    /// <summary>The id, cased as it was written.</summary>
    public ReadOnlySpan<byte> Id { get; }

    /// <summary>The collection's name; empty for <c>@empty</c>.</summary>
    public ReadOnlySpan<byte> Collection { get; }

    /// <summary>The user's metadata members, without braces.</summary>
    public ReadOnlySpan<byte> Metadata { get; }

    /// <summary>The body's members, without braces.</summary>
    public ReadOnlySpan<byte> Body { get; }

    /// <summary>Time of the last change, UTC ticks.</summary>
    public long LastModifiedTicks { get; }

    /// <summary>When the document ends, UTC ticks; 0 = never.</summary>
    public long ExpiresAtTicks { get; }

    /// <summary>What follows the head (<see cref="StoredDocument.WriteHead"/>): collection, metadata, body.</summary>
    public ReadOnlySpan<byte> Content { get; }

    /// <summary>The document as scripts see it.</summary>
    /// <param name="changeVector">Its change vector for the metadata; empty to leave it out.</param>
    public ScriptDocument ToScript(ReadOnlySpan<byte> changeVector = default) =>
        new()
        {
            Id = Id,
            Collection = Collection,
            Metadata = Metadata,
            Body = Body,
            LastModifiedTicks = LastModifiedTicks,
            ChangeVector = changeVector,
        };

    /// <summary>Reads a head; returns the offset of the content.</summary>
    internal static int ReadHead(
        ReadOnlySpan<byte> value,
        out ReadOnlySpan<byte> id,
        out long lastModifiedTicks,
        out long expiresAtTicks
    )
    {
        const int FixedBytes = 12;
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

        lastModifiedTicks = BinaryPrimitives.ReadInt64LittleEndian(value[2..]);
        expiresAtTicks = 0;
        int at = 10;
        if ((value[1] & StoredDocument.HasExpiry) != 0)
        {
            if (value.Length < FixedBytes + 8)
            {
                throw Broken();
            }

            expiresAtTicks = BinaryPrimitives.ReadInt64LittleEndian(value[at..]);
            at += 8;
        }

        int idLength = BinaryPrimitives.ReadUInt16LittleEndian(value[at..]);
        at += 2;
        if (idLength > value.Length - at)
        {
            throw Broken();
        }

        id = value.Slice(at, idLength);
        return at + idLength;
    }

    internal static StoredDocumentException Broken() =>
        new(
            "A stored document's lengths do not fit its bytes, although they passed their checksum: a bug "
                + "wrote it, so keep the data directory and report it."
        );
}

/// <summary>
/// Bytes that should be a stored document are none. They passed their checksum, so a newer version or a bug wrote them.
/// </summary>
/// <param name="message">What is wrong, in a sentence.</param>
public sealed class StoredDocumentException(string message) : Exception(message);
