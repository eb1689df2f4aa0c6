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
/// The indexes of one database at work on this node, as the log defines them. One thread changes it; any may look
/// something up. An index that was defined anew is built beside the one that has its name, which answers until the
/// other has come as far.
/// </summary>
public sealed class IndexCatalog : IDisposable
{
    private readonly IndexFolders _folders;
    private readonly IndexFactory _factory;
    private readonly ChangeSubscription<IndexChange> _changes;
    private readonly HashSet<long> _told = [];

    // Why definitions are refused, by their numbers: a reduce is not tried again at each change of another index.
    private readonly Dictionary<long, string> _refusals = [];

    // By lower-cased name. Where there is a slot all the same, it is by an older definition.
    private readonly ConcurrentDictionary<string, NotKept> _notKept = new(StringComparer.Ordinal);
    private bool _isCurrent;
    private long? _refusedAt;
    private FrozenDictionary<string, IndexSlot> _slots = FrozenDictionary<string, IndexSlot>.Empty;

    /// <summary>Without any until <see cref="Follow"/> opens what the log defines.</summary>
    /// <param name="database">The database.</param>
    /// <param name="folders">Where its indexes lie.</param>
    /// <param name="factory">Makes them.</param>
    internal IndexCatalog(Database database, IndexFolders folders, IndexFactory factory)
    {
        (Database, _folders, _factory) = (database, folders, factory);
        Feeder = new IndexFeeder(database, factory.Options, factory.Time);
        _changes = database.SubscribeToIndexes();
    }

    /// <summary>The database.</summary>
    public Database Database { get; }

    /// <summary>Feeds them.</summary>
    public IndexFeeder Feeder { get; }

    /// <summary>All, by lower-cased name.</summary>
    public IReadOnlyDictionary<string, IndexSlot> Slots => Volatile.Read(ref _slots);

    /// <summary>How many are fed.</summary>
    public int Count => Slots.Values.Sum(static slot => slot.All.Count());

    /// <summary>Whether the disk refused to open an index, which is tried again.</summary>
    public bool IsIncomplete => _refusedAt is not null;

    /// <summary>Finds an index by name, without case.</summary>
    public bool TryGet(string name, [NotNullWhen(true)] out IndexSlot? slot) =>
        Volatile.Read(ref _slots).TryGetValue(LowerNames.Index(name), out slot);

    /// <summary>
    /// Why the newest definition of an index that was looked at is not followed on this node; null when it is. The log
    /// may define a newer one.
    /// </summary>
    internal NotKept? WhyNotKept(string name) => _notKept.GetValueOrDefault(LowerNames.Index(name));

    /// <summary>
    /// Goes by what the log defines now, by what was asked, and by who has caught up. Reads no documents.
    /// </summary>
    /// <returns>Whether something changed.</returns>
    public bool Follow()
    {
        while (_changes.TryRead(out _))
        {
            _isCurrent = false;
        }

        bool synchronised = false;
        bool isRetried =
            _refusedAt is { } refusedAt && _factory.Time.GetElapsedTime(refusedAt) >= _factory.Options.RestAfterDamage;
        bool hasRoomAgain = _notKept.Any(one => one.Value.Needed is { } place && _factory.Quota.HasRoom(place));
        if (_changes.TakeLagged() || !_isCurrent || isRetried || hasRoomAgain)
        {
            // What fails is tried again.
            _isCurrent = false;
            _refusedAt = null;
            Synchronise();
            _isCurrent = synchronised = true;
        }

        return synchronised | GiveUpRoom() | Reset() | Replace();
    }

    /// <summary>How each is.</summary>
    public IReadOnlyList<IndexStatus> ReadStatus()
    {
        long last = Database.LastEtag;
        return
        [
            .. Slots
                .OrderBy(static slot => slot.Key, StringComparer.Ordinal)
                .SelectMany(slot => slot.Value.All.Select(index => index.ReadStatus(last, index.DocumentsLeft))),
        ];
    }

    /// <summary>The automatic indexes that answer.</summary>
    public IReadOnlyList<AutoIndexCandidate> ReadAutoIndexes() =>
        [
            .. Serving<AutoIndexMap>()
                .Select(static each => new AutoIndexCandidate(
                    each.Index.Record.Name,
                    each.Map.Definition,
                    each.Index.State,
                    each.Index.VisibleEtag
                )),
        ];

    /// <summary>The automatic map/reduce indexes that answer.</summary>
    public IReadOnlyList<AutoReduceCandidate> ReadAutoReduces() =>
        [
            .. Serving<AutoReduceMap>()
                .Select(static each => new AutoReduceCandidate(
                    each.Index.Record.Name,
                    each.Map.Definition,
                    each.Index.State,
                    each.Index.VisibleEtag
                )),
        ];

    /// <summary>Tells of those that answer and have come further since it told last.</summary>
    public void TellOfBatches(ChangeHub<IndexBatch> batches)
    {
        foreach (var slot in Slots.Values)
        {
            long etag = slot.Serving.VisibleEtag;
            if (etag > slot.Serving.ToldEtag)
            {
                slot.Serving.ToldEtag = etag;
                batches.Publish(new IndexBatch(Database.Number, slot.Serving.Record.Name, etag));
            }
        }
    }

    /// <summary>Gives memory back that none of them asked for since the last call.</summary>
    public void TrimIdle()
    {
        foreach (var index in Slots.Values.SelectMany(static slot => slot.All))
        {
            index.Store.TrimIdle();
        }
    }

    /// <summary>Closes them; they stay where they lie.</summary>
    public void Dispose()
    {
        _changes.Dispose();
        foreach (var index in Slots.Values.SelectMany(static slot => slot.All))
        {
            Close(index);
        }
    }

    private IEnumerable<(RunningIndex Index, TMap Map)> Serving<TMap>()
        where TMap : IIndexMap =>
        from slot in Slots.Values
        where slot.Serving.Map is TMap
        select (slot.Serving, (TMap)slot.Serving.Map);

    // Once a replacement has come as far as what it replaces, nobody misses the old one; one that stopped because it
    // cannot take the documents takes nobody's place.
    private bool Replace()
    {
        bool replaced = false;
        foreach (var (name, slot) in Slots)
        {
            if (
                slot.Replacement is { VisibleEtag: > 0, HasStopped: false } replacement
                && replacement.VisibleEtag >= slot.Serving.VisibleEtag
            )
            {
                Publish(name, new IndexSlot(replacement, null));
                Remove(slot.Serving);
                replacement.Place = IndexQuota.PlaceOf(replacement.Record);
                _factory.Quota.Settle(replacement.Place);
                replaced = true;
            }
            else if (slot.Replacement is { HasStopped: true })
            {
                // If both stopped, who waits for the one that answers waits for nothing.
                slot.Serving.SendAwayAtRest();
            }
        }

        return replaced;
    }

    // The youngest first: it has the least to lose. Its folder stays, because it may have room again.
    private bool GiveUpRoom()
    {
        bool gave = false;
        while (
            _factory.Quota.AutomaticBeyond > 0
            && Slots
                .Where(static slot => slot.Value.Serving.Place == IndexPlace.Automatic)
                .OrderByDescending(static slot => slot.Value.Newest.Record.Number)
                .FirstOrDefault()
                is { Key: { } name, Value: var slot }
        )
        {
            NoteNotKept(slot.Newest.Record, _factory.Quota.Reason, IndexPlace.Automatic);
            Publish(name, null);
            slot.All.ToList().ForEach(Close);
            gave = true;
        }

        return gave;
    }

    private bool Reset()
    {
        bool reset = false;
        foreach (var (name, slot) in Slots)
        {
            foreach (var index in slot.All.Where(static index => index.IsResetAsked))
            {
                Remove(index);
                var again = Open(index.Record, index.Place);
                again?.IsPaused = index.IsPaused;
                Publish(name, AfterReset(slot, index, again));
                reset = true;
                break; // the slot is another one now
            }
        }

        return reset;
    }

    /// <summary>
    /// What a name stands for when one of its indexes was closed to be built again. If the disk refused to open it, the
    /// other goes on: forgotten, it would still write to a folder that the next try opens.
    /// </summary>
    private static IndexSlot? AfterReset(IndexSlot slot, RunningIndex closed, RunningIndex? again) =>
        closed == slot.Replacement ? slot with { Replacement = again }
        : again is not null ? slot with { Serving = again }
        : slot.Replacement is { } other ? new IndexSlot(other, null)
        : null;

    /// <summary>Goes by what the log defines now.</summary>
    private void Synchronise()
    {
        long lastNumber;
        IReadOnlyList<IndexRecord> records;
        using (var reader = Database.OpenReader())
        {
            (lastNumber, records) = (reader.ReadLastIndexNumber(), reader.ReadIndexes());
        }

        // Those that somebody defined come before those that queries had made. One that has no room keeps its folder:
        // it may have room again.
        var placed = records.Select(static record => (Record: record, Place: IndexQuota.PlaceOf(record)));
        foreach (var (record, place) in placed.OrderBy(static one => one.Place))
        {
            string name = LowerNames.Index(record.Name);
            Publish(name, Slots.TryGetValue(name, out var slot) ? Update(slot, record) : Begin(record, place));
        }

        var names = records.Select(static record => LowerNames.Index(record.Name)).ToHashSet(StringComparer.Ordinal);
        foreach (var (name, slot) in Slots.Where(slot => !names.Contains(slot.Key)))
        {
            Publish(name, null);
            slot.All.ToList().ForEach(Remove);
        }

        foreach (long number in _refusals.Keys.Except(records.SelectMany(NumbersOf)).ToList())
        {
            _refusals.Remove(number);
        }

        foreach (string name in _notKept.Keys.Where(name => !names.Contains(name)))
        {
            _notKept.TryRemove(name, out _);
        }

        // What has a number above the last is defined by what this node, which has just started, did not apply yet.
        // What the disk refused to open stays for the next try.
        var used = Slots
            .Values.SelectMany(static slot => slot.All)
            .Select(static index => index.Record.Number)
            .Concat(records.Select(static record => record.Number))
            .ToHashSet();
        foreach (
            long number in _folders
                .Indexes(Database.Number)
                .Where(number => number <= lastNumber && !used.Contains(number))
        )
        {
            TryDelete(number);
        }
    }

    private static IEnumerable<long> NumbersOf(IndexRecord record) =>
        record.Replaced is { } before ? [record.Number, before.Number] : [record.Number];

    private IndexSlot? Begin(IndexRecord record, IndexPlace place)
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

        return Open(record, place) is { } newest ? new IndexSlot(newest, null) : null;
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
        replacement?.IsPaused = slot.Serving.IsPaused;
        return new IndexSlot(slot.Serving, replacement);
    }

    /// <summary>Opens an index, or begins it anew; null, and it is said why, when neither can be.</summary>
    private RunningIndex? Open(IndexRecord record, IndexPlace place)
    {
        if (_refusals.TryGetValue(record.Number, out string? refusal))
        {
            NoteNotKept(record, refusal, needed: null);
            return null;
        }

        if (!_factory.Quota.TryEnter(place))
        {
            NoteNotKept(record, _factory.Quota.WhyNone(place), place);
            return null;
        }

        try
        {
            var index = _factory.Open(_folders, Database, record);
            index.Place = place;
            Feeder.Add(index);
            _told.Remove(record.Number);
            _notKept.TryRemove(LowerNames.Index(record.Name), out _);
            return index;
        }
        catch (Exception wrong) when (wrong is DiskException or IndexDefinitionException)
        {
            _factory.Quota.Leave(place);
            if (wrong is DiskException)
            {
                _refusedAt = _factory.Time.GetTimestamp();
            }
            else
            {
                _refusals[record.Number] = wrong.Message;
            }

            NoteNotKept(record, wrong.Message, needed: null);
            if (_told.Add(record.Number))
            {
                _factory.TroubleFound(
                    $"The index {record.Name} of database {Database.Name} is not kept on this node: {wrong.Message}"
                );
            }

            return null;
        }
    }

    // What is told already keeps its time.
    private void NoteNotKept(IndexRecord record, string reason, IndexPlace? needed)
    {
        var told = new NotKept(record.Number, reason, _factory.Time.GetUtcNow(), needed);
        _notKept.AddOrUpdate(LowerNames.Index(record.Name), told, (_, before) => told with { Time = before.Time });
    }

    private void Close(RunningIndex index)
    {
        Feeder.Remove(index);
        index.Dispose();
        _factory.Quota.Leave(index.Place);
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
            // What stays is deleted at the next start, or when indexes change.
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
