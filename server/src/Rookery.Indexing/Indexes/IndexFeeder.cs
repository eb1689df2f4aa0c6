using System.Text;
using Rookery.Documents.Changes;
using Rookery.Documents.Databases;
using Rookery.Documents.Stored;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Storage;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// Feeds documents to the indexes of one database in small steps. A new index is first fed all documents, then the
/// changes. Indexes at the same etag share a pass. A lagging index is fed up to the position of the next one and then
/// joins it. If an index loads documents while it maps others, the dependents of a changed document are the documents
/// that loaded it: they are fed again. Not thread-safe.
/// </summary>
public sealed class IndexFeeder(Database database, IndexFeederOptions options, TimeProvider time)
{
    // An index within this many steps of the last etag counts as nearly up to date.
    private const int NearSteps = 8;

    // Awaited indexes and those of the highest priority get three turns for each turn of the rest, so the rest always
    // advances.
    private const int PreferredWeight = 3;
    private const int RestWeight = 1;

    // The kinds of work that take turns (FeedInTurn); the third is to build.
    private const int DependentsTurn = 0;
    private const int ChangesTurn = 1;
    private readonly WeightedTurns _workTurns = new(kinds: 3);

    // The priority classes that take turns: the indexes of the highest priority, and all others.
    private const int HighestTurn = 0;
    private const int RestTurn = 1;
    private readonly WeightedTurns _buildTurns = new(kinds: 2);
    private readonly WeightedTurns _priorityTurns = new(kinds: 2);

    // NextPosition feeds in turn: the awaited index that lags most; the index that lags least, if it is nearly up to
    // date; and, without a constant, the index that lags most of all. Each priority class has its own turns.
    private const int AwaitedTurn = 0;
    private const int NearlyThereTurn = 1;
    private readonly WeightedTurns _positionTurns = new(kinds: 3);
    private readonly WeightedTurns _positionTurnsOfRest = new(kinds: 3);

    private readonly byte[] _historyId = Encoding.ASCII.GetBytes(database.HistoryId);
    private readonly List<RunningIndex> _indexes = [];
    private readonly List<IndexBuild> _builds = [];
    private readonly List<RunningIndex> _group = []; // the indexes that the current step feeds
    private long _pendingBytes;
    private long? _damagedAt;
    private RunningIndex? _lastIndexWithDependents;

    /// <summary>
    /// Documents and tombstones read. One that is fed to several indexes in the same pass counts once.
    /// </summary>
    public long DocumentsRead { get; private set; }

    /// <summary>Whether an index has buffered entries that are not written, or whose write the disk refused.</summary>
    public bool HasPending => _indexes.Exists(static index => index.HasPending || index.IsWriteBlocked);

    /// <summary>Whether feeding pauses because a document cannot be read. It is read again later.</summary>
    public bool IsPausedByDamage => _damagedAt is not null;

    /// <summary>Adds an index. An empty one is built first.</summary>
    public void Add(RunningIndex index) => _indexes.Add(index);

    /// <summary>Stops feeding an index.</summary>
    public void Remove(RunningIndex index)
    {
        _indexes.Remove(index);
        _lastIndexWithDependents = _lastIndexWithDependents == index ? null : _lastIndexWithDependents;
        foreach (var build in _builds)
        {
            build.Indexes.Remove(index);
        }

        _builds.RemoveAll(static build => build.Indexes.Count == 0);
    }

    /// <summary>Does one step of work: feeds some documents, writes what is due, or merges segments.</summary>
    /// <param name="pendingBytes">Bytes that each index may buffer before it writes.</param>
    /// <returns>Whether there was work to do.</returns>
    public bool Step(long pendingBytes)
    {
        _pendingBytes = pendingBytes;
        bool worked = !IsStillPaused() && FeedOrPause();
        StoppedIndexes.AdvanceOverOperationsWithoutDocuments(database, _indexes);
        foreach (var index in _indexes)
        {
            if (index.IsWriteDue(pendingBytes, options.PendingAge, options.EtagsBetweenPositionWrites))
            {
                index.WriteBuffered();
                worked = true;
            }
        }

        return worked
            || _indexes.Exists(static index =>
                index.State == IndexState.Normal && !index.IsWriteBlocked && index.MergeOnce()
            );
    }

    private static bool IsRunning(RunningIndex index) =>
        index.State == IndexState.Normal && !index.IsResetRequested && !index.IsWriteBlocked;

    private static bool IsFollowing(RunningIndex index) => IsRunning(index) && !index.HasDependents;

    private bool IsStillPaused()
    {
        if (_damagedAt is { } damagedAt && time.GetElapsedTime(damagedAt) < options.RestAfterDamage)
        {
            return true;
        }

        _damagedAt = null;
        return false;
    }

    private bool FeedOrPause()
    {
        try
        {
            return FeedInTurn();
        }
        catch (Exception unreadable) when (unreadable is DamagedException or StoredDocumentException)
        {
            _damagedAt = time.GetTimestamp();
            foreach (var index in _group)
            {
                index.SetTrouble($"The index waits before a document that cannot be read. {unreadable.Message}");
            }

            return false;
        }
    }

    /// <summary>
    /// Does one of three kinds of work: feeds dependent documents, follows changes, or builds. Weights keep each of
    /// them from starving.
    /// </summary>
    private bool FeedInTurn()
    {
        var withDependents = NextIndexWithDependents();
        Span<int> weights =
        [
            withDependents is null ? 0 : WeightOf(withDependents.IsAwaited),
            WeightOf(_indexes.Exists(static index => index.IsAwaited && index.Position > 0)),
            RestWeight,
        ];
        for (int turn = _workTurns.Next(weights); turn >= 0; turn = _workTurns.Next(weights))
        {
            bool worked = turn switch
            {
                DependentsTurn => FeedDependents(withDependents!),
                ChangesTurn => Follow(),
                _ => Build(),
            };
            if (worked)
            {
                return true;
            }

            weights[turn] = 0;
        }

        return false;
    }

    private static int WeightOf(bool isPreferred) => isPreferred ? PreferredWeight : RestWeight;

    /// <summary>
    /// Returns the next index with dependent documents to feed, round robin, awaited indexes first; null if there is
    /// none.
    /// </summary>
    private RunningIndex? NextIndexWithDependents()
    {
        bool isAnyAwaited = _indexes.Exists(static index => index.IsAwaited && index.HasDependents && IsRunning(index));
        RunningIndex? first = null;
        RunningIndex? next = null;
        bool isAfterLast = false;
        foreach (var index in _indexes)
        {
            if (index.HasDependents && IsRunning(index) && (index.IsAwaited || !isAnyAwaited))
            {
                first ??= index;
                next ??= isAfterLast ? index : null;
            }

            isAfterLast |= index == _lastIndexWithDependents;
        }

        return next ?? first;
    }

    /// <summary>
    /// Feeds again the documents that loaded a changed document. The index follows no further changes until all of them
    /// are fed.
    /// </summary>
    private bool FeedDependents(RunningIndex index)
    {
        _lastIndexWithDependents = index;
        _group.Clear();
        _group.Add(index);
        using var reader = database.OpenReader();
        long bytes = 0;
        index.FeedDependents(
            options.DocumentsPerStep,
            id =>
            {
                bytes += RefeedDocument(reader, id);
                return bytes < options.BytesPerStep && !IndexBuild.IsFull(_group, _pendingBytes);
            }
        );
        return true;
    }

    // Skips a document that was deleted meanwhile. Its tombstone comes later.
    private long RefeedDocument(in DatabaseReader reader, byte[] id)
    {
        if (!reader.TryGetDocument(id, out var document))
        {
            return 0;
        }

        using (document)
        {
            DocumentsRead++;
            FeedDocument(document.View, document.Etag);
            return document.Length;
        }
    }

    /// <summary>Does one step of the build whose turn it is.</summary>
    private bool Build()
    {
        AddBuilds();
        SplitOffStoppedIndexes();
        if (ChooseBuild() is not { } build)
        {
            return false;
        }

        // Round robin: the chosen build goes to the end of the list.
        _builds.Remove(build);
        bool isComplete = false;
        try
        {
            isComplete = StepBuild(build);
        }
        finally
        {
            if (!isComplete)
            {
                _builds.Add(build);
            }
        }

        if (isComplete)
        {
            build.Indexes.ForEach(index => index.AdvanceTo(build.StartEtag, documentsRead: 0));
        }

        return true;
    }

    private void AddBuilds()
    {
        var unbuilt = _indexes
            .Where(index =>
                index.Position == 0 && IsRunning(index) && !_builds.Exists(build => build.Indexes.Contains(index))
            )
            .ToList();
        if (unbuilt.Count > 0)
        {
            _builds.Add(new IndexBuild(database, unbuilt));
        }
    }

    private void SplitOffStoppedIndexes()
    {
        foreach (var build in _builds.ToArray())
        {
            foreach (var stopped in build.Indexes.Where(static index => !IsRunning(index)).ToList())
            {
                if (build.Indexes.Count > 1)
                {
                    _builds.Add(build.SplitOff(stopped));
                }
            }
        }
    }

    /// <summary>
    /// Chooses by turns among the builds of the highest priority or among all builds. The first in the list has waited
    /// longest.
    /// </summary>
    private IndexBuild? ChooseBuild()
    {
        int highest = _builds.Where(static build => IsRunning(build.Indexes[0])).Select(RankOf).DefaultIfEmpty().Max();
        bool isTurnOfHighest = _buildTurns.Next([PreferredWeight, RestWeight]) == HighestTurn;
        int lowestRank = isTurnOfHighest ? highest : 0;
        return _builds.Find(build => IsRunning(build.Indexes[0]) && RankOf(build) >= lowestRank);
    }

    /// <summary>Does one step of a build of several indexes.</summary>
    /// <returns>Whether the build is complete.</returns>
    private bool StepBuild(IndexBuild build)
    {
        _group.Clear();
        _group.AddRange(build.Indexes);
        bool isComplete = build.Step(options, _pendingBytes, out long read);
        DocumentsRead += read;
        long documentsLeft = Math.Max(0, build.Total - build.Walked);
        build.Indexes.ForEach(index =>
        {
            index.AddProgress(read);
            index.DocumentsLeft = isComplete ? null : documentsLeft;
        });
        return isComplete;
    }

    private static int RankOf(IndexBuild build) => build.Indexes.Max(static index => index.Rank);

    /// <summary>Feeds changes, in one pass, to all indexes at the position whose turn it is.</summary>
    /// <returns>False if all indexes are up to date.</returns>
    private bool Follow()
    {
        long last = database.LastEtag;
        long? next = NextPosition(last);
        if (next is not { } position)
        {
            return false;
        }

        _group.Clear();
        _group.AddRange(_indexes.Where(index => index.Position == position && IsFollowing(index)));
        long limit = _indexes
            .Where(index => index.Position > position && IsRunning(index))
            .Select(static index => index.Position)
            .DefaultIfEmpty(long.MaxValue)
            .Min();
        long newPosition = FeedChanges(position, limit, out long read);
        DocumentsRead += read;
        using (var reader = database.OpenReader())
        {
            if (reader.ReadStatistics().TombstoneHorizon > position)
            {
                // Tombstones after this position were already removed, so the indexes may have missed deletions.
                _group.ForEach(static index => index.RequestReset());
                return true;
            }
        }

        _group.ForEach(index => index.AdvanceTo(newPosition, read));
        return true;
    }

    /// <summary>
    /// Returns the etag after which the next pass reads; null if all indexes are up to date. The passes take turns: one
    /// serves the awaited indexes, one those nearly up to date, one those that lag most. Each prefers the indexes of
    /// the highest priority.
    /// </summary>
    private long? NextPosition(long last)
    {
        const long None = long.MaxValue;
        long lowest = None;
        long highest = -1;
        long lowestAwaited = None;
        int highestRank = HighestRank(last);
        int weightOfRest = IsAnyLaggingBelow(highestRank, last) ? RestWeight : 0;
        bool isTurnOfRest = _priorityTurns.Next([PreferredWeight, weightOfRest]) == RestTurn;
        foreach (var index in _indexes)
        {
            bool isOfTurn = isTurnOfRest ? index.Rank < highestRank : index.Rank >= highestRank || index.IsAwaited;
            if (isOfTurn && IsLagging(index, last))
            {
                lowest = Math.Min(lowest, index.Position);
                highest = Math.Max(highest, index.Position);
                lowestAwaited = index.IsAwaited ? Math.Min(lowestAwaited, index.Position) : lowestAwaited;
            }
        }

        if (lowest == None)
        {
            return null;
        }

        bool isAwaited = lowestAwaited != None;
        bool isNearlyThere = last - highest <= (long)NearSteps * options.DocumentsPerStep;

        // Each priority class has its own turns. With shared turns, the turns of the classes and those of the
        // positions could have the same period, and the low-priority index that lags most would never be fed.
        var turns = isTurnOfRest ? _positionTurnsOfRest : _positionTurns;
        int turn = turns.Next([
            isAwaited ? PreferredWeight : 0,
            isNearlyThere && !isAwaited ? RestWeight : 0,
            RestWeight,
        ]);
        return turn switch
        {
            AwaitedTurn => lowestAwaited,
            NearlyThereTurn => highest,
            _ => lowest,
        };
    }

    private static bool IsLagging(RunningIndex index, long last) =>
        index.Position > 0 && index.Position < last && IsFollowing(index);

    private bool IsAnyLaggingBelow(int rank, long last)
    {
        foreach (var index in _indexes)
        {
            if (index.Rank < rank && IsLagging(index, last))
            {
                return true;
            }
        }

        return false;
    }

    private int HighestRank(long last)
    {
        int highest = 0;
        foreach (var index in _indexes)
        {
            highest = IsLagging(index, last) ? Math.Max(highest, index.Rank) : highest;
        }

        return highest;
    }

    /// <summary>Feeds changes to the indexes of the group until a bound of the step is reached.</summary>
    /// <param name="position">Read the changes after this etag.</param>
    /// <param name="limit">Do not feed changes after this etag.</param>
    /// <param name="read">Number of changes read.</param>
    /// <returns>The etag through which the group is fed.</returns>
    private long FeedChanges(long position, long limit, out long read)
    {
        using var reader = database.OpenReader();
        using var changes = reader.SeekChanges(position);
        long fedThrough = position;
        long bytes = 0;
        for (read = 0; changes.MoveNext(); read++)
        {
            if (changes.Etag > limit)
            {
                return limit;
            }

            // A document that moved to another collection is two changes with the same etag, which must be in one step.
            if (
                changes.Etag != fedThrough
                && (
                    read >= options.DocumentsPerStep
                    || bytes >= options.BytesPerStep
                    || IndexBuild.IsFull(_group, _pendingBytes)
                )
            )
            {
                return fedThrough;
            }

            fedThrough = changes.Etag;
            if (changes.IsTombstone)
            {
                RemoveDocument(changes.Tombstone);
            }
            else
            {
                var view = changes.View;
                bytes += view.Content.Length;
                MarkDependents(view.Id, view.Collection);
                FeedDocument(view, fedThrough);
            }
        }

        return Math.Min(changes.Sequence, limit);
    }

    private void FeedDocument(in DocumentView view, long etag)
    {
        Span<byte> id = stackalloc byte[LowerNames.RoomBytes];
        Span<byte> collection = stackalloc byte[LowerNames.RoomBytes];
        var document = new QueriedDocument(view, etag, _historyId);
        var lowerId = LowerNames.Id(view.Id, id);
        var lowerCollection = LowerNames.Collection(view.Collection, collection);
        foreach (var index in _group)
        {
            if (index.Concerns(lowerCollection))
            {
                index.Feed(lowerId, document);
            }
        }
    }

    private void MarkDependents(ReadOnlySpan<byte> changedId, ReadOnlySpan<byte> changedCollection)
    {
        Span<byte> id = stackalloc byte[LowerNames.RoomBytes];
        Span<byte> collection = stackalloc byte[LowerNames.RoomBytes];
        var lowerId = LowerNames.Id(changedId, id);
        var lowerCollection = LowerNames.Collection(changedCollection, collection);
        foreach (var index in _group)
        {
            index.MarkDependents(lowerCollection, lowerId);
        }
    }

    private void RemoveDocument(Tombstone tombstone)
    {
        Span<byte> id = stackalloc byte[LowerNames.RoomBytes];
        var lowerId = LowerNames.Id(tombstone.Id, id);
        byte[] lowerCollection = LowerNames.Collection(tombstone.Collection);
        foreach (var index in _group)
        {
            index.MarkDependents(lowerCollection, lowerId);

            // If the document moved to another collection, it follows as a change with the same etag.
            if (index.Concerns(lowerCollection))
            {
                index.Remove(lowerId);
            }
        }
    }
}
