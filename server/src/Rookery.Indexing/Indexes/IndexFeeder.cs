using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Stored;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Scheduling;
using Rookery.Storage;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// Feeds documents to the indexes of one database in small steps. A new index is first fed all documents, then the
/// changes. A pass reads the changes from one snapshot until the index has been fed all of them. Indexes at the same
/// etag share a pass. A lagging index is fed up to the position of the next index and then joins its pass. A map may
/// load further documents. When a loaded document changes, its dependents are fed again: the documents that loaded it.
/// Not thread-safe.
/// </summary>
public sealed class IndexFeeder
{
    private const int PreferredWeight = PositionTurns.PreferredWeight;
    private const int RestWeight = PositionTurns.RestWeight;

    // The kinds of work that take turns (FeedInTurn); the third is to build.
    private const int DependentsTurn = 0;
    private const int ChangesTurn = 1;
    private readonly WeightedTurns _workTurns = new(kinds: 3);

    private readonly WeightedTurns _buildTurns = new(kinds: 2);
    private readonly PositionTurns _positionTurns;

    private readonly List<RunningIndex> _indexes = [];
    private readonly List<IndexBuild> _builds = [];
    private readonly List<RunningIndex> _group = []; // the indexes that the current step feeds
    private readonly FedGroup _fed;
    private readonly PassSnapshots _passes;
    private readonly Database _database;
    private readonly IndexFeederOptions _options;
    private readonly TimeProvider _time;
    private long _pendingBytes;
    private long? _damagedAt;
    private long? _countersDamagedAt; // when feeding of indexes over counters was paused
    private bool _isMerging; // builds wait for a merge
    private RunningIndex? _lastIndexWithDependents;

    /// <summary>Creates a feeder without indexes.</summary>
    /// <param name="database">The database.</param>
    /// <param name="options">The bounds of a step.</param>
    /// <param name="time">The clock.</param>
    public IndexFeeder(Database database, IndexFeederOptions options, TimeProvider time)
    {
        (_database, _options, _time) = (database, options, time);
        _positionTurns = new PositionTurns(options.DocumentsPerStep);
        _passes = new PassSnapshots(database);
        _fed = new FedGroup(_group, Encoding.ASCII.GetBytes(database.HistoryId));
    }

    /// <summary>
    /// Documents and tombstones read. A document that is fed to several indexes in the same pass counts once.
    /// </summary>
    public long DocumentsRead { get; private set; }

    /// <summary>Whether an index has buffered entries that are not written, or whose write failed.</summary>
    public bool HasPending => _indexes.Exists(static index => index.HasPending || index.IsWriteBlocked);

    /// <summary>Whether indexes hold snapshots of the database for queries, which are to be released soon.</summary>
    public bool HoldsDocuments => _indexes.Exists(static index => index.Visible.HoldsDocuments);

    /// <summary>
    /// Whether feeding of some indexes pauses because a document or counter cannot be read. Reading it is tried again
    /// later.
    /// </summary>
    public bool IsPausedByDamage => (_damagedAt ?? _countersDamagedAt) is not null;

    /// <summary>Adds an index. An empty one is built first.</summary>
    public void Add(RunningIndex index) => _indexes.Add(index);

    /// <summary>Stops feeding an index.</summary>
    public void Remove(RunningIndex index)
    {
        _indexes.Remove(index);
        _passes.Release(index);
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
        ReleaseInterruptedPasses();
        _indexes.ForEach(static index => index.Visible.ReleaseOldDocuments());
        _isMerging = _indexes.Exists(static index => index.Store.NeedsMerge && MergeOnce(index));
        bool worked = _isMerging | (!IsStillPaused() && FeedOrPause());
        StoppedIndexes.AdvanceOverOperationsWithoutDocuments(_database, _indexes);
        foreach (var index in _indexes)
        {
            if (index.IsWriteDue(pendingBytes, _options.PendingAge, _options.EtagsBetweenPositionWrites))
            {
                index.WriteBuffered();
                worked = true;
            }
        }

        if (worked)
        {
            return true;
        }

        InterruptPasses();
        return _indexes.Exists(MergeOnce);
    }

    /// <summary>
    /// Interrupts all passes, because feeding pauses: releases their snapshots. They continue in newer snapshots. Also
    /// releases old snapshots that indexes hold for queries. If too many passes of an index were interrupted, lets
    /// queries see its written entries, and releases the older state that queries used so far.
    /// </summary>
    /// <param name="hasRoom">Whether the disk has room. Without room no pass can end, so the older states are released
    /// at once, because their files take room.</param>
    public void InterruptPasses(bool hasRoom = true)
    {
        _indexes.ForEach(static index => index.Visible.ReleaseOldDocuments());
        if (_passes.Count > 0)
        {
            foreach (var index in _indexes.Where(static index => index.Pass is not null))
            {
                ReleasePass(index);
                index.CountInterruptedPass();
            }
        }

        _indexes.ForEach(index => index.MakeWrittenVisible(hasRoom));
    }

    private static bool MergeOnce(RunningIndex index) =>
        index.State == IndexState.Normal && !index.IsWriteBlocked && index.MergeOnce();

    private static bool IsRunning(RunningIndex index) =>
        index is { State: IndexState.Normal, IsResetRequested: false, IsWriteBlocked: false }
        && index is { AwaitsCounters: false, MayBeAhead: false };

    /// <summary>Returns whether an index may be fed changes now.</summary>
    internal static bool IsFollowing(RunningIndex index) => IsRunning(index) && !index.HasDependents;

    // Releases the snapshots of stopped indexes, and those that the node has ended.
    private void ReleaseInterruptedPasses()
    {
        if (_passes.Count > 0)
        {
            foreach (var index in _indexes)
            {
                bool isInterrupted = index.Pass is { IsEnded: true };
                if (isInterrupted || !IsRunning(index))
                {
                    ReleasePass(index);
                }

                if (isInterrupted)
                {
                    index.CountInterruptedPass();
                }
            }
        }
    }

    private void ReleasePass(RunningIndex index)
    {
        if (_passes.Release(index))
        {
            index.RecordInterruption();
        }
    }

    private bool IsStillPaused()
    {
        if (_countersDamagedAt is { } pausedAt && _time.GetElapsedTime(pausedAt) >= _options.RestAfterDamage)
        {
            _countersDamagedAt = null;
            _indexes.ForEach(static index => index.AwaitsCounters = false);
        }

        if (_damagedAt is { } damagedAt && _time.GetElapsedTime(damagedAt) < _options.RestAfterDamage)
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
            // Only counter indexes read counters, so only they wait. Another index finds an unreadable document itself.
            bool mayBeCounter = _fed.ReadsCounters;
            foreach (var index in _group.Where(index => !mayBeCounter || index.Map.ReadsCounters))
            {
                index.AwaitsCounters = mayBeCounter;
                index.SetTrouble(
                    $"The index waits, because the next document{(mayBeCounter ? " or counter" : "")} is unreadable. "
                        + unreadable.Message
                );
            }

            if (mayBeCounter)
            {
                _countersDamagedAt = _time.GetTimestamp();
                return true;
            }

            _damagedAt = _time.GetTimestamp();
            return false;
        }
    }

    /// <summary>
    /// Does one of three kinds of work: feeds dependent documents, follows changes, or builds. Weights keep each of
    /// them from starving.
    /// </summary>
    private bool FeedInTurn()
    {
        _group.Clear();
        var withDependents = NextIndexWithDependents();
        Span<int> weights =
        [
            withDependents is null ? 0 : WeightOf(withDependents.IsAwaited),
            WeightOf(_indexes.Exists(static index => index.IsAwaited && index.Position > 0)),
            _isMerging ? 0 : RestWeight,
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
        var reader = _passes.Take(_group, mayRenew: false).Reader;
        using (new LoadSource(_group, reader))
        {
            long bytes = 0;
            index.FeedDependents(
                _options.DocumentsPerStep,
                id =>
                {
                    bytes += RefeedDocument(reader, id);
                    return bytes < _options.BytesPerStep && !IndexBuild.IsFull(_group, _pendingBytes);
                }
            );
        }

        CompletePasses();
        return true;
    }

    // Skips a document that was deleted meanwhile. A later step reads its tombstone.
    private long RefeedDocument(in DatabaseReader reader, byte[] id)
    {
        if (!reader.TryGetDocument(id, out var document))
        {
            return 0;
        }

        using (document)
        {
            DocumentsRead++;
            _fed.Feed(document.View, document.Etag);
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
        bool isConsistent = false;
        try
        {
            if (StepBuild(build))
            {
                // If nothing was written since the build began, the indexes reflect the newest snapshot. Otherwise a
                // pass follows. If the snapshot cannot be read now, the next step tries to complete the build again.
                isConsistent = _passes.Take(build.Indexes, mayRenew: false).LastEtag <= build.StartEtag;
                isComplete = true;
            }
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
            build.Indexes.ForEach(index => index.AdvanceTo(build.StartEtag, documentsRead: 0, isConsistent));
            CompletePasses();
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
            _builds.Add(new IndexBuild(_database, unbuilt));
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
    /// Chooses the build to continue: in some turns among the builds of the highest priority, in the others among all.
    /// Chooses the first of them in the list, because it has waited longest.
    /// </summary>
    private IndexBuild? ChooseBuild()
    {
        int highest = _builds.Where(static build => IsRunning(build.Indexes[0])).Select(RankOf).DefaultIfEmpty().Max();
        bool isTurnOfHighest = _buildTurns.Next([PreferredWeight, RestWeight]) == PositionTurns.HighestTurn;
        int lowestRank = isTurnOfHighest ? highest : 0;
        return _builds.Find(build => IsRunning(build.Indexes[0]) && RankOf(build) >= lowestRank);
    }

    /// <summary>Does one step of a build of several indexes.</summary>
    /// <returns>Whether the build is complete.</returns>
    private bool StepBuild(IndexBuild build)
    {
        _group.Clear();
        _group.AddRange(build.Indexes);
        bool isComplete = build.Step(_options, _pendingBytes, out long read);
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
        long last = _database.LastEtag;
        long? next = _positionTurns.Next(_indexes, last);
        if (next is not { } position)
        {
            return false;
        }

        _group.Clear();
        _group.AddRange(_indexes.Where(index => index.Position == position && IsFollowing(index)));
        if (_group.Count == 0)
        {
            // The indexes at this position were paused or reset meanwhile. The next step chooses another position.
            return true;
        }

        long limit = _indexes
            .Where(index => index.Position > position && IsRunning(index))
            .Select(static index => index.Position)
            .DefaultIfEmpty(long.MaxValue)
            .Min();
        var pass = _passes.Take(_group, mayRenew: true);
        if (pass.TombstoneHorizon > position)
        {
            // Tombstones after this position were already removed, so the indexes may have missed deletions.
            _group.ForEach(static index => index.RequestReset());
            return true;
        }

        var (newPosition, isConsistent) = FeedChanges(pass.Reader, position, limit, out long read);
        DocumentsRead += read;
        _group.ForEach(index => index.AdvanceTo(newPosition, read, isConsistent));
        CompletePasses();
        return true;
    }

    private void CompletePasses()
    {
        foreach (var index in _group)
        {
            if (index is { IsConsistent: true, HasDependents: false })
            {
                ReleasePass(index);
            }
        }
    }

    /// <summary>Feeds changes to the indexes of the group until a bound of the step is reached.</summary>
    /// <param name="reader">The snapshot of the pass.</param>
    /// <param name="position">Read the changes after this etag.</param>
    /// <param name="limit">Do not feed changes after this etag.</param>
    /// <param name="read">Number of changes read.</param>
    /// <returns>The etag through which the group is fed, and whether all changes in the snapshot are fed.</returns>
    private (long Position, bool IsConsistent) FeedChanges(
        in DatabaseReader reader,
        long position,
        long limit,
        out long read
    )
    {
        using var loads = new LoadSource(_group, reader);
        using var changes = reader.SeekChanges(position, _fed.ReadsCounters);
        HashSet<string> fedForCounters = new(StringComparer.Ordinal); // ids
        long fedThrough = position;
        long bytes = 0;
        int passed = 0; // moves of the cursor without a change to feed (ChangeCursor.IsPassed)
        for (read = 0; changes.MoveNext(); )
        {
            if (changes.Etag > limit)
            {
                return (limit, false);
            }

            // A document that moved to another collection causes two changes with the same etag. Both must be in one
            // step, because the next step reads the changes after an etag.
            if (
                changes.Etag != fedThrough
                && (
                    read + passed >= _options.DocumentsPerStep
                    || bytes >= _options.BytesPerStep
                    || IndexBuild.IsFull(_group, _pendingBytes)
                )
            )
            {
                return (fedThrough, false);
            }

            fedThrough = changes.Etag;
            if (changes.IsPassed)
            {
                passed++;
                continue;
            }

            read++;
            if (changes.IsTombstone)
            {
                _fed.Remove(changes.Tombstone);
            }
            else if (changes.IsCounter)
            {
                // The snapshot has the newest values of all counters of the document, so one feeding includes them.
                bytes += changes.View.Content.Length;
                if (fedForCounters.Add(Encoding.UTF8.GetString(changes.View.Id)))
                {
                    _fed.Feed(changes.View, changes.DocumentEtag, onlyCounters: true);
                }
            }
            else
            {
                var view = changes.View;
                bytes += view.Content.Length;
                _fed.MarkDependents(view);
                _fed.Feed(view, fedThrough);
            }
        }

        return (Math.Max(position, Math.Min(changes.Sequence, limit)), true);
    }
}
