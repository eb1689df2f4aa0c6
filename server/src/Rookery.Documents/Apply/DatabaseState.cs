using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>
/// What apply holds of a database in memory: its counters. Equal to the rows after each frame; only the applying thread
/// touches it.
/// </summary>
internal sealed class DatabaseState
{
    private readonly Dictionary<byte[], CollectionCounters> _collections = new(BytesComparer.Instance);
    private readonly Dictionary<byte[], CollectionCounters>.AlternateLookup<ReadOnlySpan<byte>> _byLowerName;
    private readonly List<CollectionCounters> _dirty = [];
    private readonly List<PendingChange> _pending = [];
    private readonly bool _isExact;
    private DatabaseCounters _counters;
    private DatabaseCounters _committed;

    /// <summary>A database without documents.</summary>
    /// <param name="database">Which.</param>
    /// <param name="isExact">Whether its counters are what the rows say: not where some of them could not be
    /// read.</param>
    public DatabaseState(Database database, bool isExact = true)
    {
        _isExact = isExact;
        Database = database;
        _byLowerName = _collections.GetAlternateLookup<ReadOnlySpan<byte>>();
    }

    public Database Database { get; set; }

    public uint Number => Database.Number;

    /// <summary>The counters, with what the command at hand has changed so far.</summary>
    public ref DatabaseCounters Counters => ref _counters;

    /// <summary>
    /// The place of the idempotency key that was forgotten last: there is none before it, because log time only rises.
    /// Says where to begin to look, and changes no outcome; null after a start.
    /// </summary>
    public (long LogTicks, long Etag)? LastForgottenKey { get; set; }

    /// <summary>Whether the rows in the table are older than this.</summary>
    public bool IsDirty { get; private set; }

    /// <summary>Loads the state that the tables hold.</summary>
    public static DatabaseState Load(Database database, RowCursor rows, bool isExact)
    {
        var state = new DatabaseState(database, isExact);
        while (rows.MoveNext())
        {
            var lowerName = Key.TextOf(rows.Key);
            if (lowerName.IsEmpty)
            {
                state._counters = state._committed = DatabaseCounters.Read(rows.Value);
                database.LastEtag = state._counters.LastEtag;
            }
            else
            {
                state._collections.Add(lowerName.ToArray(), CollectionCounters.Read(lowerName, rows.Value));
            }
        }

        return state;
    }

    /// <summary>How many collections are held: those with documents, between frames.</summary>
    public int CollectionCount => _collections.Count;

    /// <summary>The counters of a collection, named as written.</summary>
    public CollectionCounters Collection(ReadOnlySpan<byte> name)
    {
        Span<byte> lower = stackalloc byte[Key.MaxBytes];
        lower = lower[..Key.LowerCollection(name, lower)];
        if (!_byLowerName.TryGetValue(lower, out var collection))
        {
            collection = new CollectionCounters(lower.ToArray(), name);
            _collections.Add(collection.LowerName, collection);
        }

        return collection;
    }

    /// <summary>Notes a change of a collection's counters; it counts when the command succeeds.</summary>
    public void Change(CollectionCounters collection, string name, long documents, long bytes) =>
        _pending.Add(new PendingChange(collection, name, documents, bytes));

    /// <summary>The command succeeded.</summary>
    public void Commit(long lastEtag)
    {
        foreach (var change in _pending)
        {
            change.Collection.Change(change.Name, change.Documents, change.Bytes);
            Invariant.Holds(
                change.Collection.Documents >= 0 || !_isExact,
                "a collection has no fewer than no documents"
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

    /// <summary>The command was refused: nothing of it happened, except that its etags are used.</summary>
    public void RollBack(long lastEtag)
    {
        foreach (var change in _pending)
        {
            // Collections that only the refused command named.
            if (change.Collection is { Documents: 0, IsDirty: false })
            {
                _collections.Remove(change.Collection.LowerName);
            }
        }

        _pending.Clear();
        _counters = _committed;
        _counters.LastEtag = lastEtag;
        _committed = _counters;
        IsDirty = true;
    }

    /// <summary>Writes the rows that changed, once per frame.</summary>
    public void WriteRows(WriteBatch batch, long sequence)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        Span<byte> value = stackalloc byte[CollectionCounters.MaxBytes];
        foreach (var collection in _dirty)
        {
            collection.IsDirty = false;
            var row = Key.Text(key, Number, Table.Counters, collection.LowerName);
            if (collection.Documents == 0)
            {
                batch.Delete(row, sequence);
                _collections.Remove(collection.LowerName);
            }
            else
            {
                batch.Put(row, sequence, collection.Write(value));
            }
        }

        _dirty.Clear();
        _counters.Write(value);
        batch.Put(Key.Prefix(key, Number, Table.Counters), sequence, value[..DatabaseCounters.Bytes]);
        IsDirty = false;
    }

    private readonly record struct PendingChange(
        CollectionCounters Collection,
        string Name,
        long Documents,
        long Bytes
    );
}
