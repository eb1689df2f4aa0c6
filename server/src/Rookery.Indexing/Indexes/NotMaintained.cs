namespace Rookery.Indexing.Indexes;

/// <summary>A definition that this node does not run, and why.</summary>
/// <param name="Number">The number of the definition.</param>
/// <param name="Reason">Why the node does not run the definition, in a sentence or two.</param>
/// <param name="Time">Since when this node does not run the definition for this reason.</param>
/// <param name="Needed">The class in which it waits for a place of the quota; null if a place would not help.</param>
internal sealed record NotMaintained(long Number, string Reason, DateTimeOffset Time, IndexPlace? Needed)
{
    /// <summary>
    /// Returns what to record after an earlier record of the same index: the earlier one if only the time differs.
    /// </summary>
    public NotMaintained After(NotMaintained before) => this with { Time = before.Time } == before ? before : this;
}
