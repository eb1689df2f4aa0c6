namespace Rookery.Documents.Consensus;

/// <summary>Why a command or a read is refused. Each kind maps to one HTTP status.</summary>
public enum RejectionKind : byte
{
    /// <summary>
    /// The document or record has another version than expected (409): see <see cref="Rejection.Expected"/> and
    /// <see cref="Rejection.Actual"/>.
    /// </summary>
    ConcurrencyConflict = 1,

    /// <summary>The database does not exist (503 with <c>Database-Missing</c>).</summary>
    DatabaseMissing = 2,

    /// <summary>A database with this name exists (409).</summary>
    DatabaseExists = 3,

    /// <summary>A patch failed on its document (400).</summary>
    PatchFailed = 4,

    /// <summary>A document or a batch exceeds a limit (413 or 400).</summary>
    TooLarge = 5,

    /// <summary>The command is not valid (400).</summary>
    Invalid = 6,

    /// <summary>Too many bytes are in flight (429). Nothing was appended; the caller may retry.</summary>
    Overloaded = 7,

    /// <summary>
    /// The free space is below the reserve (507). Writes that grow the data are refused; deletes are accepted.
    /// </summary>
    InsufficientSpace = 8,

    /// <summary>The node is in diagnosis mode and refuses reads and writes (503).</summary>
    Diagnosis = 9,

    /// <summary>The node is stopping (503).</summary>
    Stopping = 10,

    /// <summary>The cluster has no leader (503).</summary>
    NoLeader = 11,

    /// <summary>
    /// The command reached the journal, but whether it is durable is unknown (500). It may take effect after a restart.
    /// </summary>
    OutcomeUnknown = 12,

    /// <summary>The caller cancelled before the command was queued. Nothing was appended.</summary>
    Canceled = 13,

    /// <summary>
    /// The idempotency key was used for another request (422, draft-ietf-httpapi-idempotency-key-header). Nothing was
    /// applied.
    /// </summary>
    IdempotencyKeyReused = 14,

    /// <summary>
    /// The write needs a stored version that is damaged on this node's disk (500). Nothing was appended.
    /// </summary>
    Damaged = 15,

    /// <summary>
    /// Documents or compare-exchange values of a cluster-wide transaction have other versions than expected (409): see
    /// <see cref="Rejection.Violations"/>. Nothing was applied.
    /// </summary>
    ClusterTransactionConflict = 16,

    /// <summary>The document whose counters a command changes does not exist (404 or 400).</summary>
    DocumentMissing = 17,

    /// <summary>A counter would exceed 64 bits (400).</summary>
    CounterOverflow = 18,

    /// <summary>
    /// The content of an attachment is not on the leader and a majority of the members (503). Nothing was appended; the
    /// caller may retry.
    /// </summary>
    ContentMissing = 19,

    /// <summary>The command needs a format level that the cluster does not have yet (501).</summary>
    NeedsNewerFormat = 20,

    /// <summary>
    /// The database is disabled (503): see <see cref="Databases.DatabaseConfigurations.IsDisabled"/>.
    /// </summary>
    DatabaseDisabled = 21,

    /// <summary>The lock mode of a database prevents its deletion (400).</summary>
    DatabaseLocked = 22,

    /// <summary>The attachment to copy or move does not exist (404).</summary>
    AttachmentMissing = 23,

    /// <summary>
    /// The state of the data does not allow the command (400). RavenDB's clients expect their general exception.
    /// </summary>
    NotPossible = 24,
}

/// <summary>A refusal of a command or read: what, where, and what to do. Immutable.</summary>
/// <param name="Kind">The reason.</param>
/// <param name="Message">One sentence for the caller.</param>
public sealed record Rejection(RejectionKind Kind, string Message)
{
    /// <summary>
    /// The document or cluster record that caused the refusal, as written in the command; null if there is none.
    /// </summary>
    public string? DocumentId { get; init; }

    /// <summary>
    /// For <see cref="RejectionKind.ConcurrencyConflict"/>: the expected change vector ("" = must not exist), or the
    /// expected version of a cluster record in digits.
    /// </summary>
    public string? Expected { get; init; }

    /// <summary>
    /// For <see cref="RejectionKind.ConcurrencyConflict"/>: the actual change vector, null if there is no document; or
    /// the version of a cluster record in digits.
    /// </summary>
    public string? Actual { get; init; }

    /// <summary>
    /// For <see cref="RejectionKind.ClusterTransactionConflict"/>: the violated expectations, at most
    /// <see cref="MaxViolations"/>; otherwise null.
    /// </summary>
    public IReadOnlyList<ConcurrencyViolation>? Violations { get; init; }

    /// <summary>Number of violations that a rejection lists at most.</summary>
    public const int MaxViolations = 100;

    /// <summary>The database, or null.</summary>
    public string? Database { get; init; }

    /// <summary>
    /// Position of the refused operation in its command, counted from 0; -1 if no single operation is the reason.
    /// </summary>
    public int Operation { get; init; } = -1;
}

/// <summary>An expectation of a cluster-wide transaction that does not hold.</summary>
/// <param name="Id">Id of the document, or key of the compare-exchange value.</param>
/// <param name="IsDocument">Whether a document is meant, not a compare-exchange value.</param>
/// <param name="Expected">The expected index, or the etag in the expected change vector; 0 if nothing must exist, -1 if
/// the expected text does not have the form of this server's change vectors.</param>
/// <param name="Actual">The actual index or etag; 0 if nothing exists.</param>
public readonly record struct ConcurrencyViolation(string Id, bool IsDocument, long Expected, long Actual);
