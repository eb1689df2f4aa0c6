namespace Rookery.Documents;

/// <summary>Walks over changes in etag order: stored documents and tombstones.</summary>
public sealed class ChangeCursor : IDisposable
{
    /// <summary>The etag of the change at hand.</summary>
    public long Etag => throw new NotSupportedException();

    /// <summary>Whether the change at hand is a deletion; then <see cref="Tombstone"/> holds it, otherwise <see cref="Document"/>.</summary>
    public bool IsTombstone => throw new NotSupportedException();

    /// <summary>The stored document; valid until the next move.</summary>
    public Document Document => throw new NotSupportedException();

    /// <summary>The deletion.</summary>
    public Tombstone Tombstone => throw new NotSupportedException();

    /// <summary>Goes to the next change.</summary>
    /// <returns>False at the end.</returns>
    public bool MoveNext() => throw new NotSupportedException();

    /// <inheritdoc/>
    public void Dispose()
    {
    }
}

/// <summary>A remembered deletion.</summary>
/// <param name="Id">The id as it was stored.</param>
/// <param name="Collection">The collection it was deleted from.</param>
/// <param name="Etag">The etag of the deletion.</param>
/// <param name="DeletedTicks">When, in UTC ticks of log time.</param>
/// <param name="Moved">True when the document did not go but changed its collection: this one lost it.</param>
public readonly record struct Tombstone(string Id, string Collection, long Etag, long DeletedTicks, bool Moved);
