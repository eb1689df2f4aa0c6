using Rookery.Documents.Changes;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Records;
using Rookery.Documents.Redis;
using Rookery.Documents.Revisions;
using Rookery.Documents.Schedules;
using Rookery.Documents.Subscriptions;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>
/// Applies the entries of the log to the tables, in order, on one thread at a time. Apply is deterministic: the same
/// entries on the same tables produce the same rows and outcomes on every node. Code in this folder therefore reads no
/// clock and draws no random numbers, and its results do not depend on the order of an unordered collection.
/// </summary>
public sealed class Applier : IDisposable
{
    private readonly StorageEngine _storage;
    private readonly DatabaseCatalog _catalog;
    private readonly NodeState _nodeState;
    private readonly ApplyContext _context = new();
    private readonly CompareExchangeOperations _values = new();
    private readonly DocumentOperations _documents;
    private readonly ClusterTransactionOperations _transactions;
    private readonly HiloOperations _hilo;
    private readonly DatabaseOperations _databases;
    private readonly ClusterRecordOperations _records;
    private readonly ConfigurationOperations _configurations;
    private readonly RedisOperations _redis;
    private readonly IndexOperations _indexes = new();
    private readonly SubscriptionOperations _subscriptions = new();
    private readonly List<DatabaseState> _touchedDatabases = [];
    private readonly List<(Database Database, DocumentChange Change)> _documentChanges = [];

    internal Applier(
        StorageEngine storage,
        DatabaseCatalog catalog,
        ClusterRecords records,
        Action<DamageEvent>? damageSkipped = null
    )
    {
        _storage = storage;
        _catalog = catalog;
        _nodeState = new NodeState(storage, catalog, damageSkipped);
        _documents = new DocumentOperations(_values);
        _transactions = new ClusterTransactionOperations(_documents, _values);
        _hilo = new HiloOperations(_documents);
        _redis = new RedisOperations(_documents.Rows);
        _databases = new DatabaseOperations(_nodeState);
        _records = new ClusterRecordOperations(records);
        _configurations = new ConfigurationOperations(_nodeState);
    }

    /// <summary>
    /// Set only for exports. Then a damaged document counts as missing. This callback receives a message for each
    /// command that is refused because of it, or because of another damaged row. If null, apply stops at damage.
    /// </summary>
    internal Action<string>? CommandSkipped
    {
        get;
        init
        {
            field = value;
            _context.TreatsDamagedAsMissing = value is not null;
            _records.RecordSkipped = value;
        }
    }

    /// <summary>Receives the hash of each attached content that may have lost its last reference.</summary>
    internal Action<uint, Attachments.ContentHash>? ContentReleased
    {
        set => _context.ContentReleased = value;
    }

    /// <summary>Receives the hash of each attached content that loses a reference which was never counted.</summary>
    internal Action<uint, Attachments.ContentHash>? ContentMiscounted
    {
        set => _context.ContentMiscounted = value;
    }

    /// <summary>Called for each name in a command that deletes databases, before readers see the deletion.</summary>
    internal Action? DatabaseDeleted { get; set; }

    /// <summary>The log time of the last entry applied.</summary>
    public long LastLogTicks => _nodeState.LastLogTicks;

    /// <summary>Whether a database was ever created on this node, even if it was deleted since.</summary>
    public bool HasEverHadDatabase => _nodeState.Record.LastDatabaseNumber > 0;

    /// <summary>
    /// Log time of the last entry whose time was not steady, in UTC ticks; 0 if all were steady. A time is steady if
    /// the leader trusted its clock and the clock did not jump since the previous entry. The difference of two steady
    /// log times is time that really passed.
    /// </summary>
    public long LastUnsteadyTicks => _nodeState.LastUnsteadyTicks;

    /// <summary>
    /// Running hash of all outcomes, to compare members; <see cref="OutcomeChain.Unknown"/> if an older version applied
    /// some of the entries.
    /// </summary>
    public long OutcomeHash => _nodeState.OutcomeHash;

    /// <summary>Applies an entry and publishes it. Snapshots opened afterwards contain the whole entry.</summary>
    /// <param name="position">Position of the entry in the log.</param>
    /// <param name="content">The decoded payload; empty for an entry without commands.</param>
    /// <param name="outcomes">Receives one outcome for each command; empty during replay, when no caller waits.</param>
    public void Apply(in LogEntryPosition position, ReadOnlySpan<byte> content, Span<CommandOutcome> outcomes)
    {
        var batch = _storage.Begin(position.Index, position.Term, content.Length);
        long etag = position.OperationsBefore; // the last etag used: each operation uses the next one
        if (!content.IsEmpty)
        {
            var entry = new EntryContent(content);
            if (!entry.IsSteady)
            {
                _nodeState.LastUnsteadyTicks = entry.LogTicks;
            }

            // Compare-exchange values that expire at or before expiryTicks are absent. An entry whose log time is not
            // steady does not change expiryTicks. Versions before format level 3 cannot read a NodeRecord with
            // ExpiryTicks, so ExpiryTicks stays null until the first command of that level (ClusterTransaction or up).
            long expiryTicks = entry.IsSteady ? entry.LogTicks : _nodeState.ExpiryTicks ?? 0;
            if (_nodeState.ExpiryTicks is not null)
            {
                _nodeState.ExpiryTicks = expiryTicks;
            }

            var scope = new EntryScope(batch, entry.LogTicks, _nodeState.LastUnsteadyTicks, expiryTicks);
            _context.Patches.BeginEntry();
            _context.RevisionDeletesLeft = RevisionRows.MaxDeletesPerEntry;
            _context.HasCallers = !outcomes.IsEmpty;
            for (int i = 0; i < entry.Count; i++)
            {
                var reader = new CommandReader(entry.Next());
                if (reader.Kind >= CommandKind.ClusterTransaction)
                {
                    _nodeState.ExpiryTicks ??= expiryTicks;
                }

                var outcome = ApplyCommand(scope, position.Index, ref reader, firstEtag: etag + 1);
                etag += reader.OperationCount;
                _nodeState.OutcomeHash = OutcomeChain.Add(_nodeState.OutcomeHash, outcome);
                if (!outcomes.IsEmpty)
                {
                    outcomes[i] = outcome;
                }
            }

            _nodeState.LastLogTicks = entry.LogTicks;
            WriteRows(batch, etag);
        }

        Invariant.Holds(
            etag == position.OperationsBefore + position.OperationCount,
            "an entry uses exactly the etags that its header counts"
        );
        _storage.Apply(batch, etag);
        Publish();
    }

    /// <summary>Abandons the batch of an entry that failed. Call <see cref="Reload"/> before the next apply.</summary>
    public void Abandon() => _storage.Abandon();

    /// <summary>Discards the state in memory and loads it from the tables, after all tables were replaced.</summary>
    internal void Reload()
    {
        _touchedDatabases.Clear();
        _documentChanges.Clear();
        _records.DiscardChanges();
        _indexes.DiscardChanges();
        _subscriptions.DiscardChanges();
        _nodeState.Reload();
        _catalog.Applied?.Invoke();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _documents.Dispose();
        _redis.Dispose();
    }

    private CommandOutcome ApplyCommand(in EntryScope scope, long index, ref CommandReader command, long firstEtag)
    {
        switch (command.Kind)
        {
            case CommandKind.CreateDatabase:
                return _databases.Create(scope, command.ReadCreateDatabase(), firstEtag, out var created) is { } refusal
                    ? new CommandOutcome(refusal)
                    : new CommandOutcome(index, scope.LogTicks, created);
            case CommandKind.DeleteDatabases:
                return DeleteDatabases(scope, index, ref command, firstEtag);
            case CommandKind.PutClientConfiguration when command.Database == Key.NoDatabase:
                return new CommandOutcome(
                    index,
                    scope.LogTicks,
                    ConfigurationOperations.PutClientConfiguration(scope, command, firstEtag)
                );
            case CommandKind.SetConfiguration when command.Database == Key.NoDatabase:
                return _configurations.SetOfServer(scope, index, command.ReadSetConfiguration(), firstEtag);
            case CommandKind.SetClusterRecords:
                return _records.Apply(scope, index, ref command, firstEtag);
            default:
                return ApplyToDatabase(scope, index, ref command, firstEtag);
        }
    }

    private CommandOutcome ApplyToDatabase(in EntryScope scope, long index, ref CommandReader command, long firstEtag)
    {
        if (!_nodeState.TryFind(command.Database, out var database))
        {
            return new CommandOutcome(
                new Rejection(
                    RejectionKind.DatabaseMissing,
                    "The database was deleted before the command was carried out."
                )
            );
        }

        long lastEtag = firstEtag + command.OperationCount - 1;
        if (!_touchedDatabases.Contains(database))
        {
            _touchedDatabases.Add(database);
        }

        _context.Begin(scope, database, firstEtag);
        long lastEtagForIndexes = database.LastEtagForIndexes;
        if (!ChangesNoDocument(command.Kind))
        {
            database.LastEtagForIndexes = lastEtag;
        }

        bool hasExpiredKey = false;
        if (
            command.Key.IsPresent
            && IdempotencyKeys.TryFind(_context, command.Key, command.Request, out var earlier, out hasExpiredKey)
        )
        {
            database.RollBack(lastEtag); // the repeated command changes nothing, and its etags remain used
            database.LastEtagForIndexes = lastEtagForIndexes;
            return earlier;
        }

        var mark = scope.Batch.Mark();
        var outcome =
            database.Configurations.IsDisabled
            && DatabaseOperations.RefuseDisabled(database, command.Kind) is { } disabled
                ? new CommandOutcome(disabled)
                : ExecuteUnlessDamaged(index, ref command);
        if (outcome.Rejection is not null)
        {
            scope.Batch.RollBack(mark);
            database.RollBack(lastEtag);
            database.LastEtagForIndexes = lastEtagForIndexes;
            if (_context.Damage is { } damage)
            {
                CommandSkipped?.Invoke(
                    $"Entry {index} of the journal: a command for database {database.Database.Name} is left "
                        + $"out, because it needs a row that cannot be read. {damage.Sentence}"
                );
            }

            return outcome;
        }

        if (_context.OperationsWithoutDocumentChange == command.OperationCount)
        {
            // The operations changed nothing that indexes read, except values of counters, which only indexes over
            // counters read. So no other index becomes stale.
            database.LastEtagForIndexes = lastEtagForIndexes;
        }

        if (command.Key.IsPresent)
        {
            IdempotencyKeys.Store(_context, command.Key, command.Request, lastEtag, outcome, hasExpiredKey);
        }

        database.Commit(lastEtag);
        foreach (var change in _context.Changes)
        {
            _documentChanges.Add((database.Database, change));
        }

        return outcome;
    }

    // Whether commands of this kind change no document and no index. Their etags then make no index stale.
    private static bool ChangesNoDocument(CommandKind kind) =>
        kind
            is CommandKind.CompareExchange
                or CommandKind.ExpireCompareExchange
                or CommandKind.SetConfiguration
                or CommandKind.ConfigureRevisions
                or CommandKind.ChangeSubscription;

    private CommandOutcome ExecuteUnlessDamaged(long index, ref CommandReader command)
    {
        try
        {
            return Execute(index, ref command);
        }
        catch (DamagedException damaged) when (_context.TreatsDamagedAsMissing)
        {
            return new CommandOutcome(_context.RefuseFor(damaged));
        }
    }

    private CommandOutcome Execute(long index, ref CommandReader command)
    {
        switch (command.Kind)
        {
            case CommandKind.Batch:
                return ApplyBatch(index, ref command);
            case CommandKind.BulkPut:
                return ApplyBulkPut(index, ref command);
            case CommandKind.HiloNext:
                return _hilo.Next(_context, command.ReadHiloNext(), out var range) is { } exhausted
                    ? new CommandOutcome(exhausted)
                    : Done(range);
            case CommandKind.HiloReturn:
                return Done(_hilo.Return(_context, command.ReadHiloReturn()));
            case CommandKind.IdentityNext:
                return Done(IdentityOperations.Next(_context, command.ReadIdentityNext()));
            case CommandKind.IdentitySeed:
                return Done(IdentityOperations.Seed(_context, command.ReadIdentitySeed()));
            case CommandKind.ClusterTransaction:
                return _transactions.Apply(_context, index, ref command);
            case CommandKind.CompareExchange:
                Invariant.Holds(command.TryReadOperation(out var exchange), "a compare-exchange has one operation");
                return _values.Exchange(_context, exchange, out var exchanged) is { } refused
                    ? new CommandOutcome(refused)
                    : Done(exchanged);
            case CommandKind.ExpireDocuments or CommandKind.ExpireCompareExchange:
                return ApplyExpiry(index, ref command);
            case CommandKind.RunSchedule:
                return ScheduleOperations.Run(_documents, _context, index, ref command);
            case CommandKind.SetTombstoneHorizon:
                return Done(TombstoneHorizon.Raise(_context, command.ReadTombstoneHorizon()));
            case CommandKind.RenewHistory:
                return Done(_databases.RenewHistory(_context, command.ReadRenewHistory()));
            case CommandKind.ChangeIndexes:
                return _indexes.Apply(_context, index, ref command);
            case CommandKind.SetConfiguration:
                return _configurations.Set(_context, index, command.ReadSetConfiguration());
            case CommandKind.ConfigureRevisions:
                return Done(RevisionOperations.Configure(_context, command.ReadConfiguration()));
            case CommandKind.ChangeSubscription:
                return _subscriptions.Apply(_context, command.ReadSubscription(), out var changed) is { } unchanged
                    ? new CommandOutcome(unchanged)
                    : Done(changed);
            case CommandKind.Redis:
                return _redis.Apply(_context, index, ref command);
            case CommandKind.PutClientConfiguration:
                return Done(ConfigurationOperations.PutClientConfiguration(_context.Entry, command, _context.Etag));
            default:
                throw new CommandFormatException(
                    $"Command {(byte)command.Kind} is not known to this version of Rookery."
                );
        }

        CommandOutcome Done(OperationResult result) => new(index, _context.LogTicks, result);
    }

    private CommandOutcome ApplyBatch(long index, ref CommandReader command)
    {
        int count = command.ReservesEtags ? CommandFormat.CountOperations(command) : command.OperationCount;
        OperationResult[]? results = count == 1 ? null : new OperationResult[count];
        OperationResult result = default;
        Rejection? overflow = null;
        for (int i = 0; command.TryReadOperation(out var operation); i++)
        {
            if (_documents.Apply(_context, operation, command.SkipsUnchanged, out result) is { } refusal)
            {
                if (refusal.Kind == RejectionKind.CounterOverflow)
                {
                    // An overflow is reported only if nothing else refuses the command. Otherwise a caller without the
                    // right to read could find the value of a counter, by requests that store nothing: each request
                    // would show whether the increment overflows.
                    overflow ??= refusal with
                    {
                        Operation = i,
                    };
                    _context.Etag += 1 + operation.Patch.ReservedEtags;
                    continue;
                }

                Discard(results);
                return new CommandOutcome(refusal with { Operation = i });
            }

            if (results is not null)
            {
                results[i] = result;
            }

            _context.Etag += 1 + operation.Patch.ReservedEtags;
        }

        if (overflow is not null)
        {
            Discard(results);
            return new CommandOutcome(overflow);
        }

        return results is null
            ? new CommandOutcome(index, _context.LogTicks, result)
            : new CommandOutcome(index, _context.LogTicks, results);
    }

    // The results of patches may hold copies of their documents.
    private static void Discard(OperationResult[]? results)
    {
        foreach (var result in results.AsSpan())
        {
            result.Document?.Dispose();
        }
    }

    /// <summary>
    /// Stores the documents of a bulk put. The whole command has one result: a result for each document could mean a
    /// hundred thousand allocations, and no client needs these results. Its Low is the number of stored documents and
    /// incremented counters, its High the number of unchanged documents.
    /// </summary>
    private CommandOutcome ApplyBulkPut(long index, ref CommandReader command)
    {
        long stored = 0;
        long unchanged = 0;
        Rejection? overflow = null; // reported last: see ApplyBatch
        for (int i = 0; command.TryReadOperation(out var operation); i++)
        {
            if (_documents.Apply(_context, operation, command.SkipsUnchanged, out var result) is { } refusal)
            {
                if (refusal.Kind != RejectionKind.CounterOverflow)
                {
                    return new CommandOutcome(refusal with { Operation = i });
                }

                overflow ??= refusal with { Operation = i };
            }

            stored += result.Status is OperationStatus.Stored or OperationStatus.Numbered ? 1 : 0;
            unchanged += result.Status == OperationStatus.NotModified ? 1 : 0;
            _context.Etag++;
        }

        if (overflow is not null)
        {
            return new CommandOutcome(overflow);
        }

        return new CommandOutcome(
            index,
            _context.LogTicks,
            new OperationResult
            {
                Status = OperationStatus.Stored,
                Etag = _context.Etag - 1,
                LastModifiedTicks = _context.LogTicks,
                Low = stored,
                High = unchanged,
            }
        );
    }

    private CommandOutcome ApplyExpiry(long index, ref CommandReader command)
    {
        long deleted = 0;
        while (command.TryReadExpiry(out var lowerId, out long etag))
        {
            bool isDeleted =
                command.Kind == CommandKind.ExpireDocuments
                    ? _documents.Expire(_context, lowerId, etag).Status == OperationStatus.Deleted
                    : CompareExchangeOperations.TryExpire(_context, lowerId, etag);
            deleted += isDeleted ? 1 : 0;
            _context.Etag++;
        }

        return new CommandOutcome(
            index,
            _context.LogTicks,
            new OperationResult { Status = OperationStatus.Deleted, Low = deleted }
        );
    }

    private CommandOutcome DeleteDatabases(in EntryScope scope, long index, ref CommandReader command, long firstEtag)
    {
        if (_databases.FindLocked(command) is { } locked)
        {
            return new CommandOutcome(locked);
        }

        var results = new OperationResult[command.OperationCount];
        for (int i = 0; command.TryReadName(out var name); i++)
        {
            results[i] = _databases.Delete(scope, name, firstEtag + i);
            DatabaseDeleted?.Invoke();
        }

        return new CommandOutcome(index, scope.LogTicks, results);
    }

    private void WriteRows(WriteBatch batch, long sequence)
    {
        foreach (var database in _touchedDatabases)
        {
            // A database that a later command of this entry deleted has no rows left.
            if (database.IsDirty && _nodeState.TryFind(database.Number, out _))
            {
                database.WriteRows(batch, sequence);
            }
        }

        _nodeState.TrimCollectionCounters();
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        Span<byte> value = stackalloc byte[NodeRecord.MaxBytes];
        batch.Put(Key.WritePrefix(key, Key.NoDatabase, Table.Node), sequence, _nodeState.Record.Write(value));
    }

    private void Publish()
    {
        foreach (var database in _touchedDatabases)
        {
            database.Publish();
        }

        _catalog.ServerConfigurations = _nodeState.ServerConfigurations;
        _nodeState.PublishDatabases();
        _records.Publish();
        _indexes.Publish();
        _subscriptions.Publish();
        foreach (var (database, change) in _documentChanges)
        {
            database.Changes.Publish(change);
        }

        _documentChanges.Clear();
        _touchedDatabases.Clear();
        if (_configurations.HasChanges)
        {
            _configurations.HasChanges = false;
            _catalog.Configured?.Invoke();
        }

        _catalog.Applied?.Invoke();
    }
}
