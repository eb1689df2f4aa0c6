using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Ids;
using Rookery.Documents.Indexes;
using Rookery.Storage;

namespace Rookery.Documents.Databases;

/// <summary>
/// A database as it was at one moment. Ids are UTF-8 in any case. Documents and walks that a method hands out must be
/// disposed before the reader; dispose the reader once. Every read that meets bytes whose checksum does not match
/// throws <see cref="DamagedException"/>: the answer is unknown, never wrong.
/// </summary>
public readonly struct DatabaseReader : IDisposable
{
    private readonly Snapshot _snapshot;

    internal DatabaseReader(Database database, in Snapshot snapshot)
    {
        Database = database;
        _snapshot = snapshot;
    }

    /// <summary>The database.</summary>
    public Database Database { get; }

    /// <summary>The etag of the last operation, of any database, that this reader sees.</summary>
    public long Sequence => _snapshot.Sequence;

    /// <summary>
    /// Cancelled when the moment has to be given up, because it keeps more memory or files from being given back than
    /// readers may. Whoever waits while holding it listens.
    /// </summary>
    public CancellationToken Ended => _snapshot.Ended;

    /// <summary>Stops a long read whose moment has to be given up. Walks ask it themselves.</summary>
    /// <exception cref="SnapshotEndedException">It keeps more from being given back than readers may.</exception>
    public void ThrowIfEnded() => _snapshot.ThrowIfEnded();

    internal Snapshot Snapshot => _snapshot;

    /// <summary>Finds a document.</summary>
    /// <param name="id">Its id, in any case. An id longer than <see cref="DocumentId.MaxBytes"/> is found
    /// nowhere.</param>
    /// <param name="document">The document; dispose it when the answer is written.</param>
    public bool TryGetDocument(ReadOnlySpan<byte> id, out Document document)
    {
        document = default;
        if (id.Length > DocumentId.MaxBytes)
        {
            return false;
        }

        // Lower-casing may lengthen a text by half (U+023A takes two bytes, U+2C65 three); the longest valid id has no
        // such room to grow.
        Span<byte> lower = stackalloc byte[2 * DocumentId.MaxBytes];
        int length = DocumentId.ToLower(id, lower);
        return length <= DocumentId.MaxBytes && TryGetByLowerId(lower[..length], out document);
    }

    /// <summary>
    /// Documents whose id begins with <paramref name="prefix"/>, in id order; an empty prefix means all.
    /// </summary>
    /// <param name="prefix">The beginning of the ids, in any case.</param>
    /// <param name="startAfter">Begin after this id; empty to begin with the first.</param>
    public DocumentCursor ByIdPrefix(ReadOnlySpan<byte> prefix, ReadOnlySpan<byte> startAfter = default) =>
        DocumentCursor.ById(this, prefix, startAfter);

    /// <summary>All documents that can be read, in id order, going past those that cannot.</summary>
    /// <param name="passedOver">Told of each damaged stretch when the walk reaches it; perhaps more than once of the
    /// same.</param>
    public DocumentCursor AllReadable(Action<DamageEvent> passedOver) => DocumentCursor.ById(this, [], [], passedOver);

    /// <summary>
    /// Documents in the order they were last written, from the first etag above <paramref name="afterEtag"/>.
    /// </summary>
    public DocumentCursor ByEtag(long afterEtag) => DocumentCursor.ByEtag(this, afterEtag, backward: false);

    /// <summary>Documents in the order they were last written, newest first.</summary>
    public DocumentCursor ByEtagBackward() => DocumentCursor.ByEtag(this, 0, backward: true);

    /// <summary>
    /// Documents of a collection (named in any case) in the order they were last written, from the first etag above
    /// <paramref name="afterEtag"/>.
    /// </summary>
    public DocumentCursor ByCollection(ReadOnlySpan<byte> collection, long afterEtag = 0) =>
        DocumentCursor.ByCollection(this, collection, afterEtag);

    /// <summary>
    /// Everything that changed after <paramref name="afterEtag"/>, in etag order: the newest state of each document,
    /// and tombstones.
    /// </summary>
    /// <remarks>
    /// Below <see cref="DatabaseStatistics.TombstoneHorizon"/> deletions are forgotten: whoever reads from there starts
    /// over.
    /// </remarks>
    public ChangeCursor Changes(long afterEtag) => new(this, afterEtag);

    /// <summary>Counts of the database.</summary>
    public DatabaseStatistics ReadStatistics()
    {
        var counters = ReadCounters();
        return new DatabaseStatistics(
            counters.Documents,
            counters.Tombstones,
            counters.LastDocumentEtag,
            counters.LastEtag,
            counters.TombstoneHorizon,
            counters.Identities
        );
    }

    /// <summary>Log time, in UTC ticks, from which on every idempotency key is remembered.</summary>
    public long ReadIdempotencyHorizonTicks() => ReadCounters().IdempotencyHorizonTicks;

    /// <summary>
    /// Counts per collection, ordered by lower-cased name; collections without documents are left out.
    /// </summary>
    public IReadOnlyList<CollectionStatistics> ReadCollections()
    {
        var collections = new List<CollectionStatistics>();
        using var rows = Rows(Table.Counters);
        while (rows.MoveNext())
        {
            if (!Key.TextOf(rows.Key).IsEmpty)
            {
                collections.Add(CollectionCounters.ReadStatistics(rows.Value));
            }
        }

        return collections;
    }

    /// <summary>Identities, ordered by name.</summary>
    public IReadOnlyList<IdentityValue> ReadIdentities()
    {
        var identities = new List<IdentityValue>();
        using var rows = Rows(Table.Identities);
        while (rows.MoveNext())
        {
            identities.Add(
                new IdentityValue(
                    Encoding.UTF8.GetString(Key.TextOf(rows.Key)),
                    BinaryPrimitives.ReadInt64LittleEndian(rows.Value)
                )
            );
        }

        return identities;
    }

    /// <summary>The indexes, ordered by lower-cased name.</summary>
    public IReadOnlyList<IndexRecord> ReadIndexes()
    {
        var indexes = new List<IndexRecord>();
        using var rows = Rows(Table.Indexes);
        while (rows.MoveNext())
        {
            if (!Key.TextOf(rows.Key).IsEmpty)
            {
                using var value = CommandBuffer.Rent();
                rows.CopyTo(value, 0, rows.Length);
                indexes.Add(IndexValue.Read(value.Written.Span).ToRecord(rows.Sequence));
            }
        }

        return indexes;
    }

    /// <summary>
    /// The last number that an index was given: what has one up to it and is not among the indexes has been deleted or
    /// replaced.
    /// </summary>
    public long ReadLastIndexNumber() => ReadIndexCounts().LastNumber;

    /// <summary>
    /// The last number that an index was given, and how many indexes there are, without reading them. Both are the same
    /// as before only while the definitions are: each new one raises the number, and each that is deleted lowers the
    /// count.
    /// </summary>
    public (long LastNumber, int Count) ReadIndexCounts()
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (!_snapshot.TryGet(Key.Prefix(key, Database.Number, Table.Indexes), out var row))
        {
            return default;
        }

        using (row)
        {
            var counters = IndexCounters.Read(row.Value);
            return (counters.LastNumber, counters.Count);
        }
    }

    /// <summary>Finds an index by name, without case; null when there is none.</summary>
    public IndexRecord? FindIndex(string name)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (
            IndexRecord.NameProblem(name) is not null
            || !_snapshot.TryGet(
                Key.Text(key, Database.Number, Table.Indexes, IndexRecord.LowerBytes(name)),
                out var row
            )
        )
        {
            return null;
        }

        using var value = new Document(row);
        return IndexValue.Read(value.Bytes).ToRecord(value.Etag);
    }

    /// <summary>The client configuration that was stored for this database, JSON; null when there is none.</summary>
    public byte[]? ReadClientConfiguration()
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (!_snapshot.TryGet(Key.Prefix(key, Database.Number, Table.ClientConfiguration), out var row))
        {
            return null;
        }

        using var document = new Document(row);
        return document.Bytes.ToArray();
    }

    /// <inheritdoc/>
    public void Dispose() => _snapshot.Dispose();

    internal bool TryGetByLowerId(ReadOnlySpan<byte> lowerId, out Document document)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (_snapshot.TryGet(Key.Text(key, Database.Number, Table.Documents, lowerId), out var row))
        {
            document = new Document(row);
            return true;
        }

        document = default;
        return false;
    }

    /// <summary>Finds the document that a row by etag is about; not when the row is stale.</summary>
    internal bool TryGetVersion(ReadOnlySpan<byte> lowerId, long etag, out Document document)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        document = default;
        if (!_snapshot.TryGet(Key.Text(key, Database.Number, Table.Documents, lowerId), out var row))
        {
            return false;
        }

        if (row.Sequence != etag)
        {
            row.Dispose();
            return false;
        }

        document = new Document(row);
        return true;
    }

    private DatabaseCounters ReadCounters()
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (!_snapshot.TryGet(Key.Prefix(key, Database.Number, Table.Counters), out var row))
        {
            return default;
        }

        using (row)
        {
            return DatabaseCounters.Read(row.Value);
        }
    }

    private RowCursor Rows(byte table)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        var prefix = Key.Prefix(from, Database.Number, table);
        return _snapshot.Seek(prefix, Key.After(to, prefix));
    }
}
