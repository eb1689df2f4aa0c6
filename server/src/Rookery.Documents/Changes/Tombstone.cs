namespace Rookery.Documents.Changes;

/// <summary>A remembered deletion.</summary>
/// <param name="Id">The id as it was stored.</param>
/// <param name="Collection">The collection it was deleted from.</param>
/// <param name="Etag">The etag of the deletion.</param>
/// <param name="DeletedTicks">When, in UTC ticks of log time.</param>
/// <param name="Moved">True when the document did not go but changed its collection: this one lost it.</param>
public readonly record struct Tombstone(string Id, string Collection, long Etag, long DeletedTicks, bool Moved);
