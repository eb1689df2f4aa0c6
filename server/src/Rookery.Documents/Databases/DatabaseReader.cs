using Rookery.Storage;

namespace Rookery.Documents;

/// <summary>
/// A database as it was at one moment. Ids are UTF-8 in any case. Documents that a method hands out are valid until they are disposed, and must be disposed before the reader.
/// </summary>
/// <exception cref="DamagedException">Thrown by every read that meets bytes whose checksum does not match: the answer is unknown, never wrong.</exception>
public readonly struct DatabaseReader : IDisposable
{
    private readonly Snapshot _snapshot;

    internal DatabaseReader(Database database, Snapshot snapshot)
    {
        Database = database;
        _snapshot = snapshot;
    }

    /// <summary>The database.</summary>
    public Database Database { get; }

    /// <summary>The etag of the last operation, of any database, that this reader sees.</summary>
    public long Sequence => _snapshot.Sequence;

    /// <summary>Finds a document.</summary>
    /// <param name="id">Its id, in any case.</param>
    /// <param name="document">The document; dispose it when the answer is written.</param>
    public bool TryGetDocument(ReadOnlySpan<byte> id, out Document document) => throw new NotSupportedException();

    /// <summary>All documents whose id begins with <paramref name="prefix"/>, in id order; an empty prefix means all.</summary>
    /// <param name="prefix">The beginning of the ids, in any case.</param>
    /// <param name="startAfter">Begin after this id; empty to begin with the first.</param>
    public DocumentCursor ByIdPrefix(ReadOnlySpan<byte> prefix, ReadOnlySpan<byte> startAfter = default) => throw new NotSupportedException();

    /// <summary>Documents in the order they were last written, from the first etag above <paramref name="afterEtag"/>.</summary>
    public DocumentCursor ByEtag(long afterEtag) => throw new NotSupportedException();

    /// <summary>Documents in the order they were last written, newest first.</summary>
    public DocumentCursor ByEtagBackward() => throw new NotSupportedException();

    /// <summary>Documents of a collection (named in any case) in the order they were last written, from the first etag above <paramref name="afterEtag"/>.</summary>
    public DocumentCursor ByCollection(ReadOnlySpan<byte> collection, long afterEtag = 0) => throw new NotSupportedException();

    /// <summary>Everything that changed after <paramref name="afterEtag"/>, in etag order: the newest state of each document, and tombstones.</summary>
    /// <remarks>Below <see cref="DatabaseStatistics.TombstoneHorizon"/> deletions are forgotten: whoever reads from there starts over.</remarks>
    public ChangeCursor Changes(long afterEtag) => throw new NotSupportedException();

    /// <summary>Counts of the database.</summary>
    public DatabaseStatistics ReadStatistics() => throw new NotSupportedException();

    /// <summary>Counts per collection, ordered by name; collections without documents are left out.</summary>
    public IReadOnlyList<CollectionStatistics> ReadCollections() => throw new NotSupportedException();

    /// <summary>Identities, ordered by name.</summary>
    public IReadOnlyList<IdentityValue> ReadIdentities() => throw new NotSupportedException();

    /// <inheritdoc/>
    public void Dispose() => _snapshot.Dispose();
}
