namespace Rookery.Indexing.Mapping;

/// <summary>What a map reads.</summary>
/// <param name="Collection">The collection of the documents, or of the documents of the counters; null for all.</param>
/// <param name="IsOfCounters">Whether the map reads counters of documents instead of the documents.</param>
/// <param name="Counter">The name of the counters, in any casing; null for all, and for documents.</param>
public sealed record MapSource(string? Collection, bool IsOfCounters = false, string? Counter = null);
