namespace Rookery.Scripting.Running;

/// <summary>The answer of a query that a script computes a result for.</summary>
public interface IQueryAnswer
{
    /// <summary>Reads a counter from the snapshot of the answer; null if it does not exist.</summary>
    /// <param name="id">The id of a document, which may be any text.</param>
    /// <param name="name">The name of the counter, which may be any text.</param>
    long? ReadCounter(ReadOnlySpan<byte> id, ReadOnlySpan<byte> name);

    /// <summary>Adds a document to the answer.</summary>
    /// <param name="id">The id of the document, which may be any text.</param>
    void IncludeDocument(ReadOnlySpan<byte> id);

    /// <summary>Adds a compare-exchange value to the answer.</summary>
    /// <param name="key">The key of the value, which may be any text.</param>
    void IncludeCompareExchange(ReadOnlySpan<byte> key);
}
