namespace Rookery.Indexing.Indexes;

/// <summary>Notice to subscribers that the results of an index on this node include more changes.</summary>
/// <param name="Database">The number of the database.</param>
/// <param name="Name">The name of the index.</param>
/// <param name="Etag">The results include all changes of documents through this etag.</param>
public readonly record struct IndexBatch(uint Database, string Name, long Etag);
