namespace Rookery.Documents.Parsing;

/// <summary>
/// A validated document, split into what is stored. The spans point into the input or into the parser that made them,
/// and hold until that parser parses again.
/// </summary>
public readonly ref struct ParsedDocument
{
    /// <summary>The body's members before <c>@metadata</c>, without braces; minimised JSON.</summary>
    public ReadOnlySpan<byte> BodyHead { get; init; }

    /// <summary>
    /// The body's members after <c>@metadata</c>; a comma belongs between both when neither is empty.
    /// </summary>
    public ReadOnlySpan<byte> BodyTail { get; init; }

    /// <summary>
    /// The metadata members the user owns, without braces, <c>@collection</c> and what the server computes.
    /// </summary>
    public ReadOnlySpan<byte> Metadata { get; init; }

    /// <summary>The collection's name, escapes resolved; empty when the document names none.</summary>
    public ReadOnlySpan<byte> Collection { get; init; }

    /// <summary>
    /// The id that <c>@metadata.@id</c> names, escapes resolved (imports take it from there); empty when there is none.
    /// </summary>
    public ReadOnlySpan<byte> MetadataId { get; init; }

    /// <summary>Whether <c>@metadata.@id</c> is something else than a text or null, which names no document.</summary>
    public bool IsIdNoText { get; init; }

    /// <summary>When <c>@expires</c> says the document ends, UTC ticks; 0 = never.</summary>
    public long ExpiresAtTicks { get; init; }

    /// <summary>True unless this is no document at all.</summary>
    internal bool IsRead { get; init; }

    /// <summary>Merge patches: what happens to the collection.</summary>
    internal MemberChange CollectionChange { get; init; }

    /// <summary>Merge patches: what happens to the expiry.</summary>
    internal MemberChange ExpiryChange { get; init; }

    /// <summary>Bytes of the body as stored.</summary>
    public int BodyLength => BodyHead.Length + BodyTail.Length + (BodyHead.IsEmpty || BodyTail.IsEmpty ? 0 : 1);
}
