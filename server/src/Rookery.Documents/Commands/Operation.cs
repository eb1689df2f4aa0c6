using Rookery.Documents.Attachments;
using Rookery.Documents.Patching;

namespace Rookery.Documents.Commands;

/// <summary>
/// One operation of a <see cref="CommandKind.Batch"/>, <see cref="CommandKind.BulkPut"/>,
/// <see cref="CommandKind.ClusterTransaction"/> or <see cref="CommandKind.CompareExchange"/>. Spans point into the
/// command.
/// </summary>
public readonly ref struct Operation
{
    /// <summary>The kind of the operation.</summary>
    public OperationKind Kind { get; init; }

    /// <summary>The id of the document, or the key of the compare-exchange value.</summary>
    public CommandId Id { get; init; }

    /// <summary>The expected change vector of the document.</summary>
    public ExpectedChangeVector Expected { get; init; }

    /// <summary>The expected index of the compare-exchange value; 0 if it must not exist.</summary>
    public long ExpectedIndex { get; init; }

    /// <summary>Put: the stored value without its head (see <see cref="Stored.StoredDocument"/>).</summary>
    public ReadOnlySpan<byte> Content { get; init; }

    /// <summary>Put: the collection's name inside <see cref="Content"/>.</summary>
    public ReadOnlySpan<byte> Collection { get; init; }

    /// <summary>Put: time at which the document expires, in UTC ticks; 0 if never.</summary>
    public long ExpiresAtTicks { get; init; }

    /// <summary>Counters: the counter's name.</summary>
    public CommandId Counter { get; init; }

    /// <summary>CounterIncrement: the number to add.</summary>
    public long Delta { get; init; }

    /// <summary>
    /// Counters: whether this is the first of adjacent operations on the same document that a request sent together.
    /// </summary>
    public bool StartsGroup { get; init; }

    /// <summary>Counters: whether this is the last of these operations.</summary>
    public bool EndsGroup { get; init; }

    /// <summary>
    /// The part that <see cref="Attachment"/>, <see cref="Copy"/> and <see cref="Version"/> decode. Attachments: the
    /// attachment; <see cref="Expected"/> is then the expected change vector of the attachment, or of the source of a
    /// copy. Version: the version without its content.
    /// </summary>
    public ReadOnlySpan<byte> EncodedPart { get; init; }

    /// <summary>
    /// Attachments: the attachment; its etag is 0. A delete and a copy contain only the name. Decoded on each call, so
    /// that other operations do not carry its fields.
    /// </summary>
    public AttachmentEntry Attachment =>
        Kind == OperationKind.AttachmentCopy
            ? new AttachmentEntry { Name = Copy.Name }
            : AttachmentBytes.Decode(EncodedPart);

    /// <summary>AttachmentCopy: the two attachments. Decoded on each call.</summary>
    public AttachmentCopyCommand Copy => AttachmentCopyCommand.Decode(EncodedPart);

    /// <summary>Version: the version. Decoded on each call; <see cref="Content"/> has its content.</summary>
    public VersionCommand Version => VersionCommand.Decode(EncodedPart);

    /// <summary>Whether the operation reads or changes a counter.</summary>
    public bool IsOfCounter =>
        Kind is OperationKind.CounterIncrement or OperationKind.CounterDelete or OperationKind.CounterGet;

    /// <summary>Whether the operation changes an attachment.</summary>
    public bool IsOfAttachment =>
        Kind is OperationKind.AttachmentPut or OperationKind.AttachmentDelete or OperationKind.AttachmentCopy;

    /// <summary>
    /// Put: whether the replaced version becomes a revision, without regard to the configuration; if no document is
    /// replaced, the batch is refused. Version: whether a client had forced the revision.
    /// </summary>
    public bool ForcesRevision { get; init; }

    /// <summary>Revision: what to do.</summary>
    public RevisionCommand Revision { get; init; }

    /// <summary>Patch: the program to run.</summary>
    public PatchProgram Patch { get; init; }
}
