using System.Diagnostics.CodeAnalysis;
using Rookery.Documents.Changes;
using Rookery.Documents.Databases;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>
/// What apply holds of the node in memory: its databases, the last database number, the last log time. Only the
/// applying thread touches it.
/// </summary>
internal sealed class NodeState
{
    private readonly Dictionary<uint, DatabaseState> _byNumber = [];
    private readonly Dictionary<string, DatabaseState> _byName = new(StringComparer.Ordinal);
    private readonly List<Database> _gone = [];
    private readonly StorageEngine _storage;
    private readonly DatabaseCatalog _catalog;
    private readonly Action<DamageEvent>? _passedOver;
    private readonly List<DatabaseChange> _changes = [];
    private uint _lastDatabaseNumber;
    private bool _lacksRecords;
    private long _agesFromTicks;

    /// <summary>Loads what the tables hold.</summary>
    /// <param name="storage">The tables.</param>
    /// <param name="catalog">Where readers find the databases.</param>
    /// <param name="passedOver">Told of what cannot be read of the few rows that this needs: older ones take their
    /// place, or none. Null: nothing can be loaded then. Never where anything is kept of what follows.</param>
    public NodeState(StorageEngine storage, DatabaseCatalog catalog, Action<DamageEvent>? passedOver = null)
    {
        _storage = storage;
        _catalog = catalog;
        _passedOver = passedOver;
        Load();
    }

    /// <summary>
    /// Loads what the tables hold now, after all of them were replaced. Readers find the databases that there are;
    /// subscriptions to any that there were end, because changes were missed.
    /// </summary>
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

            database.Complete();
        }

        foreach (var database in _catalog.All)
        {
            if (
                !Array.Exists(
                    before,
                    earlier => string.Equals(earlier.HistoryId, database.HistoryId, StringComparison.Ordinal)
                )
            )
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

        prefix = Key.Prefix(from, 0, Table.Databases);
        using (
            var rows = _passedOver is null
                ? snapshot.Seek(prefix, Key.After(to, prefix))
                : snapshot.SeekReadable(prefix, Key.After(to, prefix), PassOver, mayBeOld: true)
        )
        {
            while (rows.MoveNext())
            {
                var record = DatabaseRecord.Decode((uint)Key.NumberOf(rows.Key), rows.Value);
                if (_lacksRecords && _byName.Remove(record.LowerName, out var dropped))
                {
                    // Of two with one name the first was dropped, which the damaged part says.
                    _byNumber.Remove(dropped.Number);
                }

                Add(record);
            }
        }

        if (_lacksRecords)
        {
            AddNameless(snapshot);
        }

        foreach (uint number in _byNumber.Keys.ToArray())
        {
            prefix = Key.Prefix(from, number, Table.Counters);
            using var counters = Seek(snapshot, prefix, Key.After(to, prefix));
            var loaded = DatabaseState.Load(_byNumber[number].Database, counters, isExact: _passedOver is null);
            _byNumber[number] = loaded;
            _byName[loaded.Database.Record.LowerName] = loaded;
        }

        _changes.Clear();
        _catalog.Publish(_byNumber.Values.Select(state => state.Database), _lastDatabaseNumber);

        void PassOver(DamageEvent damage)
        {
            _lacksRecords = true;
            _passedOver!(damage);
        }
    }

    private RowCursor Seek(in Snapshot snapshot, ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive) =>
        _passedOver is null
            ? snapshot.Seek(from, toExclusive)
            : snapshot.SeekReadable(from, toExclusive, _passedOver, mayBeOld: true);

    // Databases whose records cannot be read are known by their documents; one that was dropped has none. What is
    // damaged of those, who reads them is told.
    private void AddNameless(in Snapshot snapshot)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        for (uint number = 1; ; number++)
        {
            using var rows = snapshot.SeekReadable(
                Key.Prefix(from, number, Table.Documents),
                [],
                static _ => { },
                mayBeOld: true
            );
            if (!rows.MoveNext())
            {
                return;
            }

            number = Key.DatabaseOf(rows.Key);
            if (Key.TableOf(rows.Key) == Table.Documents && !_byNumber.ContainsKey(number))
            {
                AddNameless(number);
            }
        }
    }

    private void AddNameless(uint number)
    {
        string name = $"recovered-{number}";
        while (_byName.ContainsKey(name))
        {
            name = "recovered-" + name;
        }

        Add(new DatabaseRecord(number, name, name, Commands.HistoryId.Create(), CreatedTicks: 0));
    }

    /// <summary>The log time of the last frame applied.</summary>
    public long LastLogTicks { get; set; }

    /// <summary>
    /// The log time of the last frame whose time was not steady; 0 when there was none. Read by other threads too.
    /// </summary>
    public long AgesFromTicks
    {
        get => Volatile.Read(ref _agesFromTicks);
        set => Volatile.Write(ref _agesFromTicks, value);
    }

    /// <summary>What came of all frames applied, as <see cref="OutcomeChain"/> has it.</summary>
    public long Outcomes { get; set; } = OutcomeChain.Start;

    public bool TryFind(string lowerName, [NotNullWhen(true)] out DatabaseState? database) =>
        _byName.TryGetValue(lowerName, out database);

    /// <summary>
    /// Finds a database. Where records of databases cannot be read, each that the journal writes to is found, by a name
    /// that says so.
    /// </summary>
    public bool TryFind(uint number, [NotNullWhen(true)] out DatabaseState? database)
    {
        if (_lacksRecords && !_byNumber.ContainsKey(number))
        {
            AddNameless(number);
        }

        return _byNumber.TryGetValue(number, out database);
    }

    public uint NextDatabaseNumber() => ++_lastDatabaseNumber;

    public void Add(DatabaseRecord record)
    {
        var state = new DatabaseState(new Database(record, _storage), isExact: _passedOver is null);
        _byNumber.Add(record.Number, state);
        _byName.Add(record.LowerName, state);
        _lastDatabaseNumber = Math.Max(_lastDatabaseNumber, record.Number);
        _changes.Add(new DatabaseChange(record.Name, Created: true));
    }

    public void Remove(DatabaseState database)
    {
        _byNumber.Remove(database.Number);
        _byName.Remove(database.Database.Record.LowerName);
        database.Database.Leave(isDeleted: true);
        _gone.Add(database.Database);
        _changes.Add(new DatabaseChange(database.Database.Name, Created: false));
    }

    /// <summary>
    /// A database goes on under a new record. Readers find it with the frame; subscriptions to the old history end.
    /// </summary>
    public void Replace(DatabaseState database, DatabaseRecord record)
    {
        database.Database.Leave(isDeleted: false);
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

        _catalog.Publish(_byNumber.Values.Select(state => state.Database), _lastDatabaseNumber);
        foreach (var change in _changes)
        {
            _catalog.Announce(change);
        }

        foreach (var database in _gone)
        {
            database.Complete();
        }

        _changes.Clear();
        _gone.Clear();
    }
}
