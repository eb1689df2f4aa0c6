using Rookery.Documents.Commands;

namespace Rookery.Documents.Consensus;

/// <summary>What one operation of a command did.</summary>
public enum OperationStatus : byte
{
    /// <summary>
    /// Nothing changed: the document to delete was absent, an expired one had changed since, a range to return was no
    /// longer the last.
    /// </summary>
    NotFound = 0,

    /// <summary>A document was stored.</summary>
    Stored = 1,

    /// <summary>A document was deleted.</summary>
    Deleted = 2,

    /// <summary>A patch changed a document ("Patched").</summary>
    Patched = 3,

    /// <summary>A patch created a document ("Created").</summary>
    Created = 4,

    /// <summary>A patch or an unchanged overwrite left a document, and its etag, as it was ("NotModified").</summary>
    NotModified = 5,

    /// <summary>
    /// A patch was skipped because the change vector differed and the caller had asked for that ("Skipped").
    /// </summary>
    Skipped = 6,

    /// <summary>
    /// A range of numbers or an identity value was handed out, or seeded: see <see cref="OperationResult.Low"/> and
    /// <see cref="OperationResult.High"/>.
    /// </summary>
    Numbered = 7,

    /// <summary>A database or a setting was changed.</summary>
    Configured = 8,
}

/// <summary>The result of one operation.</summary>
public readonly record struct OperationResult
{
    /// <summary>What happened.</summary>
    public OperationStatus Status { get; init; }

    /// <summary>The document's etag now (its sequence); 0 when there is no document.</summary>
    public long Etag { get; init; }

    /// <summary>The last-modified stamp of the document in UTC ticks, when <see cref="Etag"/> is not 0.</summary>
    public long LastModifiedTicks { get; init; }

    /// <summary>
    /// The document's id, when apply made it ("users/" and "users|") or it is kept in another case than asked;
    /// otherwise null: it is the id in the command.
    /// </summary>
    public string? Id { get; init; }

    /// <summary>The document's collection, for stored, patched and deleted documents.</summary>
    public string? Collection { get; init; }

    /// <summary>
    /// A patched document as it is stored now, when the patch asked for it. It belongs to whoever gets the outcome.
    /// </summary>
    public CommandBuffer? Document { get; init; }

    /// <summary>The first number handed out, or the identity's value.</summary>
    public long Low { get; init; }

    /// <summary>The last number handed out.</summary>
    public long High { get; init; }
}
