using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;
using Rookery.Documents.Stored;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Search.Analysis;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// One index definition running on this node. The indexing thread feeds documents and writes the buffered entries; any
/// other thread may read the status, wait for an etag, pause the index and open snapshots.
/// </summary>
public sealed class RunningIndex : IDisposable
{
    // After this many interrupted passes in succession, queries also see an inconsistent state.
    private const int MaxInterruptedPasses = 2;

    private readonly IndexEntry _entry = new();
    private readonly ProgressMeter _meter;
    private readonly TimeProvider _time;
    private readonly byte[][] _lowerCollections;
    private readonly DependentDocuments _dependents;
    private readonly WriteSchedule _schedule;
    private readonly Func<long, bool> _hasReapplied;

    // The etag to advance to after the dependent documents are fed, and whether the index is then consistent.
    private long _reached;
    private bool _isReachedConsistent;
    private long _position;
    private long _indexedOrFailed;
    private long _failed;
    private DateTimeOffset? _lastWritten;
    private int _interruptedPasses; // since the index was last consistent
    private long _documentsLeft = -1;
    private bool _mayBeAhead;
    private bool _isResetRequested;
    private string? _whyStopped;
    private string? _trouble;
    private IndexRecord _record;

    /// <summary>Creates an index that continues at the position stored in its store.</summary>
    /// <param name="record">The definition and settings of the index.</param>
    /// <param name="map">Maps a document to entries.</param>
    /// <param name="store">The store of the entries; disposed with the index.</param>
    /// <param name="time">The clock.</param>
    /// <param name="hasReapplied">See <see cref="IndexHostOptions.HasReapplied"/>.</param>
    public RunningIndex(
        IndexRecord record,
        IIndexMap map,
        IIndexStore store,
        TimeProvider time,
        Func<long, bool> hasReapplied
    )
    {
        (_record, Map, Store, _time) = (record, map, store, time);
        Fields = new IndexedFields(map.Fields) { Named = map.Named };
        _lowerCollections = [.. map.Collections.Select(LowerNames.Collection)];
        _dependents = new DependentDocuments(store, map.LoadedCollections);
        _position = store.Watermark;
        _hasReapplied = hasReapplied;
        _mayBeAhead = store.Watermark > 0 && !hasReapplied(store.Watermark);
        IsConsistent = !_mayBeAhead;
        Visible = new VisibleState(store, time, isPartial: _mayBeAhead);
        _schedule = new WriteSchedule(time);
        Waits = new IndexWaits(this, time);
        _meter = new ProgressMeter(time);
        _meter.Begin();
    }

    /// <summary>The definition and settings. Setting it releases waiting tasks if the index is now disabled.</summary>
    public IndexRecord Record
    {
        get => Volatile.Read(ref _record);
        set
        {
            Volatile.Write(ref _record, value);
            Waits.ReleaseIfNotRunning();
        }
    }

    /// <summary>Maps a document to entries.</summary>
    public IIndexMap Map { get; }

    /// <summary>Maps fields to field numbers.</summary>
    public IndexedFields Fields { get; }

    /// <summary>The store of the entries.</summary>
    public IIndexStore Store { get; }

    /// <summary>The most recent errors of the index.</summary>
    public IndexErrors Errors { get; } = new();

    /// <summary>The etag through which the index was fed; 0 during its first build.</summary>
    public long Position => Volatile.Read(ref _position);

    /// <summary>
    /// The etag through which the results include changes. It is the end of a pass, and so never within a transaction,
    /// unless passes were interrupted. At most <see cref="Position"/>. 0 as soon as a rebuild is requested, so that no
    /// query uses the old results.
    /// </summary>
    public long VisibleEtag => IsResetRequested ? 0 : Visible.Published.Etag;

    /// <summary>
    /// As <see cref="VisibleEtag"/>; 0 also while the results include a part of a transaction. Callers that wait for
    /// the index wait for this etag.
    /// </summary>
    public long ConsistentEtag =>
        !IsResetRequested && Visible.Published is { IsPartial: false, Etag: var etag } ? etag : 0;

    /// <summary>
    /// Whether the index reflects exactly the documents of one snapshot of the database. False during a pass, and after
    /// an interrupted one. Used by the indexing thread.
    /// </summary>
    public bool IsConsistent { get; private set; }

    /// <summary>
    /// Whether the index may include changes that the documents lack. After a start, the files of an index contain what
    /// an earlier process applied, and this process may not have applied all of it again. Until it has, the index is
    /// not fed and not consistent. Used by the indexing thread.
    /// </summary>
    public bool MayBeAhead => _mayBeAhead && (_mayBeAhead = !_hasReapplied(Position));

    /// <summary>Whether entries are buffered and not yet written.</summary>
    public bool HasPending => Store.PendingBytes > 0;

    /// <summary>Whether the write of the buffered entries failed. The index is not fed until they are
    /// written.</summary>
    public bool IsWriteBlocked => _schedule.IsBlocked;

    /// <summary>Documents that the first build has still to read; null if the index is not being built.</summary>
    public long? DocumentsLeft
    {
        get => Volatile.Read(ref _documentsLeft) is >= 0 and var documents ? documents : null;
        set => Volatile.Write(ref _documentsLeft, value ?? -1);
    }

    /// <summary>Whether the index is paused on this node, alone or with its database.</summary>
    public bool IsPaused => Pause.IsPaused;

    internal IndexPause Pause { get; init; } = new(new DatabasePause());

    /// <summary>
    /// Pauses or resumes the index; null makes it follow its database. Releases waiting tasks if it no longer runs.
    /// </summary>
    public void SetPaused(bool? isPaused)
    {
        Pause.Set(isPaused);
        Waits.ReleaseIfNotRunning();
    }

    /// <summary>Whether a rebuild was requested.</summary>
    public bool IsResetRequested => Volatile.Read(ref _isResetRequested);

    /// <summary>When the results were written; null if they were written before the node started.</summary>
    public DateTimeOffset? LastIndexed => Visible.Published.LastIndexed;

    /// <summary>Number of documents in the results.</summary>
    public long Documents => Visible.Documents;

    /// <summary>The last etag that was published to subscribers. Used by the indexing thread.</summary>
    public long PublishedEtag { get; set; }

    /// <summary>The position after which this stopped index lacks changes. Used by the indexing thread.</summary>
    public long LacksChangesAfter { get; set; }

    /// <summary>Whether the index waits because a counter is unreadable. Used by the indexing thread.</summary>
    public bool AwaitsCounters { get; set; }

    /// <summary>Whether the index is being built to replace the serving index of the same name.</summary>
    public bool IsReplacement { get; set; }

    /// <summary>The class in which the index counts in the node's quota; used by the indexing thread.</summary>
    public IndexPlace Place { get; set; }

    /// <summary>
    /// Called once with the reason, in a sentence, when the index stops because too many documents fail.
    /// </summary>
    public Action<RunningIndex, string>? Stopped { get; init; }

    /// <summary>
    /// Whether the index stopped because too many documents failed. It starts again when it is next opened, because the
    /// documents may have been corrected.
    /// </summary>
    public bool HasStopped => Volatile.Read(ref _whyStopped) is not null;

    /// <summary>Whether the index runs, and if not, why.</summary>
    public IndexState State =>
        Record.Settings.IsDisabled ? IndexState.Disabled
        : HasStopped ? IndexState.Error
        : IsPaused ? IndexState.Paused
        : IndexState.Normal;

    /// <summary>The rank of the priority, 0 to 2. A higher rank gets more turns.</summary>
    public int Rank =>
        Record.Settings.Priority switch
        {
            IndexPriority.High => 2,
            IndexPriority.Normal => 1,
            _ => 0,
        };

    /// <summary>The callers that wait until the results include the changes through an etag. Thread-safe.</summary>
    public IndexWaits Waits { get; }

    /// <summary>Whether a caller waits for an etag that the results do not include yet.</summary>
    public bool IsAwaited => Waits.AwaitedEtag > ConsistentEtag;

    /// <summary>
    /// Returns whether the index maps the documents of a collection, given lower-cased by <see cref="LowerNames"/>.
    /// </summary>
    public bool Concerns(ReadOnlySpan<byte> lowerCollection) =>
        _lowerCollections.Length == 0 || LowerNames.Contains(_lowerCollections, lowerCollection);

    /// <summary>Whether documents that loaded a changed document must be fed before the index advances.</summary>
    public bool HasDependents => _dependents.HasAny;

    /// <summary>Requests a rebuild, which the indexing thread carries out.</summary>
    public void RequestReset() => Volatile.Write(ref _isResetRequested, true);

    /// <summary>Indexes the newest version of a document.</summary>
    public void Feed(ReadOnlySpan<byte> lowerId, in QueriedDocument document)
    {
        // The index stopped earlier in this step. Its position stays before this document.
        if (HasStopped)
        {
            return;
        }

        _entry.Clear();
        _indexedOrFailed++;
        try
        {
            Map.Map(document, _entry);
        }
        catch (Exception wrong) when (wrong is IndexEntryException or StoredDocumentException or AnalyzerException)
        {
            // The entry of the document's older version is outdated, so it is removed.
            _entry.ClearContent();
            Map.MarkUnheld(_entry);
            Fail(Encoding.UTF8.GetString(document.View.Id), wrong.Message);
        }

        IsConsistent = false;
        _schedule.RecordChange();
        if (_entry.IsEmpty)
        {
            Store.Delete(lowerId);
        }
        else
        {
            Store.Put(lowerId, document.Etag, _entry);
        }
    }

    /// <summary>
    /// Records that a document changed or was deleted, so that documents which loaded it are fed again.
    /// </summary>
    public void MarkDependents(ReadOnlySpan<byte> lowerCollection, ReadOnlySpan<byte> lowerId) =>
        _dependents.AddChanged(lowerCollection, lowerId);

    /// <summary>
    /// Feeds some of the documents that loaded a changed document. After the last of them, the index advances to the
    /// etag that was last passed to <see cref="AdvanceTo"/>.
    /// </summary>
    /// <param name="documents">Maximum documents to feed.</param>
    /// <param name="feed">Feeds the document of an id, if it exists. Returns whether more may be fed now. If it throws,
    /// it is called with the same id again.</param>
    public void FeedDependents(int documents, Func<byte[], bool> feed)
    {
        _schedule.RecordAdvance();
        for (int fed = 0; fed < documents; fed++)
        {
            byte[]? dependent;
            try
            {
                dependent = _dependents.Peek();
            }
            catch (Exception damaged) when (IndexDamage.Is(damaged))
            {
                Rebuild(damaged);
                return;
            }

            if (dependent is null)
            {
                // If feeding threw, changed documents were recorded without an advance, so _reached may be older. The
                // position must not decrease.
                AdvanceTo(Math.Max(_reached, Position), documentsRead: 0, _isReachedConsistent);
                _isReachedConsistent = false;
                return;
            }

            bool mayFeedMore = feed(dependent);
            _dependents.Skip();
            if (!mayFeedMore)
            {
                return;
            }
        }
    }

    /// <summary>Removes a document.</summary>
    public void Remove(ReadOnlySpan<byte> lowerId)
    {
        IsConsistent = false;
        _schedule.RecordChange();
        Store.Delete(lowerId);
    }

    /// <summary>
    /// Advances the position after everything through this etag was fed. A stopped index keeps its position.
    /// </summary>
    /// <param name="etag">The new position; not below the current one.</param>
    /// <param name="documentsRead">Number of documents and tombstones read for this advance.</param>
    /// <param name="isConsistent">Whether everything in the snapshot that was read is fed.</param>
    public void AdvanceTo(long etag, long documentsRead, bool isConsistent)
    {
        Invariant.Holds(etag >= Position, "an index follows the documents forward");
        _schedule.RecordAdvance();
        AddProgress(documentsRead);
        if (HasStopped)
        {
            return;
        }

        if (HasDependents)
        {
            (_reached, _isReachedConsistent) = (etag, isConsistent);
            return;
        }

        IsConsistent = isConsistent;
        if (isConsistent)
        {
            Visible.SetNextDocuments(Pass);
        }

        Volatile.Write(ref _position, etag);
        if (isConsistent && !HasPending)
        {
            SetVisible(etag);
        }
    }

    /// <summary>
    /// Records that the snapshot of the pass was released before the pass ended. So the remaining dependent documents
    /// will be read from a newer snapshot, and the index is not consistent afterwards.
    /// </summary>
    public void RecordInterruption() => _isReachedConsistent = false;

    /// <summary>Counts a pass that was interrupted: its snapshot was released before its end.</summary>
    public void CountInterruptedPass() => _interruptedPasses++;

    /// <summary>
    /// The last operation number in the newest snapshot that the index was fed from, also during its build. The index
    /// must not read an older snapshot.
    /// </summary>
    internal long LastRead { get; private set; }

    /// <summary>Records that the index is fed from a snapshot with this last operation number.</summary>
    internal void RecordRead(long sequence) => LastRead = Math.Max(LastRead, sequence);

    /// <summary>
    /// If an older state is kept open for queries, and too many passes were interrupted or the disk has no room, makes
    /// the written entries visible instead. The new state is stale.
    /// </summary>
    internal void MakeWrittenVisible(bool hasRoom)
    {
        bool areAllWritten = !HasPending && !IsWriteBlocked;
        long etag = areAllWritten ? Position : Store.Watermark;
        if (Visible.IsKept && (!hasRoom || (MayBecomeVisible && areAllWritten)) && etag >= Visible.Published.Etag)
        {
            Visible.Advance(etag, isPartial: !IsConsistent || !areAllWritten, _lastWritten);
        }
    }

    /// <summary>Sets the snapshot that the map loads documents from; null for the newest one.</summary>
    public void LoadFrom(DatabaseReader? snapshot) => (Map as StaticIndexMap)?.LoadSource = snapshot;

    /// <summary>Adds a number of read documents and tombstones to the progress.</summary>
    public void AddProgress(long documentsRead)
    {
        _meter.Add(documentsRead);
        _meter.Measure();
    }

    /// <summary>
    /// Returns whether <see cref="WriteBuffered"/> is due: the buffered entries are large or old, a task waits for them
    /// and the index is consistent, or the position has advanced far without entries.
    /// </summary>
    /// <param name="bytes">Number of buffered bytes from which it is due.</param>
    /// <param name="age">Age of the oldest buffered entry, or of the last failed write, from which it is due.</param>
    /// <param name="etagsBetweenPositionWrites">Without buffered entries, the number of etags between the stored
    /// position (<see cref="IIndexStore.Watermark"/>) and the index's position from which it is due.</param>
    public bool IsWriteDue(long bytes, TimeSpan age, long etagsBetweenPositionWrites)
    {
        if (IsWriteBlocked)
        {
            return _schedule.IsRetryDue(age);
        }

        if (!HasPending)
        {
            // Only the position is written, so that a restart does not read many operations again.
            return Position > 0 && (Store.Watermark == 0 || Position - Store.Watermark >= etagsBetweenPositionWrites);
        }

        // A finished build is written at once. It happens only once, and clients that poll the statistics would
        // otherwise wait 5 s.
        return Store.PendingBytes >= bytes
            || (Position > 0 && Store.Watermark == 0)
            || (Position > 0 && IsConsistent && (Visible.IsKept || (IsAwaited && Position >= Waits.AwaitedEtag)))
            || (Position > 0 && _schedule.IsAgeDue(age, MayBecomeVisible));
    }

    /// <summary>
    /// Writes the buffered entries. Queries see them if the index is consistent, or if too many passes were
    /// interrupted: then an inconsistent state is better than one that never advances. A failed write is tried again
    /// later.
    /// </summary>
    public void WriteBuffered()
    {
        if (TryOnDisk(Write) is null)
        {
            return;
        }

        _schedule.RecordWrite();
        SetTrouble(null);
        _lastWritten = _time.GetUtcNow();
        if (Position > 0 && MayBecomeVisible)
        {
            SetVisible(Position);
        }

        bool Write()
        {
            if (HasPending)
            {
                Visible.Keep();
            }

            Store.Apply(Position);
            return true;
        }
    }

    /// <summary>Opens the state that queries search. Thread-safe.</summary>
    /// <exception cref="ObjectDisposedException">The index was closed, because another replaces it or the node
    /// stops.</exception>
    public IndexSnapshot OpenSnapshot() => Visible.Open(out _);

    /// <inheritdoc cref="VisibleState.Open(out PublishedIndex)"/>
    public IndexSnapshot OpenSnapshot(out PublishedIndex published) => Visible.Open(out published);

    /// <inheritdoc cref="VisibleState.Open(out PublishedIndex, out DatabaseReader?)"/>
    public IndexSnapshot OpenSnapshot(out PublishedIndex published, out DatabaseReader? documents) =>
        Visible.Open(out published, out documents);

    /// <summary>The state that queries search.</summary>
    internal VisibleState Visible { get; }

    /// <summary>The snapshot that a pass of the index reads; null between passes.</summary>
    internal PassSnapshot? Pass { get; set; }

    /// <summary>Merges some segments, if a merge is due.</summary>
    /// <returns>Whether there was work to do.</returns>
    public bool MergeOnce() => !Visible.IsKept && (TryOnDisk(Store.MergeOnce) ?? IsResetRequested);

    /// <summary>Requests a rebuild because files are damaged. Thread-safe.</summary>
    public void Rebuild(Exception damaged)
    {
        SetTrouble($"The index is rebuilt: {damaged.Message}");
        RequestReset();
    }

    /// <summary>Sets the problem shown in the status, as a sentence; null for none.</summary>
    public void SetTrouble(string? trouble) => Volatile.Write(ref _trouble, trouble);

    /// <summary>Returns the status of the index.</summary>
    /// <param name="lastEtag">The etag through which an index that is up to date includes all changes.</param>
    /// <param name="documentsLeft">Documents still to read; null to estimate them from the etags.</param>
    public IndexStatus ReadStatus(long lastEtag, long? documentsLeft) =>
        IndexStatus.Of(
            this,
            lastEtag,
            _meter.Read(documentsLeft ?? Math.Max(0, lastEtag - Position)),
            Volatile.Read(ref _whyStopped) ?? Volatile.Read(ref _trouble)
        );

    /// <summary>
    /// Closes the index. Entries that are not written are lost; their documents are fed again after the next start.
    /// </summary>
    public void Dispose()
    {
        Waits.Close();
        Closing.Each<IDisposable?>([_dependents, Visible, Store, Map as IDisposable], static part => part?.Dispose());
    }

    /// <summary>Does work on the files. Null if a disk operation failed, or if files are damaged.</summary>
    private bool? TryOnDisk(Func<bool> work)
    {
        try
        {
            return work();
        }
        catch (DiskException refused)
        {
            SetTrouble($"The index entries cannot be written: {refused.Message}");
            _schedule.RecordFailure();
        }
        catch (Exception damaged) when (IndexDamage.Is(damaged))
        {
            Rebuild(damaged);
        }

        return null;
    }

    // Whether queries see what is written now.
    private bool MayBecomeVisible => IsConsistent || _interruptedPasses >= MaxInterruptedPasses;

    private void SetVisible(long etag)
    {
        _interruptedPasses = IsConsistent ? 0 : _interruptedPasses;
        Visible.Advance(etag, isPartial: !IsConsistent, _lastWritten);
        _schedule.RecordVisible();
        if (IsConsistent && !IsResetRequested)
        {
            Waits.Reach(etag);
        }
    }

    private void Fail(string documentId, string message)
    {
        Errors.Add(new IndexError(_time.GetUtcNow(), documentId, "Map", message));
        _failed++;
        if (!HasStopped && FailedShare.WhyStopped(_failed, Math.Max(_indexedOrFailed, Store.Documents)) is { } why)
        {
            Volatile.Write(ref _whyStopped, why);
            Waits.ReleaseIfNotRunning();
            Stopped?.Invoke(this, why);
        }
    }
}
