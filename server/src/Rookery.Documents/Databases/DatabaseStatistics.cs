using Rookery.Documents.Attachments;

namespace Rookery.Documents.Databases;

/// <summary>Counters of a database in one snapshot.</summary>
/// <param name="Documents">Number of documents.</param>
/// <param name="Tombstones">Number of tombstones.</param>
/// <param name="LastDocumentEtag">Etag of the newest document or tombstone; 0 if there never was one.</param>
/// <param name="LastEtag">Etag of the last operation applied to this database.</param>
/// <param name="TombstoneHorizon">Tombstones at or below this etag are removed.</param>
/// <param name="Identities">Number of identities.</param>
/// <param name="CompareExchangeValues">Number of compare-exchange values, including those that expired within the last
/// minute and are not removed yet.</param>
/// <param name="DocumentCounters">Number of counters of all documents.</param>
/// <param name="Attachments">Totals of the attachments.</param>
/// <param name="Revisions">Number of revisions, including current versions of documents that are revisions.</param>
public readonly record struct DatabaseStatistics(
    long Documents,
    long Tombstones,
    long LastDocumentEtag,
    long LastEtag,
    long TombstoneHorizon,
    long Identities,
    long CompareExchangeValues,
    long DocumentCounters,
    AttachmentTotals Attachments,
    long Revisions = 0
);

/// <summary>Counters of a collection in one snapshot.</summary>
/// <param name="Name">The collection's name, in the casing of its first document.</param>
/// <param name="Documents">Number of documents.</param>
/// <param name="Bytes">Stored size of the documents before compression, in bytes.</param>
public readonly record struct CollectionStatistics(string Name, long Documents, long Bytes);

/// <summary>An identity and its last value.</summary>
/// <param name="Name">Its name, lower-cased, ending in <c>|</c>.</param>
/// <param name="Value">The last value.</param>
public readonly record struct IdentityValue(string Name, long Value);
