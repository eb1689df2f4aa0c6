namespace Rookery.Documents.Json;

/// <summary>A stored document, read in place.</summary>
public readonly ref struct DocumentView
{
    /// <summary>Reads a stored value.</summary>
    /// <exception cref="StoredDocumentException">The bytes are no stored document, or of a newer format.</exception>
    public DocumentView(ReadOnlySpan<byte> value) => throw new NotSupportedException();

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
}

/// <summary>Bytes that should be a stored document are none. They passed their checksum, so a newer version or a bug wrote them.</summary>
/// <param name="message">What is wrong, in a sentence.</param>
public sealed class StoredDocumentException(string message) : Exception(message);
