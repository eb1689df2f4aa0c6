using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Diagnostics.CodeAnalysis;
using Rookery.Documents.Changes;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Mapping;
using Rookery.Platform;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// The running indexes of one database on this node, as the log defines them. One thread changes the catalogue; any
/// thread may read it. When a definition changes, the new index is built beside the old one; queries use the old one
/// until the new one has caught up.
/// </summary>
public sealed class IndexCatalog : IDisposable
{
    private readonly IndexFolders _folders;
    private readonly IndexFactory _factory;
    private readonly ChangeSubscription<IndexChange> _changes;

    // Numbers of the indexes whose failure to open was already reported to the operator.
    private readonly HashSet<long> _reported = [];

    // Errors of definitions that cannot be used, by index number. They are kept, so that such a definition is not tried
    // again at each change of another index.
    private readonly Dictionary<long, string> _refusals = [];

    // Definitions that this node does not maintain, by lower-cased name. If a slot of the same name exists, it runs an
    // older definition.
    private readonly ConcurrentDictionary<string, NotMaintained> _notMaintained = new(StringComparer.Ordinal);

    // By lower-cased name: etags of deletions that are not yet applied to the slots.
    private readonly Dictionary<string, long> _deleted = new(StringComparer.Ordinal);
    private long _deletionsFollowed;
    private bool _mayMissDeletions;
    private bool _isCurrent;

    // When opening an index last failed because of the disk, if the index is still not open; otherwise null.
    private long? _refusedAt;
    private FrozenDictionary<string, IndexSlot> _slots = FrozenDictionary<string, IndexSlot>.Empty;

    /// <summary>Creates an empty catalogue. <see cref="Follow"/> opens the indexes that the log defines.</summary>
    /// <param name="database">The database.</param>
    /// <param name="folders">The folders of the indexes.</param>
    /// <param name="factory">Opens the indexes.</param>
    internal IndexCatalog(Database database, IndexFolders folders, IndexFactory factory)
    {
        (Database, _folders, _factory) = (database, folders, factory);
        Feeder = new IndexFeeder(database, factory.Options, factory.Time);
        _changes = database.SubscribeToIndexes();
        factory.Quota.Places.Add(database);
    }

    /// <summary>The database of the indexes.</summary>
    public Database Database { get; }

    /// <summary>Feeds the indexes with documents.</summary>
    public IndexFeeder Feeder { get; }

    /// <summary>The slots of all indexes, by lower-cased name.</summary>
    public IReadOnlyDictionary<string, IndexSlot> Slots => Volatile.Read(ref _slots);

    /// <summary>Number of indexes that are fed, replacements included.</summary>
    public int Count => Slots.Values.Sum(static slot => slot.All.Count());

    /// <summary>Whether the disk prevented the opening of an index. Opening it is tried again later.</summary>
    public bool IsIncomplete => _refusedAt is not null;

    /// <summary>
    /// Finds an index by name, ignoring case. An index that the log deleted is not found, even while it is still open.
    /// </summary>
    public bool TryGet(string name, [NotNullWhen(true)] out IndexSlot? slot)
    {
        if (Volatile.Read(ref _slots).TryGetValue(LowerNames.Index(name), out slot) && IsDefined(slot))
        {
            return true;
        }

        slot = null;
        return false;
    }

    /// <summary>Returns whether an index is still the one that serves queries of its name.</summary>
    public bool Serves(RunningIndex index) =>
        Volatile.Read(ref _deletionsFollowed) >= Database.LastIndexDeletion
        || (TryGet(index.Record.Name, out var slot) && slot.Serving == index);

    /// <summary>
    /// Returns why this node does not maintain the newest definition that it has seen of an index; null if it does. The
    /// log may contain a newer definition.
    /// </summary>
    internal NotMaintained? WhyNotMaintained(string name) => _notMaintained.GetValueOrDefault(LowerNames.Index(name));

    /// <summary>
    /// Updates the catalogue: opens and closes indexes as the log defines them, carries out requested resets, and
    /// replaces old indexes by new ones that have caught up. Reads no documents.
    /// </summary>
    /// <returns>Whether something changed.</returns>
    public bool Follow()
    {
        // Read the etag before the changes, so that the changes include all deletions through this etag.
        long lastDeletion = Database.LastIndexDeletion;
        while (_changes.TryRead(out var change))
        {
            _isCurrent = false;
            if (change.Kind == IndexChangeKind.Deleted)
            {
                _deleted[LowerNames.Index(change.Name)] = change.Etag;
            }
        }

        // The apply thread publishes a change before its etag, so an earlier call may have read only the change.
        if (lastDeletion > _deletionsFollowed)
        {
            _isCurrent = false;
        }

        bool synchronised = false;
        _mayMissDeletions |= _changes.TakeLagged();
        bool isRetried =
            _refusedAt is { } refusedAt && _factory.Time.GetElapsedTime(refusedAt) >= _factory.Options.RestAfterDamage;
        bool hasRoomAgain = _notMaintained.Any(index =>
            index.Value.Needed is { } place && _factory.Quota.HasRoom(place) && IsChosen(index.Key, place)
        );
        if (_mayMissDeletions || !_isCurrent || isRetried || hasRoomAgain)
        {
            // If one of the following steps throws, the next call repeats them.
            _isCurrent = false;
            _refusedAt = null;
            CloseDeleted();
            Synchronise();
            _mayMissDeletions = false;
            _isCurrent = synchronised = true;
            Volatile.Write(ref _deletionsFollowed, lastDeletion);
        }

        // The operator | evaluates all operands: all steps run.
        return synchronised | CloseWithoutPlace() | Reset() | ReplaceServing();
    }

    /// <summary>Returns the status of each index, ordered by name.</summary>
    public IReadOnlyList<IndexStatus> ReadStatus() =>
        [
            .. Slots
                .Where(slot => IsDefined(slot.Value))
                .OrderBy(static slot => slot.Key, StringComparer.Ordinal)
                .SelectMany(static slot => slot.Value.All)
                .Select(index => index.ReadStatus(FreshEtag.Of(Database, index.Map), index.DocumentsLeft)),
        ];

    /// <summary>Returns the automatic indexes that serve queries.</summary>
    public IReadOnlyList<AutoCandidate<AutoIndexDefinition>> ReadAutoIndexes() =>
        [
            .. Serving<AutoIndexMap>()
                .Select(static each => new AutoCandidate<AutoIndexDefinition>(
                    each.Index.Record.Name,
                    each.Map.Definition,
                    each.Index.State,
                    each.Index.VisibleEtag
                )),
        ];

    /// <summary>Returns the automatic map/reduce indexes that serve queries.</summary>
    public IReadOnlyList<AutoCandidate<AutoReduceDefinition>> ReadAutoReduces() =>
        [
            .. Serving<AutoReduceMap>()
                .Select(static each => new AutoCandidate<AutoReduceDefinition>(
                    each.Index.Record.Name,
                    each.Map.Definition,
                    each.Index.State,
                    each.Index.VisibleEtag
                )),
        ];

    /// <summary>Publishes the etag of each serving index that has advanced since the last call.</summary>
    public void PublishProgress(ChangeHub<IndexBatch> batches)
    {
        foreach (var slot in Slots.Values)
        {
            long etag = slot.Serving.VisibleEtag;
            if (etag > slot.Serving.PublishedEtag)
            {
                slot.Serving.PublishedEtag = etag;
                batches.Publish(new IndexBatch(Database.Number, slot.Serving.Record.Name, etag));
            }
        }
    }

    /// <summary>Releases memory that no index has used since the last call.</summary>
    public void TrimIdle()
    {
        foreach (var index in Slots.Values.SelectMany(static slot => slot.All))
        {
            index.Store.TrimIdle();
        }
    }

    /// <summary>Closes all indexes; their files stay.</summary>
    public void Dispose()
    {
        _changes.Dispose();
        _factory.Quota.Places.Remove(Database);
        Closing.Each(Slots.Values.SelectMany(static slot => slot.All), Close);
    }

    private IEnumerable<(RunningIndex Index, TMap Map)> Serving<TMap>()
        where TMap : IIndexMap =>
        from slot in Slots.Values
        where slot.Serving.Map is TMap && IsDefined(slot)
        select (slot.Serving, (TMap)slot.Serving.Map);

    // A replacement takes over when it includes as many changes as the index that it replaces. If the old index
    // includes no part of a transaction, the replacement must not include one either. A replacement that stopped
    // because of errors never takes over.
    private bool ReplaceServing()
    {
        bool replaced = false;
        foreach (var (name, slot) in Slots)
        {
            if (
                slot.Replacement is { VisibleEtag: > 0, HasStopped: false } replacement
                && replacement.VisibleEtag >= slot.Serving.VisibleEtag
                && (replacement.ConsistentEtag > 0 || slot.Serving.ConsistentEtag == 0)
            )
            {
                Publish(name, new IndexSlot(replacement, Replacement: null));
                Remove(slot.Serving);
                replacement.Place = IndexQuota.PlaceOf(replacement.Record);
                _factory.Quota.MoveFromReplacement(replacement.Place);
                replaced = true;
            }
            else if (slot.Replacement is { HasStopped: true } || WhyNotMaintained(slot.Serving.Record.Name) is not null)
            {
                // No task should wait for a stopped index whose replacement has stopped too, or is not maintained.
                slot.Serving.Waits.ReleaseIfNotRunning();
            }
        }

        return replaced;
    }

    // Closes indexes that no longer have a place, because users' indexes or older indexes of other databases need it.
    // The folders stay: there may be room again later.
    private bool CloseWithoutPlace()
    {
        var places = _factory.Quota.Places;
        bool closed = false;
        foreach (var (name, slot) in places.HaveAllOne ? [] : Slots.Where(slot => !places.Has(Database, slot.Key)))
        {
            RecordNotMaintained(slot.Newest.Record, _factory.Quota.Reason, slot.Serving.Place);
            Publish(name, slot: null);
            slot.All.ToList().ForEach(Close);
            closed = true;
        }

        return closed;
    }

    private bool Reset()
    {
        bool reset = false;
        foreach (var (name, slot) in Slots)
        {
            foreach (var index in slot.All.Where(static index => index.IsResetRequested))
            {
                Remove(index);
                var rebuilt = Open(index.Record, index.Place);
                rebuilt?.Pause.TakeOver(index.Pause);
                Publish(name, AfterReset(slot, index, rebuilt));
                reset = true;
                break; // the slot has just been replaced
            }
        }

        return reset;
    }

    /// <summary>
    /// Returns the slot of a name after one of its indexes was closed to be rebuilt. If the rebuilt index could not be
    /// opened, the slot keeps the other index. Without the slot, that index would still write to its folder, and the
    /// next attempt would open the folder a second time.
    /// </summary>
    private static IndexSlot? AfterReset(IndexSlot slot, RunningIndex closed, RunningIndex? rebuilt)
    {
        if (closed == slot.Replacement)
        {
            return slot with { Replacement = rebuilt };
        }

        if (rebuilt is not null)
        {
            return slot with { Serving = rebuilt };
        }

        if (slot.Replacement is { } other)
        {
            return new IndexSlot(other, Replacement: null);
        }

        return null;
    }

    /// <summary>
    /// Returns whether the log still defines the indexes of a slot. It may have deleted them, and defined other indexes
    /// of the same name, since <see cref="Follow"/> ran last.
    /// </summary>
    private bool IsDefined(IndexSlot slot) =>
        Volatile.Read(ref _deletionsFollowed) >= Database.LastIndexDeletion || IsInLog(slot);

    private bool IsInLog(IndexSlot slot)
    {
        try
        {
            using var reader = Database.OpenReader();
            return reader.FindIndex(slot.Serving.Record.Name) is { } record
                && (
                    NumbersOf(record).Contains(slot.Serving.Record.Number)
                    || (slot.Replacement is { } built && record.Replaced?.Number == built.Record.Number)
                );
        }
        catch (DatabaseGoneException)
        {
            return false;
        }
    }

    /// <summary>
    /// Removes the indexes that the log deleted. Otherwise, an index defined later under the same name would count as a
    /// replacement of the deleted one. If the subscription dropped changes, compares the slots with the log.
    /// </summary>
    private void CloseDeleted()
    {
        foreach (var (name, slot) in Slots)
        {
            long deletion = _mayMissDeletions && !IsInLog(slot) ? long.MaxValue : _deleted.GetValueOrDefault(name);
            if (slot.Serving.Record.Version < deletion)
            {
                Publish(name, slot: null);
                slot.All.ToList().ForEach(Remove);
            }
        }

        _deleted.Clear();
    }

    /// <summary>Opens, updates and removes indexes so that they match the definitions in the log.</summary>
    private void Synchronise()
    {
        long lastNumber;
        List<(IndexRecord Record, IndexPlace Place)> placed;
        using (var reader = Database.OpenReader())
        {
            lastNumber = reader.ReadLastIndexNumber();
            placed = [.. reader.ReadIndexes().Select(static record => (record, IndexQuota.PlaceOf(record)))];
            _factory.Quota.Places.Set(Database, placed, reader.ReadLastIndexDefinition());
        }

        // An index without a place keeps its folder, because there may be room again later.
        var records = placed.Select(static index => index.Record).ToList();
        foreach (var (record, place) in placed.OrderBy(static index => index.Place))
        {
            string name = LowerNames.Index(record.Name);
            Publish(name, Slots.TryGetValue(name, out var slot) ? Update(slot, record) : OpenNew(record, place));
        }

        var names = records.Select(static record => LowerNames.Index(record.Name)).ToHashSet(StringComparer.Ordinal);
        foreach (var (name, slot) in Slots.Where(slot => !names.Contains(slot.Key)))
        {
            Publish(name, slot: null);
            slot.All.ToList().ForEach(Remove);
        }

        foreach (long number in _refusals.Keys.Except(records.SelectMany(NumbersOf)).ToList())
        {
            _refusals.Remove(number);
        }

        foreach (string name in _notMaintained.Keys.Where(name => !names.Contains(name)))
        {
            _notMaintained.TryRemove(name, out _);
        }

        // A node that has just started may have folders with numbers above the last one applied, whose definitions it
        // has not applied yet. These folders stay. Folders that could not be opened stay for the next attempt.
        var used = Slots
            .Values.SelectMany(static slot => slot.All)
            .Select(static index => index.Record.Number)
            .Concat(records.Select(static record => record.Number))
            .ToHashSet();
        foreach (
            long number in _folders
                .ListIndexes(Database.Number)
                .Where(number => number <= lastNumber && !used.Contains(number))
        )
        {
            TryDelete(number);
        }
    }

    private static IEnumerable<long> NumbersOf(IndexRecord record) =>
        record.Replaced is { } before ? [record.Number, before.Number] : [record.Number];

    private IndexSlot? OpenNew(IndexRecord record, IndexPlace place)
    {
        if (
            record.Replaced is { } before
            && _folders.Exists(Database.Number, before.Number)
            && Open(record with { Number = before.Number, Definition = before.Definition, Replaced = null }, place)
                is { } replaced
        )
        {
            return new IndexSlot(replaced, Open(record, IndexPlace.Replacement));
        }

        return Open(record, place) is { } newest ? new IndexSlot(newest, Replacement: null) : null;
    }

    private IndexSlot Update(IndexSlot slot, IndexRecord record)
    {
        if (slot.Newest.Record.Number == record.Number)
        {
            slot.Newest.Record = record;
            slot.Serving.Record = slot.Serving.Record with { Settings = record.Settings };
            return slot;
        }

        if (slot.Replacement is { } overtaken)
        {
            Remove(overtaken);
        }

        slot.Serving.Record = slot.Serving.Record with { Settings = record.Settings };
        var replacement = Open(record, IndexPlace.Replacement);
        replacement?.Pause.TakeOver(slot.Serving.Pause);
        return new IndexSlot(slot.Serving, replacement);
    }

    private bool IsChosen(string lowerName, IndexPlace place) =>
        place == IndexPlace.Replacement || _factory.Quota.Places.Has(Database, lowerName);

    /// <summary>Opens an index, or starts building it. On failure, records the reason and returns null.</summary>
    private RunningIndex? Open(IndexRecord record, IndexPlace place)
    {
        if (_refusals.TryGetValue(record.Number, out string? refusal))
        {
            RecordNotMaintained(record, refusal, needed: null);
            return null;
        }

        if (!_factory.Quota.TryTake(place, IsChosen(LowerNames.Index(record.Name), place)))
        {
            RecordNotMaintained(record, _factory.Quota.ReasonAgainst(place), place);
            return null;
        }

        try
        {
            var index = _factory.Open(_folders, Database, record);
            index.Place = place;
            Feeder.Add(index);
            _reported.Remove(record.Number);
            _notMaintained.TryRemove(LowerNames.Index(record.Name), out _);
            return index;
        }
        catch (Exception wrong)
        {
            _factory.Quota.Release(place);
            if (wrong is not (DiskException or IndexDefinitionException))
            {
                throw;
            }

            _refusedAt = wrong is DiskException ? _factory.Time.GetTimestamp() : _refusedAt;
            if (wrong is IndexDefinitionException)
            {
                _refusals[record.Number] = wrong.Message;
            }

            RecordNotMaintained(record, wrong.Message, needed: null);
            if (_reported.Add(record.Number))
            {
                _factory.TroubleFound(
                    $"The index {record.Name} of database {Database.Name} is not maintained on this node: "
                        + wrong.Message
                );
            }

            return null;
        }
    }

    private void RecordNotMaintained(IndexRecord record, string reason, IndexPlace? needed)
    {
        var notMaintained = new NotMaintained(record.Number, reason, _factory.Time.GetUtcNow(), needed);
        _notMaintained.AddOrUpdate(
            LowerNames.Index(record.Name),
            notMaintained,
            (_, before) => notMaintained.After(before)
        );
    }

    private void Close(RunningIndex index)
    {
        Feeder.Remove(index);
        try
        {
            index.Dispose();
        }
        finally
        {
            _factory.Quota.Release(index.Place);
        }
    }

    private void Remove(RunningIndex index)
    {
        Close(index);
        TryDelete(index.Record.Number);
    }

    private void TryDelete(long number)
    {
        try
        {
            _folders.Delete(Database.Number, number);
        }
        catch (DiskException)
        {
            // The remaining files are deleted at the next start, or when index definitions change.
        }
    }

    private void Publish(string name, IndexSlot? slot)
    {
        var slots = Slots.ToDictionary(StringComparer.Ordinal);
        slots.Remove(name);
        if (slot is not null)
        {
            slot.Serving.IsReplacement = false;
            slot.Replacement?.IsReplacement = true;
            slots.Add(name, slot);
        }

        Volatile.Write(ref _slots, slots.ToFrozenDictionary(StringComparer.Ordinal));
    }
}
