namespace Rookery.Documents.Parsing;

/// <summary>
/// A validated document, split into the parts that are stored. Its spans point into the input or the parser, and are
/// valid until the parser is used again.
/// </summary>
public readonly ref struct ParsedDocument
{
    /// <summary>The body's members before <c>@metadata</c>, without braces; minified JSON.</summary>
    public ReadOnlySpan<byte> BodyHead { get; init; }

    /// <summary>
    /// The body's members after <c>@metadata</c>. A comma separates them from the head if neither is empty.
    /// </summary>
    public ReadOnlySpan<byte> BodyTail { get; init; }

    /// <summary>
    /// The user's metadata members, without braces, <c>@collection</c> and members that the server computes.
    /// </summary>
    public ReadOnlySpan<byte> Metadata { get; init; }

    /// <summary>The collection's name, without escapes; empty if the document names none.</summary>
    public ReadOnlySpan<byte> Collection { get; init; }

    /// <summary>The id in <c>@metadata.@id</c>, without escapes, which imports use; empty if there is none.</summary>
    public ReadOnlySpan<byte> MetadataId { get; init; }

    /// <summary>Whether <c>@metadata.@id</c> is invalid: neither a string nor null.</summary>
    public bool HasInvalidId { get; init; }

    /// <summary>
    /// Whether <c>@metadata.@counters</c> lists names of counters. They are not stored: the server computes the member.
    /// </summary>
    public bool NamesCounters { get; init; }

    /// <summary>
    /// Whether <c>@metadata.@attachments</c> lists attachments. They are not stored: the server computes the member.
    /// </summary>
    public bool NamesAttachments { get; init; }

    /// <summary>Time of <c>@expires</c>, in UTC ticks; 0 if the document never expires.</summary>
    public long ExpiresAtTicks { get; init; }

    /// <summary>Whether a document was read; false for the default value.</summary>
    internal bool IsRead { get; init; }

    /// <summary>Merge patches: how the collection changes.</summary>
    internal MemberChange CollectionChange { get; init; }

    /// <summary>Merge patches: how the expiry changes.</summary>
    internal MemberChange ExpiryChange { get; init; }

    /// <summary>Length of the stored body.</summary>
    public int BodyLength => BodyHead.Length + BodyTail.Length + (BodyHead.IsEmpty || BodyTail.IsEmpty ? 0 : 1);
}
