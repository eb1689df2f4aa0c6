namespace Rookery.Storage;

/// <summary>A place in the journal that the durable manifest contains.</summary>
/// <param name="Index">The journal index of the last batch in it.</param>
/// <param name="Term">That batch's term.</param>
/// <param name="Sequence">The last operation number (etag) used up to there.</param>
public readonly record struct ManifestPosition(long Index, long Term, long Sequence);
