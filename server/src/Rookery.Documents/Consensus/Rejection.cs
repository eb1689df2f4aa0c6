namespace Rookery.Documents.Consensus;

/// <summary>Why a command or a read was refused. Each maps to one answer over HTTP.</summary>
public enum RejectionKind : byte
{
    /// <summary>
    /// An expected change vector differs from the actual one (409). <see cref="Rejection.Expected"/> and
    /// <see cref="Rejection.Actual"/> say which.
    /// </summary>
    ConcurrencyConflict = 1,

    /// <summary>There is no such database (503 with <c>Database-Missing</c>).</summary>
    DatabaseMissing = 2,

    /// <summary>A database of this name exists (409).</summary>
    DatabaseExists = 3,

    /// <summary>A patch does not fit the document it was applied to (400).</summary>
    PatchFailed = 4,

    /// <summary>A document or a batch exceeds a limit (413 or 400).</summary>
    TooLarge = 5,

    /// <summary>The command is not valid (400).</summary>
    Invalid = 6,

    /// <summary>Too much is in flight; nothing was appended; the caller may try again (429).</summary>
    Overloaded = 7,

    /// <summary>The space reserve is reached: growing writes are refused, deletes go on (507).</summary>
    InsufficientSpace = 8,

    /// <summary>The node is in diagnosis mode: it neither reads nor writes (503).</summary>
    Diagnosis = 9,

    /// <summary>The node is stopping (503).</summary>
    Stopping = 10,

    /// <summary>No node leads now (503).</summary>
    NoLeader = 11,

    /// <summary>
    /// The command reached the journal but whether it is durable is unknown (500): it may take effect after a restart.
    /// </summary>
    OutcomeUnknown = 12,

    /// <summary>The caller gave up before the command was queued; nothing was appended.</summary>
    Canceled = 13,

    /// <summary>
    /// The idempotency key belongs to another request (422, draft-ietf-httpapi-idempotency-key-header); nothing was
    /// applied.
    /// </summary>
    IdempotencyKeyReused = 14,

    /// <summary>
    /// The write needs a stored version that is damaged on this node's disk (500); nothing was appended.
    /// </summary>
    Damaged = 15,
}

/// <summary>A refusal: what, where, and what to do. Immutable.</summary>
/// <param name="Kind">The reason's class.</param>
/// <param name="Message">One sentence for the caller.</param>
public sealed record Rejection(RejectionKind Kind, string Message)
{
    /// <summary>The document or the cluster record it is about, as written in the command, or null.</summary>
    public string? DocumentId { get; init; }

    /// <summary>
    /// The change vector the caller expected ("" = none may exist), or the version of a cluster record in digits, for
    /// <see cref="RejectionKind.ConcurrencyConflict"/>.
    /// </summary>
    public string? Expected { get; init; }

    /// <summary>
    /// The change vector found, or null when there is no document; the version of a cluster record in digits.
    /// </summary>
    public string? Actual { get; init; }

    /// <summary>The database it is about, or null.</summary>
    public string? Database { get; init; }

    /// <summary>The position of the failing operation in its command, from 0; -1 when it is not about one.</summary>
    public int Operation { get; init; } = -1;
}
