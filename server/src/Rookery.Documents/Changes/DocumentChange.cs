namespace Rookery.Documents.Changes;

/// <summary>What happened to a document.</summary>
public enum DocumentChangeKind : byte
{
    /// <summary>It was stored.</summary>
    Put = 1,

    /// <summary>It was deleted.</summary>
    Delete = 2,
}

/// <summary>A change that was applied.</summary>
/// <param name="Kind">Stored or deleted.</param>
/// <param name="Id">The id as stored.</param>
/// <param name="Collection">The collection.</param>
/// <param name="Etag">The etag of the change.</param>
public readonly record struct DocumentChange(DocumentChangeKind Kind, string Id, string Collection, long Etag);

/// <summary>A database came or went.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Created">True when it was created, false when it was deleted.</param>
public readonly record struct DatabaseChange(string Name, bool Created);
