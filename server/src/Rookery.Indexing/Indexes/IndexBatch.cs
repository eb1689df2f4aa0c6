namespace Rookery.Indexing.Indexes;

/// <summary>Reports that the results of an index of this node now include more changes.</summary>
/// <param name="Database">The number of the database.</param>
/// <param name="Name">The name of the index.</param>
/// <param name="Etag">The results include the documents' changes through this etag.</param>
public readonly record struct IndexBatch(uint Database, string Name, long Etag);
