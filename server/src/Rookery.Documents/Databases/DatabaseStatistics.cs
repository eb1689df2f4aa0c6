namespace Rookery.Documents.Databases;

/// <summary>Counts of a database as one snapshot saw them.</summary>
/// <param name="Documents">Documents that exist.</param>
/// <param name="Tombstones">Deletions that are still remembered.</param>
/// <param name="LastDocumentEtag">The etag of the newest document or tombstone; 0 when there never was one.</param>
/// <param name="LastEtag">The etag of the last operation applied to this database.</param>
/// <param name="TombstoneHorizon">Tombstones at or below this etag are gone.</param>
/// <param name="Identities">Identities in use.</param>
public readonly record struct DatabaseStatistics(
    long Documents,
    long Tombstones,
    long LastDocumentEtag,
    long LastEtag,
    long TombstoneHorizon,
    long Identities
);

/// <summary>Counts of a collection as one snapshot saw them.</summary>
/// <param name="Name">The collection's name in the case it was first used.</param>
/// <param name="Documents">Documents in it.</param>
/// <param name="Bytes">Their stored size before compression, in bytes.</param>
public readonly record struct CollectionStatistics(string Name, long Documents, long Bytes);

/// <summary>An identity and the last value it gave.</summary>
/// <param name="Name">Its name, lower-cased, ending in <c>|</c>.</param>
/// <param name="Value">The last value.</param>
public readonly record struct IdentityValue(string Name, long Value);
