namespace Rookery.Indexing.Indexes;

/// <summary>A definition that this node does not follow.</summary>
/// <param name="Number">Its number.</param>
/// <param name="Reason">Why, in a sentence or two.</param>
/// <param name="Time">Since when.</param>
/// <param name="Needed">The place that it waits for; null when it is not for want of one.</param>
internal sealed record NotKept(long Number, string Reason, DateTimeOffset Time, IndexPlace? Needed);
