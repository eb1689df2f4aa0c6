namespace Rookery.Indexing.Indexes;

/// <summary>An index of this node has come further.</summary>
/// <param name="Database">The number of its database.</param>
/// <param name="Name">The index.</param>
/// <param name="Etag">The etag through which its answers follow the documents.</param>
public readonly record struct IndexBatch(uint Database, string Name, long Etag);
