using Rookery.Documents.Revisions;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>
/// The tables of a database, and of the node (database number 0). The tables of a group share their run files. Table
/// numbers and group numbers are part of the format.
/// </summary>
internal static class Table
{
    /// <summary>Lower-cased id → stored document. The row's sequence is the document's etag.</summary>
    public const byte Documents = 1;

    /// <summary>Etag → lower-cased id. A row is stale if the document has another etag.</summary>
    public const byte ByEtag = 2;

    /// <summary>
    /// Lower-cased collection, 0, etag → lower-cased id. Rows become stale like those of <see cref="ByEtag"/>.
    /// </summary>
    public const byte ByCollection = 3;

    /// <summary>Etag of a deletion → <see cref="TombstoneValue"/>.</summary>
    public const byte Tombstones = 4;

    /// <summary>Expiry ticks, etag → lower-cased id. Removed together with the document's version.</summary>
    public const byte Expiry = 5;

    /// <summary>
    /// Empty key → <see cref="DatabaseCounters"/>; lower-cased collection → <see cref="CollectionCounters"/>.
    /// </summary>
    public const byte Counters = 6;

    /// <summary>Lower-cased name of an identity, with the <c>|</c> at its end → last value.</summary>
    public const byte Identities = 7;

    /// <summary>Hash of an idempotency key → <see cref="OutcomeEncoding"/>.</summary>
    public const byte Idempotency = 8;

    /// <summary>Log time, etag → hash of the idempotency key, in the order in which keys expire.</summary>
    public const byte IdempotencyOrder = 9;

    /// <summary>Node only: database number → <see cref="Databases.DatabaseRecord"/>.</summary>
    public const byte Databases = 10;

    /// <summary>Node only: empty key → <see cref="NodeRecord"/>.</summary>
    public const byte Node = 11;

    /// <summary>
    /// Name of a configuration → its JSON; of a database or, under number 0, of the node: see
    /// <see cref="Databases.DatabaseConfigurations"/>. Under the empty name is the value of
    /// <see cref="Commands.CommandKind.PutClientConfiguration"/>, which nothing proposes any more.
    /// </summary>
    public const byte Configurations = 12;

    /// <summary>
    /// Node only: key → <see cref="ClusterRecordValue"/>. The row's sequence is the record's version.
    /// </summary>
    public const byte ClusterRecords = 13;

    /// <summary>
    /// Empty key → <see cref="AssignedNumbers"/>; lower-cased name of an index → <see cref="IndexValue"/>.
    /// </summary>
    public const byte Indexes = 14;

    /// <summary>
    /// Lower-cased key of a compare-exchange value → the value, as a stored document whose id is the key as written.
    /// The row's sequence is the value's index.
    /// </summary>
    public const byte CompareExchange = 15;

    /// <summary>
    /// Expiry ticks, index → lower-cased key of a compare-exchange value. Removed together with the value's version.
    /// </summary>
    public const byte CompareExchangeExpiry = 16;

    /// <summary>
    /// Lower-cased id of a document, 0, lower-cased name of a counter → <see cref="CounterValue"/>. The row's sequence
    /// is the etag of its last change. The document's head stores the lowest etag of its counters. A row with a lower
    /// etag belongs to a deleted document: see <see cref="Stored.DocumentCounters"/>.
    /// </summary>
    public const byte DocumentCounters = 17;

    /// <summary>
    /// Hash of an attached content → number of its references and its size: see <see cref="Attachments.ContentRows"/>.
    /// </summary>
    public const byte AttachmentContents = 18;

    /// <summary>
    /// Lower-cased id of a document, 0, etag of a version → <see cref="RevisionRow"/>. The document's newest
    /// version has no row here.
    /// </summary>
    public const byte Revisions = 19;

    /// <summary>Etag of a revision → lower-cased id. A row is stale if <see cref="Revisions"/> has none.</summary>
    public const byte RevisionsByEtag = 20;

    /// <summary>Lower-cased id of a document that has or had revisions → <see cref="RevisionState"/>.</summary>
    public const byte RevisionStates = 21;

    /// <summary>Etag of the revision of a deletion → lower-cased id of the deleted document.</summary>
    public const byte RevisionBin = 22;

    /// <summary>Empty key → the encoded <see cref="Rookery.Documents.Revisions.RevisionsConfiguration"/>.</summary>
    public const byte RevisionsConfiguration = 23;

    /// <summary>
    /// Data subscriptions: see <see cref="Subscriptions.SubscriptionKey"/>. Definitions and progress are separate rows.
    /// </summary>
    public const byte Subscriptions = 24;

    /// <summary>
    /// Time of <c>@refresh</c> in ticks, etag → lower-cased id. Removed together with the document's version. Only in
    /// databases that keep schedules.
    /// </summary>
    public const byte Refreshes = 26;

    /// <summary>Time of <c>@archive-at</c> in ticks, etag → lower-cased id, as in <see cref="Refreshes"/>.</summary>
    public const byte Archivals = 27;

    /// <summary>
    /// Etag of a change of a counter's value → the key of the counter in <see cref="DocumentCounters"/> without its
    /// prefix. A row is stale if the counter has another etag, or no document. Indexes over counters read it.
    /// </summary>
    public const byte CountersByEtag = 28;

    /// <summary>
    /// Empty key → the last number that was given to an id that ends in <c>/</c>, an i64. Ids of format levels before 3
    /// have the etag of their operation instead.
    /// </summary>
    public const byte IdNumbers = 29;

    private const byte DocumentGroup = 1;
    private const byte WalkedGroup = 2;
    private const byte MetaGroup = 3;
    private const byte ValueGroup = 4;

    // In the group of the documents, merges of documents would rewrite all their revisions.
    private const byte RevisionGroup = 5;

    /// <summary>Table definitions for the storage engine.</summary>
    public static IReadOnlyList<TableDefinition> Definitions { get; } =
    [
        new(Documents, "documents", DocumentGroup),
        new(ByEtag, "documents by etag", WalkedGroup, IsWalkedOnly: true),
        new(ByCollection, "documents by collection", WalkedGroup, IsWalkedOnly: true),
        new(Tombstones, "tombstones", WalkedGroup, IsWalkedOnly: true),
        new(Expiry, "expiry", WalkedGroup, IsWalkedOnly: true),
        new(Counters, "counters", MetaGroup),
        new(Identities, "identities", MetaGroup),
        new(Idempotency, "idempotency keys", MetaGroup),
        new(IdempotencyOrder, "idempotency keys by time", MetaGroup, IsWalkedOnly: true),
        new(Databases, "databases", MetaGroup),
        new(Node, "node", MetaGroup),
        new(Configurations, "client configuration", MetaGroup),
        new(ClusterRecords, "cluster records", MetaGroup),
        new(Indexes, "indexes", MetaGroup),
        new(CompareExchange, "compare-exchange values", ValueGroup),
        new(CompareExchangeExpiry, "expiry of compare-exchange values", ValueGroup, IsWalkedOnly: true),
        new(DocumentCounters, "counters of documents", ValueGroup),
        new(AttachmentContents, "contents of attachments", MetaGroup),
        new(Revisions, "revisions", RevisionGroup),
        new(RevisionsByEtag, "revisions by etag", WalkedGroup, IsWalkedOnly: true),
        new(RevisionStates, "revisions of documents", ValueGroup),
        new(RevisionBin, "revisions of deleted documents", WalkedGroup, IsWalkedOnly: true),
        new(RevisionsConfiguration, "revisions configuration", MetaGroup),
        new(Subscriptions, "subscriptions", MetaGroup),
        new(Refreshes, "refreshes of documents", WalkedGroup, IsWalkedOnly: true),
        new(Archivals, "archivals of documents", WalkedGroup, IsWalkedOnly: true),
        new(CountersByEtag, "counters by etag", WalkedGroup, IsWalkedOnly: true),
        new(IdNumbers, "numbers of ids", MetaGroup),
    ];
}
