using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Patching;
using Rookery.Documents.Redis;
using Rookery.Documents.Schedules;
using Rookery.Documents.Subscriptions;
using Rookery.Storage;

namespace Rookery.Documents.Consensus;

/// <summary>
/// Reads the rows that apply will need for a command, on the caller's thread, before the command is queued. Apply then
/// finds the previous versions in memory. A command whose rows cannot be read is refused. Many callers read in
/// parallel, whereas the single apply thread would read one block after another.
/// </summary>
/// <remarks>
/// A document cannot be read ahead if apply completes its id (<c>users/</c>). Its command is refused if damage is known
/// in the range of possible ids. While rows of idempotency keys are damaged, every command with a key is refused,
/// because each one removes the oldest keys.
/// </remarks>
/// <param name="storage">The tables.</param>
/// <param name="databases">The databases, as of the last applied entry.</param>
/// <param name="time">The clock.</param>
internal sealed class PreviousVersions(StorageEngine storage, DatabaseCatalog databases, TimeProvider time)
{
    // A small cache could evict a block before apply uses it. So the blocks of commands with one operation are pinned,
    // up to this limit.
    private const long HeldBytesLimit = 4 << 20;

    private long _heldBytes;

    /// <summary>Bytes of the blocks held for commands that are not applied yet.</summary>
    public long HeldBytes => Volatile.Read(ref _heldBytes);

    /// <summary>
    /// Reads the previous versions of the command's documents. If the command has only one operation, the block of its
    /// document stays in memory until <see cref="LoadedVersion.Dispose"/>.
    /// </summary>
    /// <exception cref="DamagedException">A row is damaged, so the command could not be applied.</exception>
    public LoadedVersion Load(scoped CommandReader command)
    {
        if (command.Key.IsPresent)
        {
            CheckKey(command);
        }

        switch (command.Kind)
        {
            case CommandKind.Batch or CommandKind.BulkPut or CommandKind.ClusterTransaction:
                return LoadOperations(command);
            case CommandKind.Redis:
                return LoadKeys(command);
            case CommandKind.CompareExchange:
                CheckExchange(command);
                return default;
            case CommandKind.ExpireCompareExchange:
                CheckExpiredValues(command);
                return default;
            case CommandKind.ExpireDocuments:
                LoadExpired(command);
                return default;
            case CommandKind.RunSchedule:
                LoadScheduled(command);
                return default;
            case CommandKind.HiloNext:
                var next = command.ReadHiloNext();
                CheckHilo(command.Database, next.Tag, next.LowerTag);
                return default;
            case CommandKind.HiloReturn:
                var returned = command.ReadHiloReturn();
                CheckHilo(command.Database, returned.Tag, returned.LowerTag);
                return default;
            case CommandKind.IdentityNext:
                CheckIdentity(command.Database, command.ReadIdentityNext());
                return default;
            case CommandKind.IdentitySeed:
                CheckIdentity(command.Database, command.ReadIdentitySeed().Name);
                return default;
            case CommandKind.SetClusterRecords:
                CheckRecords(command);
                return default;
            case CommandKind.ChangeIndexes:
                CheckIndexes(command);
                return default;
            case CommandKind.ConfigureRevisions:
                CheckConfiguration(command.Database);
                return default;
            case CommandKind.ChangeSubscription:
                CheckSubscription(command);
                return default;
            default:
                return default;
        }
    }

    internal void Release(int bytes) => Interlocked.Add(ref _heldBytes, -bytes);

    private LoadedVersion LoadOperations(scoped CommandReader command)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        Key.WritePrefix(key, command.Database, Table.Documents);
        var snapshot = storage.OpenSnapshot();
        Row row = default;
        bool isHeld = false;
        var changes = CheckOf(snapshot, command.Database);
        long patchedBytes = 0;
        var counters = new CounterGroup(snapshot, command.Database);
        try
        {
            while (command.TryReadOperation(out var operation))
            {
                if (operation.Id.IsCompletedByApply)
                {
                    CheckNumbers(snapshot, command.Database, operation.Id, command.HasGuards, ref changes);
                    continue;
                }

                if (operation.IsOfCounter && !operation.StartsGroup)
                {
                    counters.Load(operation, ref changes);
                    continue;
                }

                int length = operation.Id.WriteLowerName(key[Key.PrefixBytes..]);
                var lowerId = key.Slice(Key.PrefixBytes, length);
                if (operation.Kind is OperationKind.CompareExchangePut or OperationKind.CompareExchangeDelete)
                {
                    CheckValue(snapshot, command.Database, lowerId);
                    continue;
                }

                if (operation.IsOfCounter)
                {
                    counters.Begin(lowerId);
                    counters.Load(operation, ref changes);
                    continue;
                }

                if (operation.Kind == OperationKind.Patch && operation.Patch.Reaches)
                {
                    PatchRehearsal.Run(snapshot, command.Database, operation, ref changes, ref patchedBytes);
                }

                if (command.HasGuards || operation.Kind == OperationKind.Delete)
                {
                    CheckGuard(snapshot, command.Database, lowerId);
                }

                bool? exists = changes.Run(lowerId, operation, out row);
                if (exists ?? snapshot.TryLoadAhead(key[..(Key.PrefixBytes + length)], out row))
                {
                    if (row.IsLarge)
                    {
                        bool isWhole =
                            operation.Kind is OperationKind.Patch or OperationKind.Revision or OperationKind.Version
                            || operation.IsOfAttachment
                            || command.SkipsUnchanged;
                        Check(row, isWhole);
                        continue;
                    }

                    try
                    {
                        isHeld = command.OperationCount == 1 && row.BlockBytes > 0 && TryHold(row.BlockBytes);
                    }
                    finally
                    {
                        if (!isHeld)
                        {
                            row.Dispose(); // also if the command is refused: its block would stay pinned
                        }
                    }
                }
            }
        }
        finally
        {
            if (!isHeld)
            {
                snapshot.Dispose();
            }
        }

        return isHeld ? new LoadedVersion(this, snapshot, row) : default;
    }

    // Any command may store or delete the documents of its keys: even SET deletes one that expired and has attachments.
    // Without compare-exchange values in the applied state, no guard is on the disk.
    private LoadedVersion LoadKeys(scoped CommandReader command)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        var snapshot = storage.OpenSnapshot();
        Row row = default;
        bool isHeld = false;
        var changes = CheckOf(snapshot, command.Database);
        bool hasGuards = databases.TryGet(command.Database, out var known) && known.HasCompareExchange;
        var keys = new RedisKeys(command.ReadRedis(), stackalloc byte[RedisKey.MaxIdBytes]);
        try
        {
            while (keys.MoveNext())
            {
                var lowerId = keys.LowerId;
                if (keys.Command.IsWrite)
                {
                    changes.RunForStore(lowerId);
                    changes.RunForDelete(lowerId);
                    if (hasGuards)
                    {
                        CheckGuard(snapshot, command.Database, lowerId);
                    }
                }

                if (snapshot.TryLoadAhead(Key.WriteText(key, command.Database, Table.Documents, lowerId), out row))
                {
                    if (row.IsLarge)
                    {
                        Check(row, isWhole: true);
                        continue;
                    }

                    try
                    {
                        isHeld = !isHeld && keys.IsOnly && TryHold(row.BlockBytes);
                    }
                    finally
                    {
                        if (!isHeld)
                        {
                            row.Dispose();
                        }
                    }
                }
            }
        }
        finally
        {
            if (!isHeld)
            {
                snapshot.Dispose();
            }
        }

        return isHeld ? new LoadedVersion(this, snapshot, row) : default;
    }

    /// <summary>
    /// Checks that apply can read a large document: the part before the body, and for a patch or a comparison also the
    /// body.
    /// </summary>
    internal static void Check(in Row row, bool isWhole)
    {
        using var document = new Document(row);
        if (isWhole)
        {
            row.ReadThrough();
        }
        else if (row.IsLarge)
        {
            _ = document.Head;
        }
    }

    private ChangeCheck CheckOf(in Snapshot snapshot, uint database)
    {
        databases.TryGet(database, out var known);
        return new ChangeCheck(snapshot, database, known, time.GetUtcNow().UtcTicks);
    }

    internal static void CheckRow(in Snapshot snapshot, ReadOnlySpan<byte> key)
    {
        if (snapshot.TryLoadAhead(key, out var row))
        {
            Check(row, isWhole: true);
        }
    }

    /// <summary>Throws if damage is known in the range of ids that the command may get.</summary>
    private void CheckNumbers(
        in Snapshot snapshot,
        uint database,
        in CommandId id,
        bool hasGuards,
        ref ChangeCheck changes
    )
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        Key.WritePrefix(from, database, Table.Documents);
        int prefixLength = Key.PrefixBytes + id.WriteLowerName(from[Key.PrefixBytes..]);
        int length = prefixLength + 1;
        if (id.Kind == CommandIdKind.Identity)
        {
            CheckIdentity(database, from[Key.PrefixBytes..prefixLength]);
            from[prefixLength - 1] = (byte)'/';
            from[prefixLength] = (byte)'0';
        }
        else if (id.Kind == CommandIdKind.NumberedInDatabase)
        {
            using var numbers = storage.OpenSnapshot();
            CheckRow(numbers, Key.WritePrefix(to, database, Table.IdNumbers));
            from[prefixLength] = (byte)'0';
        }
        else
        {
            // Etags rise, so the number will be at least this.
            id.Resolve(snapshot.Sequence + 1, to, from[Key.PrefixBytes..], out int lowerLength);
            length = Key.PrefixBytes + lowerLength;
        }

        from[..prefixLength].CopyTo(to);
        to[prefixLength] = (byte)'9' + 1;
        snapshot.ThrowIfDamaged(from[..length], to[..(prefixLength + 1)]);
        changes.RunForRange(from[..length], to[..(prefixLength + 1)]);
        if (hasGuards)
        {
            CheckGuards(snapshot, database, Key.TextOf(from[..length]), Key.TextOf(to[..(prefixLength + 1)]));
        }
    }

    private void CheckIdentity(uint database, ReadOnlySpan<byte> lowerName)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        using var snapshot = storage.OpenSnapshot();
        CheckRow(snapshot, Key.WriteText(key, database, Table.Identities, lowerName));
    }

    private void CheckHilo(uint database, ReadOnlySpan<byte> tag, ReadOnlySpan<byte> lowerTag)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        Key.WritePrefix(key, database, Table.Documents);
        int length = Key.PrefixBytes + HiloOperations.WriteLowerId(tag, lowerTag, key[Key.PrefixBytes..]);
        using var snapshot = storage.OpenSnapshot();
        CheckRow(snapshot, key[..length]);
        CheckOf(snapshot, database).RunForStore(key[Key.PrefixBytes..length]);
    }

    private void CheckKey(scoped CommandReader command)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        using var snapshot = storage.OpenSnapshot();
        CheckRow(snapshot, IdempotencyKeys.RowKey(key, command.Database, command.Key));
        snapshot.ThrowIfDamaged(
            Key.WritePrefix(key, command.Database, Table.Idempotency),
            Key.WritePrefix(to, command.Database, Table.IdempotencyOrder + 1)
        );
    }

    private void CheckExchange(scoped CommandReader command)
    {
        Span<byte> lowerKey = stackalloc byte[CompareExchangeKey.MaxBytes];
        using var snapshot = storage.OpenSnapshot();
        while (command.TryReadOperation(out var operation))
        {
            CheckValue(snapshot, command.Database, lowerKey[..operation.Id.WriteLowerName(lowerKey)]);
        }
    }

    private void CheckExpiredValues(scoped CommandReader command)
    {
        using var snapshot = storage.OpenSnapshot();
        while (command.TryReadExpiry(out var lowerKey, out _))
        {
            CheckValue(snapshot, command.Database, lowerKey);
        }
    }

    // Apply reads the whole value only if it is small, to copy it into the outcome.
    private static void CheckValue(in Snapshot snapshot, uint database, ReadOnlySpan<byte> lowerKey)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (snapshot.TryLoadAhead(Key.WriteText(key, database, Table.CompareExchange, lowerKey), out var row))
        {
            Check(row, isWhole: false);
        }
    }

    /// <summary>Checks the atomic guard of a document, which apply removes when it deletes the document.</summary>
    internal static void CheckGuard(in Snapshot snapshot, uint database, ReadOnlySpan<byte> lowerId)
    {
        if (lowerId.Length <= CompareExchangeKey.MaxBytes - CompareExchangeKey.GuardPrefix.Length)
        {
            Span<byte> lowerKey = stackalloc byte[CompareExchangeKey.MaxBytes];
            CompareExchangeKey.GuardPrefix.CopyTo(lowerKey);
            lowerId.CopyTo(lowerKey[CompareExchangeKey.GuardPrefix.Length..]);
            CheckValue(snapshot, database, lowerKey[..(CompareExchangeKey.GuardPrefix.Length + lowerId.Length)]);
        }
    }

    // Throws if damage is known in the atomic guards of a range of ids. Apply refuses an id that is too long for one.
    private static void CheckGuards(
        in Snapshot snapshot,
        uint database,
        ReadOnlySpan<byte> fromId,
        ReadOnlySpan<byte> toIdExclusive
    )
    {
        const int MaxBytes = CompareExchangeKey.MaxBytes;
        if (Math.Max(fromId.Length, toIdExclusive.Length) <= MaxBytes - CompareExchangeKey.GuardPrefix.Length)
        {
            Span<byte> from = stackalloc byte[Key.MaxBytes];
            Span<byte> to = stackalloc byte[Key.MaxBytes];
            snapshot.ThrowIfDamaged(WriteGuard(from, database, fromId), WriteGuard(to, database, toIdExclusive));
        }
    }

    private static ReadOnlySpan<byte> WriteGuard(Span<byte> key, uint database, ReadOnlySpan<byte> lowerId)
    {
        int length = Key.WriteText(key, database, Table.CompareExchange, CompareExchangeKey.GuardPrefix).Length;
        lowerId.CopyTo(key[length..]);
        return key[..(length + lowerId.Length)];
    }

    private void LoadExpired(scoped CommandReader command)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        using var snapshot = storage.OpenSnapshot();
        var changes = CheckOf(snapshot, command.Database);
        while (command.TryReadExpiry(out var lowerId, out _))
        {
            if (snapshot.TryLoadAhead(Key.WriteText(key, command.Database, Table.Documents, lowerId), out var row))
            {
                Check(row, isWhole: false);
            }

            changes.RunForExpiry(lowerId);
            CheckGuard(snapshot, command.Database, lowerId);
        }
    }

    // Apply copies the documents, and keeps revisions of them.
    private void LoadScheduled(scoped CommandReader command)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        using var snapshot = storage.OpenSnapshot();
        bool isChange = command.ReadScheduleAction() != ScheduleAction.Register;
        var changes = CheckOf(snapshot, command.Database);
        while (command.TryReadScheduled(out var scheduled))
        {
            var row = Key.WriteText(key, command.Database, Table.Documents, scheduled.LowerId);
            if (snapshot.TryLoadAhead(row, out var stored))
            {
                Check(stored, isWhole: isChange);
            }

            if (isChange)
            {
                changes.RunForStore(scheduled.LowerId);
            }
        }
    }

    private void CheckRecords(scoped CommandReader command)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        using var snapshot = storage.OpenSnapshot();
        while (command.TryReadRecord(out var record))
        {
            if (
                snapshot.TryLoadAhead(Key.WriteText(key, Key.NoDatabase, Table.ClusterRecords, record.Key), out var row)
            )
            {
                row.Dispose(); // apply needs only its version
            }
        }
    }

    private void CheckConfiguration(uint database)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        using var snapshot = storage.OpenSnapshot();
        CheckRow(snapshot, Key.WritePrefix(key, database, Table.RevisionsConfiguration));
    }

    private void CheckSubscription(scoped CommandReader command)
    {
        using var snapshot = storage.OpenSnapshot();
        new SubscriptionCheck(snapshot, command.Database).Run(command.ReadSubscription());
    }

    private void CheckIndexes(scoped CommandReader command)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        using var snapshot = storage.OpenSnapshot();
        CheckRow(snapshot, Key.WritePrefix(key, command.Database, Table.Indexes));
        while (command.TryReadIndex(out var index))
        {
            CheckRow(snapshot, Key.WriteText(key, command.Database, Table.Indexes, index.LowerName));
        }
    }

    private bool TryHold(int bytes)
    {
        if (Interlocked.Add(ref _heldBytes, bytes) <= HeldBytesLimit)
        {
            return true;
        }

        Release(bytes);
        return false;
    }
}

/// <summary>
/// Keeps the block of a previous version in memory until apply has used it. The default value keeps nothing. Dispose it
/// once.
/// </summary>
public readonly struct LoadedVersion : IDisposable
{
    private readonly PreviousVersions? _owner;
    private readonly Snapshot _snapshot;
    private readonly Row _row;

    internal LoadedVersion(PreviousVersions owner, in Snapshot snapshot, in Row row)
    {
        _owner = owner;
        _snapshot = snapshot;
        _row = row;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_owner is not null)
        {
            _owner.Release(_row.BlockBytes);
            _row.Dispose();
            _snapshot.Dispose();
        }
    }
}
