using System.Diagnostics.CodeAnalysis;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Revisions;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>
/// The node's state in memory during apply: its databases, the last database number and the last log time. Only the
/// apply thread uses this type, except for <see cref="LastUnsteadyTicks"/>.
/// </summary>
internal sealed class NodeState
{
    private readonly Dictionary<uint, DatabaseState> _byNumber = [];
    private readonly Dictionary<string, DatabaseState> _byName = new(StringComparer.Ordinal);
    private readonly List<Database> _removedDatabases = [];
    private readonly StorageEngine _storage;
    private readonly DatabaseCatalog _catalog;
    private readonly Action<DamageEvent>? _damageSkipped;
    private readonly CollectionMemory _collections = new();
    private uint _lastDatabaseNumber;
    private bool _hasChanges; // whether databases were created, replaced or deleted since they were published
    private bool _lacksRecords; // whether some database records cannot be read
    private long _lastUnsteadyTicks;

    /// <summary>Loads the state from the tables.</summary>
    /// <param name="storage">The tables.</param>
    /// <param name="catalog">Receives the databases for readers.</param>
    /// <param name="damageSkipped">Set only for exports. Receives each damage in the rows that loading needs. An older
    /// row then replaces a damaged one, or the row counts as missing. If null, damage fails loading.</param>
    public NodeState(StorageEngine storage, DatabaseCatalog catalog, Action<DamageEvent>? damageSkipped = null)
    {
        _storage = storage;
        _catalog = catalog;
        _damageSkipped = damageSkipped;
        Load();
    }

    /// <summary>
    /// Loads the state again after all tables were replaced. Updates the catalog for readers. Ends the subscriptions to
    /// all earlier databases, because their subscribers missed changes.
    /// </summary>
    public void Reload()
    {
        // The earlier databases are read from the catalog, because an abandoned entry may have changed this object.
        Database[] before = [.. _catalog.All];
        _byNumber.Clear();
        _byName.Clear();
        _removedDatabases.Clear();
        _collections.Reset();
        _lastDatabaseNumber = 0;
        LastLogTicks = 0;
        OutcomeHash = OutcomeChain.Start;
        LastUnsteadyTicks = 0;
        ExpiryTicks = null;
        Load();
        foreach (var database in before)
        {
            database.Complete();
        }
    }

    private void Load()
    {
        using var snapshot = _storage.OpenSnapshot();
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        var prefix = Key.WritePrefix(from, Key.NoDatabase, Table.Node);
        using (var rows = Seek(snapshot, prefix, Key.WriteAfterPrefix(to, prefix)))
        {
            if (rows.MoveNext())
            {
                var record = NodeRecord.Read(rows.Value);
                (_lastDatabaseNumber, LastLogTicks) = (record.LastDatabaseNumber, record.LastLogTicks);
                (OutcomeHash, LastUnsteadyTicks) = (record.OutcomeChain, record.LastUnsteadyTicks);
                ExpiryTicks = record.ExpiryTicks;
            }
        }

        prefix = Key.WritePrefix(from, Key.NoDatabase, Table.Databases);
        using (
            var rows = _damageSkipped is null
                ? snapshot.Seek(prefix, Key.WriteAfterPrefix(to, prefix))
                : snapshot.SeekReadable(prefix, Key.WriteAfterPrefix(to, prefix), SkipRecord, mayBeOld: true)
        )
        {
            while (rows.MoveNext())
            {
                var record = DatabaseRecord.Decode((uint)Key.NumberOf(rows.Key), rows.Value);
                if (_lacksRecords && _byName.Remove(record.LowerName, out var dropped))
                {
                    // Two records have the same name, so the first database was deleted and the record of its deletion
                    // is damaged.
                    _byNumber.Remove(dropped.Number);
                }

                Add(record);
            }
        }

        if (_lacksRecords)
        {
            AddWithoutRecord(snapshot);
        }

        foreach (uint number in _byNumber.Keys.ToArray())
        {
            prefix = Key.WritePrefix(from, number, Table.Counters);
            using var counters = Seek(snapshot, prefix, Key.WriteAfterPrefix(to, prefix));
            var loaded = DatabaseState.Load(
                _byNumber[number].Database,
                counters,
                _collections,
                isExact: _damageSkipped is null
            );
            loaded.Configurations = loaded.Database.Configurations = LoadConfigurations(snapshot, number);
            loaded.Revisions = ReadRevisions(snapshot, number);
            loaded.Database.HasRevisions = loaded.Counters.Revisions != 0;
            loaded.Database.HasAttachments = loaded.Counters.Attachments != 0;
            loaded.Database.HasCompareExchange = loaded.Counters.CompareExchangeValues != 0;
            loaded.Database.HasExpiring = MayHaveExpiring(snapshot, number);
            _byNumber[number] = loaded;
            _byName[loaded.Database.Record.LowerName] = loaded;
        }

        _hasChanges = false;
        ServerConfigurations = LoadConfigurations(snapshot, Key.NoDatabase);
        _catalog.ServerConfigurations = ServerConfigurations;
        _catalog.Publish(_byNumber.Values.Select(state => state.Database), _lastDatabaseNumber);

        void SkipRecord(DamageEvent damage)
        {
            _lacksRecords = true;
            _damageSkipped!(damage);
        }
    }

    private DatabaseConfigurations LoadConfigurations(in Snapshot snapshot, uint number)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        var prefix = Key.WritePrefix(from, number, Table.Configurations);
        using var rows = Seek(snapshot, prefix, Key.WriteAfterPrefix(to, prefix));
        return ConfigurationOperations.Read(rows);
    }

    private static bool MayHaveExpiring(in Snapshot snapshot, uint number)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        var prefix = Key.WritePrefix(from, number, Table.Expiry);
        try
        {
            using var rows = snapshot.Seek(prefix, Key.WriteAfterPrefix(to, prefix));
            return rows.MoveNext();
        }
        catch (DamagedException)
        {
            return true; // the rows name documents that expire
        }
    }

    private RevisionsConfiguration? ReadRevisions(in Snapshot snapshot, uint number)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        var prefix = Key.WritePrefix(from, number, Table.RevisionsConfiguration);
        using var rows = Seek(snapshot, prefix, Key.WriteAfterPrefix(to, prefix));
        if (!rows.MoveNext())
        {
            return null;
        }

        using var value = CommandBuffer.Rent();
        try
        {
            rows.CopyTo(value, 0, rows.Length);
        }
        catch (DamagedException damaged) when (_damageSkipped is not null)
        {
            _damageSkipped(damaged.Damage); // an export creates no revisions then
            return null;
        }

        var configuration = RevisionsConfiguration.Decode(value.Written.Span);
        return configuration.IsEmpty ? null : configuration;
    }

    private RowCursor Seek(in Snapshot snapshot, ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive) =>
        _damageSkipped is null
            ? snapshot.Seek(from, toExclusive)
            : snapshot.SeekReadable(from, toExclusive, _damageSkipped, mayBeOld: true);

    // Finds databases whose records cannot be read, by their documents. A deleted database has no documents. Damage in
    // documents is reported when they are read.
    private void AddWithoutRecord(in Snapshot snapshot)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        for (uint number = 1; ; number++)
        {
            using var rows = snapshot.SeekReadable(
                Key.WritePrefix(from, number, Table.Documents),
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
                AddWithoutRecord(number);
            }
        }
    }

    private void AddWithoutRecord(uint number)
    {
        string name = $"recovered-{number}";
        while (_byName.ContainsKey(name))
        {
            name = "recovered-" + name;
        }

        Add(new DatabaseRecord(number, name, name, Commands.HistoryId.Create(), CreatedTicks: 0));
    }

    /// <summary>Log time of the last applied entry, in UTC ticks.</summary>
    public long LastLogTicks { get; set; }

    /// <summary>
    /// Log time of the last entry whose time was not steady, in UTC ticks; 0 if all were steady. A time is steady if
    /// the leader trusted its clock and the clock did not jump since the previous entry. Any thread may read this
    /// property.
    /// </summary>
    public long LastUnsteadyTicks
    {
        get => Volatile.Read(ref _lastUnsteadyTicks);
        set => Volatile.Write(ref _lastUnsteadyTicks, value);
    }

    /// <summary>
    /// Log time of the last entry whose time was steady, in UTC ticks. Compare-exchange values whose expiry is at or
    /// before this time are absent. It never falls, so a value that was absent does not return. Null until the first
    /// command of <see cref="Nodes.FormatLevel.CompareExchange"/>.
    /// </summary>
    public long? ExpiryTicks { get; set; }

    /// <summary>Running hash of all outcomes: see <see cref="OutcomeChain"/>.</summary>
    public long OutcomeHash { get; set; } = OutcomeChain.Start;

    /// <summary>The configurations for all databases, as of the last command.</summary>
    public DatabaseConfigurations ServerConfigurations { get; set; } = DatabaseConfigurations.None;

    public bool TryFind(string lowerName, [NotNullWhen(true)] out DatabaseState? database) =>
        _byName.TryGetValue(lowerName, out database);

    /// <summary>
    /// Finds a database by number. If some database records cannot be read, registers an unknown number as a database
    /// named recovered-NUMBER.
    /// </summary>
    public bool TryFind(uint number, [NotNullWhen(true)] out DatabaseState? database)
    {
        if (_lacksRecords && !_byNumber.ContainsKey(number))
        {
            AddWithoutRecord(number);
        }

        return _byNumber.TryGetValue(number, out database);
    }

    /// <summary>Bounds the memory of the collections' counters, after the rows of an entry are written.</summary>
    public void TrimCollectionCounters() => _collections.Relieve();

    public uint NextDatabaseNumber() => ++_lastDatabaseNumber;

    public void Add(DatabaseRecord record)
    {
        var state = new DatabaseState(
            new Database(record, _storage, _catalog.Clock),
            _collections,
            isExact: _damageSkipped is null
        );
        _byNumber.Add(record.Number, state);
        _byName.Add(record.LowerName, state);
        _lastDatabaseNumber = Math.Max(_lastDatabaseNumber, record.Number);
        _hasChanges = true;
    }

    public void Remove(DatabaseState database)
    {
        database.DropCollections();
        _byNumber.Remove(database.Number);
        _byName.Remove(database.Database.Record.LowerName);
        database.Database.RefuseReaders(isDeleted: true);
        _removedDatabases.Add(database.Database);
        _hasChanges = true;
    }

    /// <summary>
    /// Replaces the object of a database: with a new record, or with the same one if the database was disabled or
    /// enabled. Readers see the new object when the entry is published. Subscriptions to the old object end.
    /// </summary>
    public void Replace(DatabaseState database, DatabaseRecord record)
    {
        database.Database.RefuseReaders(isDeleted: false);
        _removedDatabases.Add(database.Database);
        database.Database = new Database(record, _storage, _catalog.Clock)
        {
            Configurations = database.Configurations,
            Revisions = database.Database.Revisions,
            HasRevisions = database.Database.HasRevisions,
            HasAttachments = database.Database.HasAttachments,
            HasCompareExchange = database.Database.HasCompareExchange,
            HasExpiring = database.Database.HasExpiring,
        };
        _hasChanges = true;
    }

    /// <summary>The node's row after the current entry.</summary>
    public NodeRecord Record => new(_lastDatabaseNumber, LastLogTicks, OutcomeHash, LastUnsteadyTicks, ExpiryTicks);

    /// <summary>Publishes created, replaced and deleted databases, after readers can see the entry.</summary>
    public void PublishDatabases()
    {
        if (!_hasChanges)
        {
            return;
        }

        _catalog.Publish(_byNumber.Values.Select(state => state.Database), _lastDatabaseNumber);
        foreach (var database in _removedDatabases)
        {
            database.Complete();
        }

        _hasChanges = false;
        _removedDatabases.Clear();
    }
}
