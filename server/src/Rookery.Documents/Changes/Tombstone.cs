namespace Rookery.Documents.Changes;

/// <summary>The record of a deletion.</summary>
/// <param name="Id">The document's id, as it was stored.</param>
/// <param name="Collection">The document's collection before the deletion.</param>
/// <param name="Etag">The etag of the deletion.</param>
/// <param name="DeletedTicks">Log time of the deletion, in UTC ticks.</param>
/// <param name="Moved">True if the document was not deleted, but moved from this collection to another.</param>
public readonly record struct Tombstone(string Id, string Collection, long Etag, long DeletedTicks, bool Moved);
