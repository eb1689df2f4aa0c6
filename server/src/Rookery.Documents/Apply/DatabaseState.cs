using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Revisions;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>
/// Counters of one database and its collections, as apply keeps them in memory. After each entry they equal the stored
/// rows. Counters that do not fit into <see cref="CollectionMemory"/> are read from their rows when they are needed.
/// Used only by the apply thread.
/// </summary>
internal sealed class DatabaseState
{
    private readonly Dictionary<byte[], CollectionCounters> _collections = new(BytesComparer.Instance);
    private readonly Dictionary<byte[], CollectionCounters>.AlternateLookup<ReadOnlySpan<byte>> _byLowerName;
    private readonly List<CollectionCounters> _dirty = [];
    private readonly List<PendingChange> _pending = [];
    private readonly CollectionMemory _memory;
    private readonly bool _isExact;
    private DatabaseCounters _counters;
    private DatabaseCounters _committed;
    private bool _lacksCollections; // whether some collections with a row are not in memory

    /// <summary>Creates the state of a database without documents.</summary>
    /// <param name="database">The database.</param>
    /// <param name="memory">Counts the collections in memory of all databases.</param>
    /// <param name="isExact">Whether the counters equal the rows; false if some rows could not be read.</param>
    public DatabaseState(Database database, CollectionMemory memory, bool isExact = true)
    {
        _memory = memory;
        _isExact = isExact;
        Database = database;
        _byLowerName = _collections.GetAlternateLookup<ReadOnlySpan<byte>>();
    }

    public Database Database { get; set; }

    /// <summary>The configurations, as of the last command.</summary>
    public DatabaseConfigurations Configurations { get; set; } = DatabaseConfigurations.None;

    public uint Number => Database.Number;

    /// <summary>The counters, including the changes of the current command.</summary>
    public ref DatabaseCounters Counters => ref _counters;

    /// <summary>
    /// Position of the idempotency key that was removed last; null after a start. No older key exists, so the search
    /// for the oldest key starts here. It only saves time and never changes an outcome.
    /// </summary>
    public (long LogTicks, long Etag)? LastForgottenKey { get; set; }

    /// <summary>The next value of <see cref="Databases.Database.LastEtagForIndexes"/>.</summary>
    public long LastEtagForIndexes { get; set; }

    /// <summary>
    /// Some of the oldest idempotency keys in the tables, oldest first. Empty if they are not read yet. They only save
    /// time and never change an outcome.
    /// </summary>
    public Queue<(long LogTicks, long Etag, IdempotencyKey Key)> OldestKeys { get; } = new();

    /// <summary>The configuration of the database's revisions; null if there is none.</summary>
    public RevisionsConfiguration? Revisions
    {
        get => Database.Revisions;
        set => Database.Revisions = value;
    }

    /// <summary>Whether the counters changed since their rows were written.</summary>
    public bool IsDirty { get; private set; }

    /// <summary>Loads the counters from the tables.</summary>
    public static DatabaseState Load(Database database, RowCursor rows, CollectionMemory memory, bool isExact)
    {
        var state = new DatabaseState(database, memory, isExact);
        while (rows.MoveNext())
        {
            var lowerName = Key.TextOf(rows.Key);
            if (lowerName.IsEmpty)
            {
                state._counters = state._committed = DatabaseCounters.Read(rows.Value);
                database.LastEtag = state._counters.LastEtag;
                database.LastEtagForIndexes = state.LastEtagForIndexes = state._counters.LastEtag;
            }
            else if (memory.IsFull)
            {
                // The loop continues, so that damage in any of the rows is found now.
                state._lacksCollections = true;
            }
            else
            {
                state.AddToMemory(CollectionCounters.Read(lowerName, rows.Value));
            }
        }

        return state;
    }

    /// <summary>Number of collections in memory; between entries, all of them have documents.</summary>
    public int CollectionCount => _collections.Count;

    /// <summary>
    /// Returns the counters of a collection, and creates them if the collection is new. All calls before the next
    /// <see cref="WriteRows"/> return the same object.
    /// </summary>
    /// <param name="name">The name, in any casing.</param>
    /// <param name="batch">The rows as of the current command.</param>
    public CollectionCounters Collection(ReadOnlySpan<byte> name, WriteBatch batch)
    {
        Span<byte> lower = stackalloc byte[Key.MaxBytes];
        lower = lower[..Key.LowerCollection(name, lower)];
        if (_byLowerName.TryGetValue(lower, out var collection))
        {
            return collection;
        }

        var stored = _lacksCollections ? ReadCollection(lower, batch) : null;
        return AddToMemory(stored ?? new CollectionCounters(lower.ToArray(), name));
    }

    /// <summary>Drops the collections from memory. Call it only when none is dirty.</summary>
    public void DropCollections()
    {
        _lacksCollections = true;
        foreach (var collection in _collections.Values)
        {
            _memory.Release(this, collection);
        }

        _collections.Clear();
        _collections.TrimExcess();
    }

    /// <summary>Records a change of a collection's counters, which <see cref="Commit"/> makes.</summary>
    /// <param name="collection">The counters.</param>
    /// <param name="name">The collection's name, as the command writes it.</param>
    /// <param name="documents">Number of documents added; negative if removed.</param>
    /// <param name="bytes">Bytes of documents added; negative if removed.</param>
    public void RecordChange(CollectionCounters collection, string name, long documents, long bytes) =>
        _pending.Add(new PendingChange(collection, name, documents, bytes));

    /// <summary>Keeps the changes of a command that succeeded.</summary>
    /// <param name="lastEtag">The last etag that the command used.</param>
    public void Commit(long lastEtag)
    {
        foreach (var change in _pending)
        {
            change.Collection.Change(change.Name, change.Documents, change.Bytes);
            Invariant.Holds(
                change.Collection.Documents >= 0 || !_isExact,
                "a collection's number of documents is not negative"
            );
            if (!change.Collection.IsDirty)
            {
                change.Collection.IsDirty = true;
                _dirty.Add(change.Collection);
            }
        }

        _pending.Clear();
        _counters.LastEtag = lastEtag;
        _committed = _counters;
        IsDirty = true;
    }

    /// <summary>Discards the changes of a command that was refused. Its etags remain used.</summary>
    /// <param name="lastEtag">The last etag that the command used.</param>
    public void RollBack(long lastEtag)
    {
        foreach (var change in _pending)
        {
            // Only the refused command stored documents in this collection.
            if (change.Collection is { Documents: 0, IsDirty: false })
            {
                RemoveFromMemory(change.Collection);
            }
        }

        _pending.Clear();
        _counters = _committed;
        _counters.LastEtag = lastEtag;
        _committed = _counters;
        IsDirty = true;
    }

    /// <summary>Shows readers the state after an entry.</summary>
    public void Publish()
    {
        Database.LastEtagForIndexes = LastEtagForIndexes;
        Database.LastEtag = Counters.LastEtag;
        Database.HasRevisions = Counters.Revisions != 0;
        Database.HasAttachments = Counters.Attachments != 0;
        Database.HasCompareExchange = Counters.CompareExchangeValues != 0;
        Database.Configurations = Configurations;
        Database.SignalWritten();
    }

    /// <summary>Writes the rows of all changed counters; called once per entry.</summary>
    public void WriteRows(WriteBatch batch, long sequence)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        Span<byte> value = stackalloc byte[CollectionCounters.MaxBytes];
        foreach (var collection in _dirty)
        {
            collection.IsDirty = false;
            var row = Key.WriteText(key, Number, Table.Counters, collection.LowerName);
            if (collection.Documents == 0)
            {
                batch.Delete(row, sequence);
                RemoveFromMemory(collection);
            }
            else
            {
                batch.Put(row, sequence, collection.Write(value));
            }
        }

        _dirty.Clear();
        batch.Put(Key.WritePrefix(key, Number, Table.Counters), sequence, _counters.Write(value));
        IsDirty = false;
    }

    private CollectionCounters? ReadCollection(ReadOnlySpan<byte> lowerName, WriteBatch batch)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        try
        {
            if (!batch.TryGet(Key.WriteText(key, Number, Table.Counters, lowerName), out var row))
            {
                return null;
            }

            using (row)
            {
                return CollectionCounters.Read(lowerName, row.Value);
            }
        }
        catch (DamagedException) when (!_isExact)
        {
            return null;
        }
    }

    private CollectionCounters AddToMemory(CollectionCounters collection)
    {
        _collections.Add(collection.LowerName, collection);
        _memory.Add(this, collection);
        return collection;
    }

    private void RemoveFromMemory(CollectionCounters collection)
    {
        if (_collections.Remove(collection.LowerName))
        {
            _memory.Release(this, collection);
        }
    }

    private readonly record struct PendingChange(
        CollectionCounters Collection,
        string Name,
        long Documents,
        long Bytes
    );
}
