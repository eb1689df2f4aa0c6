namespace Rookery.Search.Segments.Store;

/// <summary>An index cannot hold what a document gives it.</summary>
/// <param name="message">Why, in a sentence.</param>
public sealed class IndexEntryException(string message) : Exception(message);
