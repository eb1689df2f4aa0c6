namespace Rookery.Documents.Changes;

/// <summary>The kind of a change to a document.</summary>
public enum DocumentChangeKind : byte
{
    /// <summary>The document was stored.</summary>
    Put = 1,

    /// <summary>The document was deleted.</summary>
    Delete = 2,

    /// <summary>A counter of the document was created.</summary>
    CounterPut = 3,

    /// <summary>A counter of the document was incremented.</summary>
    CounterIncrement = 4,

    /// <summary>A counter of the document was deleted.</summary>
    CounterDelete = 5,
}

/// <summary>A change to a document that was applied.</summary>
/// <param name="Kind">The kind of the change.</param>
/// <param name="Id">The document's id, as stored.</param>
/// <param name="Collection">The document's collection.</param>
/// <param name="Etag">The etag of the change.</param>
public readonly record struct DocumentChange(DocumentChangeKind Kind, string Id, string Collection, long Etag)
{
    /// <summary>The counter's name; null if the document itself changed.</summary>
    public string? Counter { get; init; }

    /// <summary>The counter's value after the change.</summary>
    public long CounterValue { get; init; }
}
