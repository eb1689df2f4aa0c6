using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Ids;
using Rookery.Documents.Indexes;
using Rookery.Documents.Revisions;
using Rookery.Documents.Stored;
using Rookery.Storage;

namespace Rookery.Documents.Databases;

/// <summary>
/// A snapshot of a database. Ids are UTF-8 in any casing. Dispose documents and cursors before the reader; dispose the
/// reader once. Reading bytes whose checksum does not match throws <see cref="DamagedException"/>.
/// </summary>
public readonly struct DatabaseReader : IDisposable
{
    private readonly Snapshot _snapshot;

    internal DatabaseReader(Database database, in Snapshot snapshot, HiddenDocuments hidden)
    {
        Database = database;
        _snapshot = snapshot;
        Hidden = hidden;
    }

    /// <summary>The database.</summary>
    public Database Database { get; }

    /// <summary>Etag of the last operation, of any database, in the snapshot.</summary>
    public long Sequence => _snapshot.Sequence;

    /// <summary>
    /// Cancelled when the snapshot must be released, because it pins too much memory or too many files. Pass it to
    /// every wait while the reader is open.
    /// </summary>
    public CancellationToken Ended => _snapshot.Ended;

    /// <summary>Whether the snapshot must be released.</summary>
    public bool IsEnded => _snapshot.IsEnded;

    /// <summary>Throws if the snapshot must be released. Cursors call it themselves.</summary>
    /// <exception cref="SnapshotEndedException">The snapshot pins too much memory or too many files.</exception>
    public void ThrowIfEnded() => _snapshot.ThrowIfEnded();

    internal Snapshot Snapshot => _snapshot;

    /// <summary>The documents that are absent for a client because they have expired.</summary>
    internal HiddenDocuments Hidden { get; }

    /// <summary>Finds a document by id.</summary>
    /// <param name="id">The document's id, in any casing. An id longer than <see cref="DocumentId.MaxBytes"/> matches
    /// no document.</param>
    /// <param name="document">The document; dispose it after use.</param>
    public bool TryGetDocument(ReadOnlySpan<byte> id, out Document document) =>
        FindDocument(id, mayReadDisk: true, out document) == RowLookup.Found;

    /// <summary>
    /// Finds a document by id. Without <paramref name="mayReadDisk"/>, neither this call nor a use of
    /// <paramref name="document"/> reads the disk.
    /// </summary>
    /// <inheritdoc cref="TryGetDocument"/>
    public RowLookup FindDocument(ReadOnlySpan<byte> id, bool mayReadDisk, out Document document)
    {
        document = default;
        if (id.Length > DocumentId.MaxBytes)
        {
            return RowLookup.Absent;
        }

        // Lower-casing may lengthen a text by half (U+023A takes two bytes, U+2C65 three), but never beyond MaxBytes
        // for a valid id.
        Span<byte> lower = stackalloc byte[2 * DocumentId.MaxBytes];
        int length = DocumentId.ToLower(id, lower);
        if (length > DocumentId.MaxBytes)
        {
            return RowLookup.Absent;
        }

        Span<byte> key = stackalloc byte[Key.MaxBytes];
        var lookup = _snapshot.Find(
            Key.WriteText(key, Database.Number, Table.Documents, lower[..length]),
            mayReadDisk,
            out var row
        );
        if (lookup != RowLookup.Found)
        {
            return lookup;
        }

        // Each chunk of a large document is a row of its own, which may be on disk only.
        if (row.IsLarge && !mayReadDisk)
        {
            row.Dispose();
            return RowLookup.NotInMemory;
        }

        document = new Document(row);
        if (Hidden.Contain(document))
        {
            document.Dispose();
            document = default;
            return RowLookup.Absent;
        }

        return RowLookup.Found;
    }

    /// <summary>
    /// Returns the documents whose id begins with <paramref name="prefix"/>, in id order. An empty prefix matches all.
    /// </summary>
    /// <param name="prefix">The beginning of the ids, in any casing. A prefix longer than
    /// <see cref="DocumentId.MaxBytes"/> matches no document.</param>
    /// <param name="startAfter">The last id to skip, of at most <see cref="DocumentId.MaxBytes"/> bytes; empty to start
    /// with the first document.</param>
    public DocumentCursor SeekByIdPrefix(ReadOnlySpan<byte> prefix, ReadOnlySpan<byte> startAfter = default) =>
        DocumentCursor.SeekByIdPrefix(this, prefix, startAfter);

    /// <summary>Returns all documents that can be read, in id order, and skips damaged ones.</summary>
    /// <param name="damageSkipped">Receives each damaged range when the cursor reaches it, possibly more than
    /// once.</param>
    /// <param name="startAfter">The id after which to start; empty for the first document.</param>
    public DocumentCursor SeekAllReadable(Action<DamageEvent> damageSkipped, ReadOnlySpan<byte> startAfter = default) =>
        DocumentCursor.SeekByIdPrefix(this, [], startAfter, damageSkipped);

    /// <summary>
    /// Returns the documents in the order of their last write, from the first etag above <paramref name="afterEtag"/>.
    /// </summary>
    public DocumentCursor SeekByEtag(long afterEtag) => DocumentCursor.SeekByEtag(this, afterEtag, isBackward: false);

    /// <summary>Returns the documents in the order of their last write, newest first.</summary>
    public DocumentCursor SeekByEtagBackward() => DocumentCursor.SeekByEtag(this, afterEtag: 0, isBackward: true);

    /// <summary>
    /// Returns the documents of a collection (its name in any casing) in the order of their last write, from the first
    /// etag above <paramref name="afterEtag"/>. A name beyond the maximum length matches none.
    /// </summary>
    public DocumentCursor SeekByCollection(ReadOnlySpan<byte> collection, long afterEtag = 0) =>
        DocumentCursor.SeekByCollection(this, collection, afterEtag);

    /// <summary>
    /// Returns all changes after <paramref name="afterEtag"/> in etag order: each document in its newest state, and
    /// tombstones.
    /// </summary>
    /// <remarks>
    /// Deletions at or below <see cref="DatabaseStatistics.TombstoneHorizon"/> are missing: a reader that continues
    /// from there must start over.
    /// </remarks>
    /// <param name="afterEtag">The etag after which to begin.</param>
    /// <param name="withCounters">Whether to also return documents whose counters changed after their content.</param>
    public ChangeCursor SeekChanges(long afterEtag, bool withCounters = false) => new(this, afterEtag, withCounters);

    /// <summary>Reads how many documents, tombstones and other items the database has, and its last etags.</summary>
    public DatabaseStatistics ReadStatistics()
    {
        var counters = ReadDatabaseCounters();
        return new DatabaseStatistics(
            counters.Documents,
            counters.Tombstones,
            counters.LastDocumentEtag,
            counters.LastEtag,
            counters.TombstoneHorizon,
            counters.Identities,
            counters.CompareExchangeValues,
            counters.DocumentCounters,
            new AttachmentTotals(counters.Attachments, counters.AttachmentContents, counters.AttachmentBytes),
            counters.Revisions
        );
    }

    /// <summary>Reads the log time, in UTC ticks, since which all idempotency keys are stored.</summary>
    public long ReadIdempotencyHorizonTicks() => ReadDatabaseCounters().IdempotencyHorizonTicks;

    /// <summary>
    /// Reads the statistics of all non-empty collections one by one, ordered by lower-cased name. Use the items before
    /// the reader is disposed.
    /// </summary>
    /// <param name="after">The last collection to skip; null to start with the first one.</param>
    public IEnumerable<CollectionStatistics> ReadCollections(CollectionStatistics? after = null)
    {
        byte[] afterKey = [];
        if (after is { } last)
        {
            byte[] name = Encoding.UTF8.GetBytes(last.Name);
            afterKey = new byte[name.Length];
            Key.LowerCollection(name, afterKey);
        }

        using var rows = SeekRows(Table.Counters, afterKey);
        while (rows.MoveNext())
        {
            if (!Key.TextOf(rows.Key).IsEmpty)
            {
                yield return CollectionCounters.ReadStatistics(rows.Value);
            }
        }
    }

    /// <summary>
    /// Reads all identities one by one, ordered by name. Use the items before the reader is disposed.
    /// </summary>
    /// <param name="after">The last identity to skip; null to start with the first one.</param>
    public IEnumerable<IdentityValue> ReadIdentities(IdentityValue? after = null)
    {
        using var rows = SeekRows(Table.Identities, after is { } last ? Encoding.UTF8.GetBytes(last.Name) : []);
        while (rows.MoveNext())
        {
            yield return new IdentityValue(
                Encoding.UTF8.GetString(Key.TextOf(rows.Key)),
                BinaryPrimitives.ReadInt64LittleEndian(rows.Value)
            );
        }
    }

    /// <summary>Finds a compare-exchange value that has not expired.</summary>
    /// <param name="key">The value's key, in any casing.</param>
    /// <param name="value">The value, an object with the member Object; its etag is the value's index. Dispose it after
    /// use.</param>
    public bool TryGetCompareExchange(ReadOnlySpan<byte> key, out Document value)
    {
        value = default;
        Span<byte> lower = stackalloc byte[2 * CompareExchangeKey.MaxBytes];
        if (
            key.Length > CompareExchangeKey.MaxBytes
            || !DocumentId.TryToLower(key, lower, out int length)
            || length > CompareExchangeKey.MaxBytes
        )
        {
            return false;
        }

        Span<byte> rowKey = stackalloc byte[Key.MaxBytes];
        if (
            !_snapshot.TryGet(
                Key.WriteText(rowKey, Database.Number, Table.CompareExchange, lower[..length]),
                out var row
            )
        )
        {
            return false;
        }

        value = new Document(row);
        long expiresAtTicks = value.Head.ExpiresAtTicks;
        if (expiresAtTicks == 0 || !Expiry.HasPassed(expiresAtTicks, ReadExpiryTicks()))
        {
            return true;
        }

        value.Dispose();
        value = default;
        return false;
    }

    /// <summary>Reads the value of a counter; null if the document has no such counter or does not exist.</summary>
    /// <param name="id">The document's id, in any casing.</param>
    /// <param name="name">The counter's name, in any casing.</param>
    /// <param name="etag">Etag of the counter's last change; 0 without a counter.</param>
    public long? ReadCounter(ReadOnlySpan<byte> id, ReadOnlySpan<byte> name, out long etag)
    {
        etag = 0;
        Span<byte> lowerId = stackalloc byte[DocumentId.MaxBytes];
        Span<byte> lowerName = stackalloc byte[CounterName.MaxBytes];
        Span<byte> key = stackalloc byte[Key.MaxCounterBytes];
        if (
            !DocumentId.TryToLower(id, lowerId, out int idLength)
            || !DocumentId.TryToLower(name, lowerName, out int nameLength)
            || !_snapshot.TryGet(
                Key.WriteCounter(key, Database.Number, lowerId[..idLength], lowerName[..nameLength]),
                out var row
            )
        )
        {
            return null;
        }

        using (row)
        {
            // The row may belong to a deleted document with the same id.
            if (!DocumentCounters.Owns(ReadFirstEtagOfCounters(lowerId[..idLength]), row.Sequence))
            {
                return null;
            }

            etag = row.Sequence;
            return CounterValue.Read(row.Value);
        }
    }

    /// <summary>
    /// Returns the compare-exchange values whose key begins with <paramref name="prefix"/>, in any casing, ordered by
    /// lower-cased key. Values that have expired are among them: see <see cref="Expiry.HasPassed"/>.
    /// </summary>
    public DocumentCursor SeekCompareExchange(ReadOnlySpan<byte> prefix) =>
        DocumentCursor.SeekCompareExchange(this, prefix);

    /// <summary>
    /// Counts the compare-exchange values except atomic guards, which are not data of users. Guards after a damaged one
    /// count as values.
    /// </summary>
    public long CountCompareExchangeOfUsers()
    {
        long values = ReadStatistics().CompareExchangeValues;
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        var start = Key.WriteText(from, Database.Number, Table.CompareExchange, CompareExchangeKey.GuardPrefix);
        try
        {
            using var guards = _snapshot.Seek(start, Key.WriteAfterPrefix(to, start));
            while (values > 0 && guards.MoveNext())
            {
                values--;
            }
        }
        catch (DamagedException)
        {
            // The export reports the damage in the documents only.
        }

        return values;
    }

    /// <summary>
    /// Returns the snapshot's expiry time, in UTC ticks: compare-exchange values whose expiry is at or before this time
    /// are absent. 0 if none is absent. The log sets the time, so it is the same on all members after the same entry.
    /// </summary>
    public long ReadExpiryTicks()
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (!_snapshot.TryGet(Key.WritePrefix(key, Key.NoDatabase, Table.Node), out var row))
        {
            return 0;
        }

        using (row)
        {
            return NodeRecord.Read(row.Value).ExpiryTicks ?? 0;
        }
    }

    /// <summary>
    /// Whether some compare-exchange value of the database expired between the snapshot's time and
    /// <paramref name="nowTicks"/>: it is present here, and becomes absent with the next entry of the log.
    /// </summary>
    public bool HasDueCompareExchange(long nowTicks) =>
        ReadNextCompareExchangeExpiry() is var next and not 0 && next <= nowTicks;

    /// <summary>
    /// Returns when the next of the compare-exchange values that are present in the snapshot expires, in UTC ticks; 0
    /// if none expires. While the returned time and the database's last etag stay the same, so do all values.
    /// </summary>
    public long ReadNextCompareExchangeExpiry()
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        using var rows = _snapshot.Seek(
            Key.WriteNumber(from, Database.Number, Table.CompareExchangeExpiry, ReadExpiryTicks() + 1),
            Key.WritePrefix(to, Database.Number, (byte)(Table.CompareExchangeExpiry + 1))
        );
        return rows.MoveNext() ? Key.NumberOf(rows.Key) : 0;
    }

    /// <summary>Reads the configuration of revisions; null if none was ever stored.</summary>
    public RevisionsConfiguration? ReadRevisionsConfiguration()
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (!_snapshot.TryGet(Key.WritePrefix(key, Database.Number, Table.RevisionsConfiguration), out var row))
        {
            return null;
        }

        using var document = new Document(row);
        return RevisionsConfiguration.Decode(document.Bytes);
    }

    /// <summary>Reads all indexes, ordered by lower-cased name.</summary>
    public IReadOnlyList<IndexRecord> ReadIndexes()
    {
        var indexes = new List<IndexRecord>();
        using var rows = SeekRows(Table.Indexes);
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
    /// Reads the highest index number assigned so far. Each lower number belongs to an index, or to a definition that
    /// was deleted or replaced.
    /// </summary>
    public long ReadLastIndexNumber() => ReadIndexCounts().LastNumber;

    /// <summary>
    /// Reads the etag of the command that last defined or deleted indexes; 0 if there was none. A change of settings
    /// does not raise it.
    /// </summary>
    public long ReadLastIndexDefinition()
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (!_snapshot.TryGet(Key.WritePrefix(key, Database.Number, Table.Indexes), out var row))
        {
            return 0;
        }

        using (row)
        {
            return row.Sequence;
        }
    }

    /// <summary>
    /// Reads the highest index number and the number of indexes, without reading the indexes. Every change of
    /// definitions changes one of the two: a new definition raises the number, a deletion lowers the count.
    /// </summary>
    public (long LastNumber, int Count) ReadIndexCounts()
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (!_snapshot.TryGet(Key.WritePrefix(key, Database.Number, Table.Indexes), out var row))
        {
            return default;
        }

        using (row)
        {
            var counters = AssignedNumbers.Read(row.Value, "index counters");
            return (counters.LastNumber, counters.Count);
        }
    }

    /// <summary>Finds an index by name, in any casing; returns null if there is none.</summary>
    public IndexRecord? FindIndex(string name)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (
            IndexRecord.NameProblem(name) is not null
            || !_snapshot.TryGet(
                Key.WriteText(key, Database.Number, Table.Indexes, IndexRecord.LowerBytes(name)),
                out var row
            )
        )
        {
            return null;
        }

        // Document reads rows of any table, and assembles those that are stored in chunks.
        using var value = new Document(row);
        return IndexValue.Read(value.Bytes).ToRecord(value.Etag);
    }

    /// <summary>Reads the client configuration in its old form, JSON; null if there is none.</summary>
    public byte[]? ReadClientConfiguration()
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (!_snapshot.TryGet(Key.WritePrefix(key, Database.Number, Table.Configurations), out var row))
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
        if (_snapshot.TryGet(Key.WriteText(key, Database.Number, Table.Documents, lowerId), out var row))
        {
            document = new Document(row);
            return true;
        }

        document = default;
        return false;
    }

    /// <summary>Finds a document version. False if the document has another etag now, or was deleted.</summary>
    internal bool TryGetVersion(ReadOnlySpan<byte> lowerId, long etag, out Document document)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        document = default;
        if (!_snapshot.TryGet(Key.WriteText(key, Database.Number, Table.Documents, lowerId), out var row))
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

    private long ReadFirstEtagOfCounters(ReadOnlySpan<byte> lowerId)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (!_snapshot.TryGet(Key.WriteText(key, Database.Number, Table.Documents, lowerId), out var row))
        {
            return 0;
        }

        using var document = new Document(row);
        return Hidden.Contain(document) ? 0 : DocumentCounters.ReadSince(row);
    }

    private DatabaseCounters ReadDatabaseCounters()
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (!_snapshot.TryGet(Key.WritePrefix(key, Database.Number, Table.Counters), out var row))
        {
            return default;
        }

        using (row)
        {
            return DatabaseCounters.Read(row.Value);
        }
    }

    private RowCursor SeekRows(byte table, ReadOnlySpan<byte> afterText = default)
    {
        Span<byte> prefix = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        var end = Key.WriteAfterPrefix(to, Key.WritePrefix(prefix, Database.Number, table));
        if (afterText.IsEmpty)
        {
            return _snapshot.Seek(Key.WritePrefix(prefix, Database.Number, table), end);
        }

        // The smallest key after a text is the text and a zero byte.
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        int length = Key.WriteText(from, Database.Number, table, afterText).Length;
        from[length] = 0;
        return _snapshot.Seek(from[..(length + 1)], end);
    }
}
