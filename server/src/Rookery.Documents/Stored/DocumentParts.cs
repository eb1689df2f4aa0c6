namespace Rookery.Documents.Stored;

/// <summary>The parts of a stored document beside its content, as the head contains them.</summary>
internal readonly ref struct DocumentParts
{
    /// <summary>
    /// What the document stores about its counters: <see cref="DocumentCounters"/>; empty without any.
    /// </summary>
    public ReadOnlySpan<byte> Counters { get; init; }

    /// <summary>
    /// The document's attachments: <see cref="Rookery.Documents.Attachments.AttachmentList"/>; empty without any.
    /// </summary>
    public ReadOnlySpan<byte> Attachments { get; init; }

    /// <summary>
    /// What the document stores about its revisions: <see cref="Rookery.Documents.Revisions.RevisionFlags"/>, and for a
    /// revision the values of its counters; empty without any.
    /// </summary>
    public ReadOnlySpan<byte> Revisions { get; init; }

    /// <summary>Whether the document has no counters, attachments and revisions.</summary>
    public bool IsEmpty => Counters.IsEmpty && Attachments.IsEmpty && Revisions.IsEmpty;

    /// <summary>Returns the parts of a stored document.</summary>
    public static DocumentParts Of(scoped in DocumentView document) =>
        new()
        {
            Counters = document.Counters.Stored,
            Attachments = document.Attachments,
            Revisions = document.Revisions,
        };
}
