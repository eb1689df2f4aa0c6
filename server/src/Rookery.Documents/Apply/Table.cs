using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>
/// The tables of a database, and of the node (under database number 0). Numbers and groups are part of the format.
/// </summary>
internal static class Table
{
    /// <summary>Lower-cased id → stored document; the row's sequence is the document's etag.</summary>
    public const byte Documents = 1;

    /// <summary>Etag → lower-cased id. Stale when the document has another etag now.</summary>
    public const byte ByEtag = 2;

    /// <summary>Lower-cased collection, 0, etag → lower-cased id. Stale like <see cref="ByEtag"/>.</summary>
    public const byte ByCollection = 3;

    /// <summary>Etag of a deletion → <see cref="TombstoneValue"/>.</summary>
    public const byte Tombstones = 4;

    /// <summary>Expiry ticks, etag → lower-cased id. Deleted with the version it is about.</summary>
    public const byte Expiry = 5;

    /// <summary>
    /// Nothing → <see cref="DatabaseCounters"/>; lower-cased collection → counters of the collection.
    /// </summary>
    public const byte Counters = 6;

    /// <summary>Lower-cased identity, bar included → last value.</summary>
    public const byte Identities = 7;

    /// <summary>Hash of an idempotency key → time and outcome.</summary>
    public const byte Idempotency = 8;

    /// <summary>Log time, etag → hash of the idempotency key used then.</summary>
    public const byte IdempotencyOrder = 9;

    /// <summary>Of the node: database number → database record.</summary>
    public const byte Databases = 10;

    /// <summary>Of the node: nothing → <see cref="NodeRecord"/>.</summary>
    public const byte Node = 11;

    /// <summary>Nothing → client configuration, JSON; of a database or, under number 0, of the node.</summary>
    public const byte ClientConfiguration = 12;

    /// <summary>
    /// Of the cluster: key → <see cref="ClusterRecordValue"/>; the row's sequence is the record's version.
    /// </summary>
    public const byte ClusterRecords = 13;

    /// <summary>
    /// Nothing → <see cref="IndexCounters"/>; lower-cased name of an index → <see cref="IndexValue"/>.
    /// </summary>
    public const byte Indexes = 14;

    private const byte Rows = 1;
    private const byte Orders = 2;
    private const byte Meta = 3;

    /// <summary>What the engine is told.</summary>
    public static IReadOnlyList<TableDefinition> Definitions { get; } =
    [
        new(Documents, "documents", Rows),
        new(ByEtag, "documents by etag", Orders, IsWalkedOnly: true),
        new(ByCollection, "documents by collection", Orders, IsWalkedOnly: true),
        new(Tombstones, "tombstones", Orders, IsWalkedOnly: true),
        new(Expiry, "expiry", Orders, IsWalkedOnly: true),
        new(Counters, "counters", Meta),
        new(Identities, "identities", Meta),
        new(Idempotency, "idempotency keys", Meta),
        new(IdempotencyOrder, "idempotency keys by time", Meta),
        new(Databases, "databases", Meta),
        new(Node, "node", Meta),
        new(ClientConfiguration, "client configuration", Meta),
        new(ClusterRecords, "cluster records", Meta),
        new(Indexes, "indexes", Meta),
    ];
}
