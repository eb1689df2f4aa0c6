namespace Rookery.Search.Segments.Store;

/// <summary>Thrown if a document cannot be indexed, for example because it exceeds the limits of an index.</summary>
/// <param name="message">Why, in a sentence.</param>
public sealed class IndexEntryException(string message) : Exception(message);
