namespace Rookery.Indexing.Indexes;

/// <summary>A definition that this node does not run, and why.</summary>
/// <param name="Number">The number of the definition.</param>
/// <param name="Reason">Why this node does not run it, in a sentence or two.</param>
/// <param name="Time">Since when this node does not run the newest definition of the index.</param>
/// <param name="Needed">The class in which it waits for a place of the quota; null if a place would not help.</param>
internal sealed record NotMaintained(long Number, string Reason, DateTimeOffset Time, IndexPlace? Needed);
