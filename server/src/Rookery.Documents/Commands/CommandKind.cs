using Rookery.Documents.Nodes;

namespace Rookery.Documents.Commands;

/// <summary>The kind of a command. Numbers are part of the journal's format.</summary>
public enum CommandKind : byte
{
    /// <summary>An atomic list of operations on documents, such as puts, deletes and patches.</summary>
    Batch = 1,

    /// <summary>
    /// A part of a stream, such as a bulk insert or an import: a list of operations on documents. Clients are not
    /// promised that it is atomic.
    /// </summary>
    BulkPut = 2,

    /// <summary>Requests the next id range for a client's HiLo generator.</summary>
    HiloNext = 3,

    /// <summary>Returns the unused end of a client's range.</summary>
    HiloReturn = 4,

    /// <summary>Requests the next value of an identity.</summary>
    IdentityNext = 5,

    /// <summary>Sets the value of an identity.</summary>
    IdentitySeed = 6,

    /// <summary>Creates a database.</summary>
    CreateDatabase = 7,

    /// <summary>Removes databases.</summary>
    DeleteDatabases = 8,

    /// <summary>Removes expired documents, each only if it still has the named etag.</summary>
    ExpireDocuments = 9,

    /// <summary>Removes tombstones up to an etag.</summary>
    SetTombstoneHorizon = 10,

    /// <summary>
    /// Stored the client configuration of a database, or of the node (database 0). Nothing proposes it any more;
    /// <see cref="SetConfiguration"/> replaces it.
    /// </summary>
    PutClientConfiguration = 11,

    /// <summary>Gives a database a new history id, after a restore.</summary>
    RenewHistory = 12,

    /// <summary>Stores and deletes cluster records, all or none.</summary>
    SetClusterRecords = 13,

    /// <summary>Stores and deletes index definitions, all or none. Needs <see cref="FormatLevel.Indexes"/>.</summary>
    ChangeIndexes = 14,

    /// <summary>
    /// An atomic list of puts and deletes of documents and compare-exchange values. All expected versions are compared
    /// before the first operation. Needs <see cref="FormatLevel.CompareExchange"/>, as the next two kinds do.
    /// </summary>
    ClusterTransaction = 15,

    /// <summary>Puts or deletes one compare-exchange value, if it has the expected index.</summary>
    CompareExchange = 16,

    /// <summary>Removes expired compare-exchange values, each only if it still has the named etag.</summary>
    ExpireCompareExchange = 17,

    /// <summary>
    /// Sets a named configuration of a database, or of the node (database 0), to a JSON text. Needs
    /// <see cref="FormatLevel.Configurations"/>.
    /// </summary>
    SetConfiguration = 18,

    /// <summary>
    /// Refreshes, archives or schedules documents (<see cref="Schedules.ScheduleAction"/>), each only if it still has
    /// the named etag. Needs <see cref="FormatLevel.Configurations"/>.
    /// </summary>
    RunSchedule = 19,

    /// <summary>
    /// Replaces the configuration of a database's revisions. Needs <see cref="FormatLevel.Revisions"/>.
    /// </summary>
    ConfigureRevisions = 20,

    /// <summary>
    /// Defines, changes or deletes a data subscription, records its progress, or drops its workers. Needs
    /// <see cref="FormatLevel.Subscriptions"/>.
    /// </summary>
    ChangeSubscription = 21,

    /// <summary>
    /// Commands of Redis clients on documents, as <see cref="Redis.RedisCommandWriter"/> encodes them: those that
    /// arrived together, or an atomic transaction. Needs <see cref="FormatLevel.Redis"/>.
    /// </summary>
    Redis = 22,
}

/// <summary>The kind of an operation in a batch. Numbers are part of the journal's format.</summary>
public enum OperationKind : byte
{
    /// <summary>Stores a document.</summary>
    Put = 1,

    /// <summary>Removes a document.</summary>
    Delete = 2,

    /// <summary>Patches a document.</summary>
    Patch = 3,

    /// <summary>Stores a compare-exchange value.</summary>
    CompareExchangePut = 4,

    /// <summary>Removes a compare-exchange value.</summary>
    CompareExchangeDelete = 5,

    /// <summary>
    /// Adds a number to a counter of a document, and creates the counter if it is missing. Needs
    /// <see cref="FormatLevel.Counters"/>, as the next two do.
    /// </summary>
    CounterIncrement = 6,

    /// <summary>Removes a counter.</summary>
    CounterDelete = 7,

    /// <summary>Reads a counter between the operations of a batch.</summary>
    CounterGet = 8,

    /// <summary>
    /// Stores an attachment of a document. Its content is durable before the command is proposed. Needs
    /// <see cref="FormatLevel.Attachments"/>, as the next kind does.
    /// </summary>
    AttachmentPut = 9,

    /// <summary>Removes an attachment of a document.</summary>
    AttachmentDelete = 10,

    /// <summary>
    /// Creates, removes or restores revisions of a document: see <see cref="RevisionAction"/>. Needs
    /// <see cref="FormatLevel.Revisions"/>.
    /// </summary>
    Revision = 11,

    /// <summary>
    /// Gives a document a copy of an attachment, of the same document or another one. May remove the source (see
    /// <see cref="AttachmentCopyCommand"/>). Needs <see cref="FormatLevel.Attachments"/>.
    /// </summary>
    AttachmentCopy = 12,

    /// <summary>
    /// Stores a version of a document with the time that it has in a dump: see <see cref="VersionKind"/>. Needs
    /// <see cref="FormatLevel.Revisions"/>.
    /// </summary>
    Version = 13,
}

/// <summary>What an operation on revisions does. Numbers are part of the journal's format.</summary>
public enum RevisionAction : byte
{
    /// <summary>Makes the present version of the document a revision.</summary>
    Force = 1,

    /// <summary>Stores the content of a revision as the document's new version.</summary>
    Revert = 2,

    /// <summary>Removes revisions.</summary>
    Delete = 3,

    /// <summary>Removes the revisions that the configuration does not keep.</summary>
    Enforce = 4,
}

/// <summary>
/// The kind of a change to one index in a <see cref="CommandKind.ChangeIndexes"/>. Numbers are part of the journal's
/// format.
/// </summary>
public enum IndexCommandKind : byte
{
    /// <summary>Defines the index.</summary>
    Put = 1,

    /// <summary>Deletes the index.</summary>
    Delete = 2,

    /// <summary>Changes the settings of the index.</summary>
    Configure = 3,
}
