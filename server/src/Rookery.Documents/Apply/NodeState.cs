using System.Diagnostics.CodeAnalysis;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>What apply holds of the node in memory: its databases, the last database number, the last log time. Only the applying thread touches it.</summary>
internal sealed class NodeState
{
    // When it is not known either how many were made.
    private const uint MostNameless = 1_000;

    private readonly Dictionary<uint, DatabaseState> _byNumber = [];
    private readonly Dictionary<string, DatabaseState> _byName = new(StringComparer.Ordinal);
    private readonly List<Database> _gone = [];
    private readonly StorageEngine _storage;
    private readonly DatabaseCatalog _catalog;
    private readonly Action<DamageEvent>? _passedOver;
    private readonly List<DatabaseChange> _changes = [];
    private uint _lastDatabaseNumber;
    private long _agesFromTicks;

    /// <summary>Loads what the tables hold.</summary>
    /// <param name="storage">The tables.</param>
    /// <param name="catalog">Where readers find the databases.</param>
    /// <param name="passedOver">Told of what cannot be read of the few rows that this needs: older ones take their place, or none. Null: nothing can be loaded then. Never where anything is kept of what follows.</param>
    public NodeState(StorageEngine storage, DatabaseCatalog catalog, Action<DamageEvent>? passedOver = null)
    {
        _storage = storage;
        _catalog = catalog;
        _passedOver = passedOver;
        Load();
    }

    /// <summary>Loads what the tables hold now, after all of them were replaced. Readers find the databases that there are; subscriptions to any that there were end, because changes were missed.</summary>
    public void Reload()
    {
        // What readers saw: a frame that did not come to its end may have changed what is held here.
        Database[] before = [.. _catalog.All];
        _byNumber.Clear();
        _byName.Clear();
        _gone.Clear();
        (_lastDatabaseNumber, LastLogTicks, Outcomes, AgesFromTicks) = (0, 0, OutcomeChain.Start, 0);
        Load();
        foreach (var database in before)
        {
            if (!_byName.ContainsKey(database.Record.LowerName))
            {
                _catalog.Announce(new DatabaseChange(database.Name, Created: false));
            }

            database.Changes.Complete();
        }

        foreach (var database in _catalog.All)
        {
            if (!Array.Exists(before, earlier => string.Equals(earlier.HistoryId, database.HistoryId, StringComparison.Ordinal)))
            {
                _catalog.Announce(new DatabaseChange(database.Name, Created: true));
            }
        }
    }

    private void Load()
    {
        using var snapshot = _storage.OpenSnapshot();
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        var prefix = Key.Prefix(from, 0, Table.Node);
        using (var rows = Seek(snapshot, prefix, Key.After(to, prefix)))
        {
            if (rows.MoveNext())
            {
                (_lastDatabaseNumber, LastLogTicks, Outcomes, AgesFromTicks) = NodeRecord.Read(rows.Value);
            }
        }

        bool areAllHere = true;
        prefix = Key.Prefix(from, 0, Table.Databases);
        using (var rows = _passedOver is null ? snapshot.Seek(prefix, Key.After(to, prefix)) : snapshot.SeekReadable(prefix, Key.After(to, prefix), PassOver, mayBeOld: true))
        {
            while (rows.MoveNext())
            {
                Add(DatabaseRecord.Decode((uint)Key.NumberOf(rows.Key), rows.Value));
            }
        }

        if (!areAllHere)
        {
            AddNameless(snapshot);
        }

        foreach (uint number in _byNumber.Keys.ToArray())
        {
            using var counters = Seek(snapshot, prefix = Key.Prefix(from, number, Table.Counters), Key.After(to, prefix));
            var loaded = DatabaseState.Load(_byNumber[number].Database, counters);
            _byNumber[number] = loaded;
            _byName[loaded.Database.Record.LowerName] = loaded;
        }

        _changes.Clear();
        _catalog.Publish(_byNumber.Values.Select(state => state.Database));

        void PassOver(DamageEvent damage)
        {
            areAllHere = false;
            _passedOver!(damage);
        }
    }

    private RowCursor Seek(in Snapshot snapshot, ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive) =>
        _passedOver is null ? snapshot.Seek(from, toExclusive) : snapshot.SeekReadable(from, toExclusive, _passedOver, mayBeOld: true);

    /// <summary>Databases whose records cannot be read are known by their documents: each gets a name that says so. One that was dropped has none.</summary>
    private void AddNameless(in Snapshot snapshot)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        for (uint number = 1; number <= Math.Max(_lastDatabaseNumber, MostNameless); number++)
        {
            if (_byNumber.ContainsKey(number))
            {
                continue;
            }

            var prefix = Key.Prefix(from, number, Table.Documents);
            using var rows = Seek(snapshot, prefix, Key.After(to, prefix));
            if (rows.MoveNext())
            {
                string name = $"recovered-{number}";
                Add(new DatabaseRecord(number, name, name, Commands.HistoryId.Create(), CreatedTicks: 0));
            }
        }
    }

    /// <summary>The log time of the last frame applied.</summary>
    public long LastLogTicks { get; set; }

    /// <summary>The log time of the last frame whose time was not steady; 0 when there was none. Read by other threads too.</summary>
    public long AgesFromTicks
    {
        get => Volatile.Read(ref _agesFromTicks);
        set => Volatile.Write(ref _agesFromTicks, value);
    }

    /// <summary>What came of all frames applied, as <see cref="OutcomeChain"/> has it.</summary>
    public long Outcomes { get; set; } = OutcomeChain.Start;

    public bool TryFind(string lowerName, [NotNullWhen(true)] out DatabaseState? database) => _byName.TryGetValue(lowerName, out database);

    public bool TryFind(uint number, [NotNullWhen(true)] out DatabaseState? database) => _byNumber.TryGetValue(number, out database);

    public uint NextDatabaseNumber() => ++_lastDatabaseNumber;

    public void Add(DatabaseRecord record)
    {
        var state = new DatabaseState(new Database(record, _storage));
        _byNumber.Add(record.Number, state);
        _byName.Add(record.LowerName, state);
        _changes.Add(new DatabaseChange(record.Name, Created: true));
    }

    public void Remove(DatabaseState database)
    {
        _byNumber.Remove(database.Number);
        _byName.Remove(database.Database.Record.LowerName);
        _gone.Add(database.Database);
        _changes.Add(new DatabaseChange(database.Database.Name, Created: false));
    }

    /// <summary>A database goes on under a new record. Readers find it with the frame; subscriptions to the old history end.</summary>
    public void Replace(DatabaseState database, DatabaseRecord record)
    {
        _gone.Add(database.Database);
        database.Database = new Database(record, _storage);
        _changes.Add(new DatabaseChange(record.Name, Created: true));
    }

    /// <summary>The node's record for the frame at hand.</summary>
    public NodeRecord Record => new(_lastDatabaseNumber, LastLogTicks, Outcomes, AgesFromTicks);

    /// <summary>Lets readers see the databases that came and went, once the frame is visible.</summary>
    public void PublishDatabases()
    {
        if (_changes.Count == 0)
        {
            return;
        }

        _catalog.Publish(_byNumber.Values.Select(state => state.Database));
        foreach (var change in _changes)
        {
            _catalog.Announce(change);
        }

        foreach (var database in _gone)
        {
            database.Changes.Complete();
        }

        _changes.Clear();
        _gone.Clear();
    }
}
