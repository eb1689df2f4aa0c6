namespace Rookery.Search.Segments.Store;

/// <summary>A document's entries exceed the limits of an index.</summary>
/// <param name="message">Why, in a sentence.</param>
public sealed class IndexEntryException(string message) : Exception(message);
