using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;

namespace Rookery.Documents.Consensus;

/// <summary>The effect of one operation of a command.</summary>
public enum OperationStatus : byte
{
    /// <summary>
    /// Nothing changed: the document to delete did not exist, the expired document had changed, or the range to return
    /// was not the last one.
    /// </summary>
    NotFound = 0,

    /// <summary>A document was stored.</summary>
    Stored = 1,

    /// <summary>A document or a counter was deleted.</summary>
    Deleted = 2,

    /// <summary>A patch changed a document ("Patched").</summary>
    Patched = 3,

    /// <summary>A patch created a document ("Created").</summary>
    Created = 4,

    /// <summary>A patch or an identical put left the document and its etag unchanged ("NotModified").</summary>
    NotModified = 5,

    /// <summary>A patch was skipped because of another change vector, as the caller requested ("Skipped").</summary>
    Skipped = 6,

    /// <summary>
    /// A range of numbers was assigned, or an identity or a counter was incremented, set or read: see
    /// <see cref="OperationResult.Low"/> and <see cref="OperationResult.High"/>.
    /// </summary>
    Numbered = 7,

    /// <summary>A database or a setting was changed.</summary>
    Configured = 8,

    /// <summary>
    /// A compare-exchange value has another index than expected: <see cref="OperationResult.Etag"/> is its index, or an
    /// unused one if there is no value.
    /// </summary>
    Mismatched = 9,

    /// <summary>
    /// Commands of Redis were carried out, or a guard did not hold: <see cref="OperationResult.Document"/> has the
    /// replies.
    /// </summary>
    Replied = 10,
}

/// <summary>The result of one operation.</summary>
public readonly record struct OperationResult
{
    /// <summary>
    /// Value of <see cref="High"/> in the last result of a document's counter operations, if they rewrote the document.
    /// </summary>
    public const long Rewritten = 1;

    /// <summary>Bit of <see cref="High"/> in the result of a put, if the document has revisions.</summary>
    public const long HasRevisions = 2;

    /// <summary>Bit beside <see cref="HasRevisions"/>, if the document has attachments.</summary>
    public const long HasAttachments = 4;

    /// <summary>Bit beside <see cref="HasRevisions"/>, if the document has counters.</summary>
    public const long HasCounters = 8;

    /// <summary>The effect of the operation.</summary>
    public OperationStatus Status { get; init; }

    /// <summary>
    /// The document's etag after the operation (its sequence), or the index of the compare-exchange value; 0 if there
    /// is no document.
    /// </summary>
    public long Etag { get; init; }

    /// <summary>The document's last-modified time in UTC ticks, if <see cref="Etag"/> is not 0.</summary>
    public long LastModifiedTicks { get; init; }

    /// <summary>
    /// The document's id, if apply chose it ("users/" and "users|") or if it is stored in another casing. Null if it is
    /// the id in the command.
    /// </summary>
    public string? Id { get; init; }

    /// <summary>The document's collection, for stored, patched and deleted documents.</summary>
    public string? Collection { get; init; }

    /// <summary>
    /// The patched document as stored, if the patch requested it; or the compare-exchange value that was deleted or has
    /// another index, unless it is large; or the replies to commands of Redis. The receiver of the outcome owns it.
    /// </summary>
    public CommandBuffer? Document { get; init; }

    /// <summary>
    /// The first number of the range, the value of the identity or counter, or the number of the index. For a bulk put:
    /// the number of stored documents and incremented counters. For commands of Redis: the number of documents stored
    /// and deleted.
    /// </summary>
    public long Low { get; init; }

    /// <summary>
    /// The last number of the range. For a bulk put: the number of unchanged documents. For counters: see
    /// <see cref="Rewritten"/>. For a put: see <see cref="HasRevisions"/>. For commands of Redis: a checksum
    /// of the replies, of errors only of their codes.
    /// </summary>
    public long High { get; init; }

    /// <summary>The attachment that a copy or a move created; otherwise null.</summary>
    public CopiedAttachment? Attachment { get; init; }
}

/// <summary>What the command of a copy of an attachment does not contain.</summary>
/// <param name="Hash">Hash of the content.</param>
/// <param name="ContentType">The content type; empty if none was given.</param>
/// <param name="Size">Size of the content in bytes.</param>
public sealed record CopiedAttachment(ContentHash Hash, string ContentType, long Size);
