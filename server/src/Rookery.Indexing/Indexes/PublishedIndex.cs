namespace Rookery.Indexing.Indexes;

/// <summary>What is known of the state of an index that queries search.</summary>
/// <param name="Etag">The etag through which the state includes changes; 0 while the index is first built.</param>
/// <param name="IsPartial">Whether the state is known to include a part of later changes. If false, the state
/// reflects every snapshot in which no document changed after <paramref name="Etag"/>.</param>
/// <param name="Documents">Number of documents in the state.</param>
/// <param name="LastIndexed">When the state was written; null if it was written before the node started.</param>
public sealed record PublishedIndex(long Etag, bool IsPartial, long Documents, DateTimeOffset? LastIndexed);
