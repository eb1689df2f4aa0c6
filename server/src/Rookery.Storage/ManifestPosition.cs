namespace Rookery.Storage;

/// <summary>Position of a durable manifest in the log.</summary>
/// <param name="Index">Log index of the last batch in the runs.</param>
/// <param name="Term">Term of that batch.</param>
/// <param name="Sequence">The last operation number (etag) used through that batch.</param>
public readonly record struct ManifestPosition(long Index, long Term, long Sequence);
