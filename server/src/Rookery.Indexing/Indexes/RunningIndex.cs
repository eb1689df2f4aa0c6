using System.Text;
using Rookery.Documents.Indexes;
using Rookery.Documents.Stored;
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
    private readonly IndexEntry _entry = new();
    private readonly EtagWaiters _waiters = new();
    private readonly FreshnessRequest _freshness;
    private readonly ProgressMeter _meter;
    private readonly TimeProvider _time;
    private readonly byte[][] _lowerCollections;
    private readonly DependentDocuments _dependents;

    // The etag to advance to after the dependent documents are fed.
    private long _reached;
    private long _visible;
    private long _position;
    private long _indexedOrFailed;
    private long _pendingSince;
    private long? _refusedAt;
    private long _lastIndexedTicks;
    private long _documentsLeft = -1;
    private bool _isPaused;
    private bool _isResetRequested;
    private string? _whyStopped;
    private string? _trouble;
    private IndexRecord _record;

    /// <summary>Creates an index that continues at the position stored in its store.</summary>
    /// <param name="record">The definition and settings of the index.</param>
    /// <param name="map">Maps a document to entries.</param>
    /// <param name="store">The store of the entries; disposed with the index.</param>
    /// <param name="time">The clock.</param>
    public RunningIndex(IndexRecord record, IIndexMap map, IIndexStore store, TimeProvider time)
    {
        (_record, Map, Store, _time) = (record, map, store, time);
        Fields = new IndexedFields(map.Fields);
        _lowerCollections = [.. map.Collections.Select(LowerNames.Collection)];
        _dependents = new DependentDocuments(store, map.LoadedCollections);
        _position = _visible = store.Watermark;
        _freshness = new FreshnessRequest(time);
        _meter = new ProgressMeter(time);
        _meter.Begin();
    }

    /// <summary>
    /// The definition and settings of the index. Setting it releases waiting tasks if the index is now disabled.
    /// </summary>
    public IndexRecord Record
    {
        get => Volatile.Read(ref _record);
        set
        {
            Volatile.Write(ref _record, value);
            ReleaseWaitersAtRest();
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
    /// The etag through which the results include changes. At most <see cref="Position"/>; 0 as soon as a rebuild is
    /// requested, so that no query uses the results of before.
    /// </summary>
    public long VisibleEtag => IsResetRequested ? 0 : Volatile.Read(ref _visible);

    /// <summary>Whether entries are buffered and not yet written.</summary>
    public bool HasPending => Store.PendingBytes > 0;

    /// <summary>
    /// Whether the disk refused to write the buffered entries. The index is not fed until they are written.
    /// </summary>
    public bool IsWriteBlocked => _refusedAt is not null;

    /// <summary>Documents that the first build has still to read; null if the index is not being built.</summary>
    public long? DocumentsLeft
    {
        get => Volatile.Read(ref _documentsLeft) is >= 0 and var documents ? documents : null;
        set => Volatile.Write(ref _documentsLeft, value ?? -1);
    }

    /// <summary>
    /// Whether the index is paused on this node. Setting it releases waiting tasks if the index now rests.
    /// </summary>
    public bool IsPaused
    {
        get => Volatile.Read(ref _isPaused);
        set
        {
            Volatile.Write(ref _isPaused, value);
            ReleaseWaitersAtRest();
        }
    }

    /// <summary>Whether a rebuild was requested.</summary>
    public bool IsResetRequested => Volatile.Read(ref _isResetRequested);

    /// <summary>When the index was last written; null if it was not written since the node started.</summary>
    public DateTimeOffset? LastIndexed =>
        Volatile.Read(ref _lastIndexedTicks) is not 0 and long ticks ? new DateTimeOffset(ticks, TimeSpan.Zero) : null;

    /// <summary>The last etag that was published to subscribers. Used by the indexing thread.</summary>
    public long PublishedEtag { get; set; }

    /// <summary>The position after which this stopped index lacks changes. Used by the indexing thread.</summary>
    public long LacksChangesAfter { get; set; }

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
    public IndexState State
    {
        get
        {
            if (Record.Settings.IsDisabled)
            {
                return IndexState.Disabled;
            }

            if (HasStopped)
            {
                return IndexState.Error;
            }

            if (IsPaused)
            {
                return IndexState.Paused;
            }

            return IndexState.Normal;
        }
    }

    /// <summary>The rank of the priority, 0 to 2. A higher rank gets more turns.</summary>
    public int Rank =>
        Record.Settings.Priority switch
        {
            IndexPriority.High => 2,
            IndexPriority.Normal => 1,
            _ => 0,
        };

    /// <summary>
    /// Whether a task waits for an etag that the results do not include yet, or a caller requested one.
    /// </summary>
    public bool IsAwaited => AwaitedEtag > VisibleEtag;

    /// <summary>The lowest etag that a task waits for or a caller requested; 0 without one.</summary>
    private long AwaitedEtag
    {
        get
        {
            long waited = _waiters.LeastEtag;
            if (_freshness.Etag is not { } requested || requested <= VisibleEtag || State != IndexState.Normal)
            {
                return waited;
            }

            return waited == 0 ? requested : Math.Min(waited, requested);
        }
    }

    /// <summary>Whether the index is closed. Callers that still wait look up its successor.</summary>
    public bool IsClosed => _waiters.IsClosed;

    /// <summary>
    /// Returns whether the index maps the documents of a collection, given lower-cased by <see cref="LowerNames"/>.
    /// </summary>
    public bool Concerns(ReadOnlySpan<byte> lowerCollection) =>
        _lowerCollections.Length == 0 || LowerNames.Contains(_lowerCollections, lowerCollection);

    /// <summary>Whether documents that loaded a changed document must be fed before the index advances.</summary>
    public bool HasDependents => _dependents.HasAny;

    /// <summary>
    /// Requests that the results soon include the changes through an etag, for a caller that does not wait but asks
    /// again. The request counts for a second. Thread-safe.
    /// </summary>
    public void RequestFreshness(long etag) => _freshness.Request(etag);

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
            Fail(Encoding.UTF8.GetString(document.View.Id), wrong.Message);
        }

        RecordPendingSince();
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
                // If a pass threw, changed documents were recorded without an advance. The position must not go back.
                AdvanceTo(Math.Max(_reached, Position), documentsRead: 0);
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
        RecordPendingSince();
        Store.Delete(lowerId);
    }

    /// <summary>
    /// Advances the position after everything through this etag was fed. A stopped index keeps its position.
    /// </summary>
    /// <param name="etag">The new position; not below the current one.</param>
    /// <param name="documentsRead">Number of documents and tombstones read for this advance.</param>
    public void AdvanceTo(long etag, long documentsRead)
    {
        Invariant.Holds(etag >= Position, "an index follows the documents forward");
        AddProgress(documentsRead);
        if (HasStopped)
        {
            return;
        }

        if (HasDependents)
        {
            _reached = etag;
            return;
        }

        Volatile.Write(ref _position, etag);
        if (!HasPending)
        {
            SetVisible(etag);
        }
    }

    /// <summary>Adds a number of read documents and tombstones to the progress.</summary>
    public void AddProgress(long documentsRead)
    {
        _meter.Add(documentsRead);
        _meter.Measure();
    }

    /// <summary>
    /// Returns whether <see cref="WriteBuffered"/> is due: the buffered entries are large or old, a task waits for
    /// them, or the position has advanced far without entries.
    /// </summary>
    /// <param name="bytes">Number of buffered bytes from which it is due.</param>
    /// <param name="age">Age of the oldest buffered entry, or of the last refused write, from which it is due.</param>
    /// <param name="etagsBetweenPositionWrites">Without buffered entries, the number of etags between the stored
    /// position (<see cref="IIndexStore.Watermark"/>) and the index's position from which it is due.</param>
    public bool IsWriteDue(long bytes, TimeSpan age, long etagsBetweenPositionWrites)
    {
        if (_refusedAt is { } refusedAt)
        {
            return _time.GetElapsedTime(refusedAt) >= age;
        }

        if (!HasPending)
        {
            // Only the position is written, so that a restart does not read many operations again.
            return Position > 0 && (Store.Watermark == 0 || Position - Store.Watermark >= etagsBetweenPositionWrites);
        }

        if (Store.PendingBytes >= bytes)
        {
            return true;
        }

        // A finished build is written at once. It happens only once, and clients that poll the statistics would
        // otherwise wait 5 s.
        return Position > 0
            && (
                Store.Watermark == 0
                || (IsAwaited && Position >= AwaitedEtag)
                || _time.GetElapsedTime(_pendingSince) >= age
            );
    }

    /// <summary>Writes the buffered entries. A write that the disk refuses is tried again later.</summary>
    public void WriteBuffered()
    {
        try
        {
            Store.Apply(Position);
        }
        catch (DiskException refused)
        {
            WaitAfterDiskError(refused);
            return;
        }
        catch (Exception damaged) when (IndexDamage.Is(damaged))
        {
            Rebuild(damaged);
            return;
        }

        _refusedAt = null;
        SetTrouble(null);
        Volatile.Write(ref _lastIndexedTicks, _time.GetUtcNow().UtcTicks);
        if (Position > 0)
        {
            SetVisible(Position);
        }
    }

    /// <summary>Merges some segments, if that is due.</summary>
    /// <returns>Whether there was work to do.</returns>
    public bool MergeOnce()
    {
        try
        {
            return Store.MergeOnce();
        }
        catch (DiskException refused)
        {
            WaitAfterDiskError(refused);
            return false;
        }
        catch (Exception damaged) when (IndexDamage.Is(damaged))
        {
            Rebuild(damaged);
            return true;
        }
    }

    /// <summary>Requests a rebuild because files are damaged. Thread-safe.</summary>
    public void Rebuild(Exception damaged)
    {
        SetTrouble($"The index is rebuilt: {damaged.Message}");
        RequestReset();
    }

    /// <summary>Sets the problem shown in the status, as a sentence; null for none.</summary>
    public void SetTrouble(string? trouble) => Volatile.Write(ref _trouble, trouble);

    /// <summary>Waits until the results include the changes through an etag.</summary>
    /// <param name="etag">The etag to reach.</param>
    /// <param name="timeout">The longest wait.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <param name="mayResume">Returns whether to wait although the index is paused, disabled or stopped. Called before
    /// and after the wait is registered.</param>
    /// <returns>Whether the etag is reached.</returns>
    public async Task<bool> WaitAsync(
        long etag,
        TimeSpan timeout,
        CancellationToken cancellationToken,
        Func<bool>? mayResume = null
    )
    {
        bool waitsAtRest = mayResume?.Invoke() is true;
        if (VisibleEtag >= etag || (State != IndexState.Normal && !waitsAtRest) || timeout <= TimeSpan.Zero)
        {
            return VisibleEtag >= etag;
        }

        var waiting = _waiters.Add(etag, () => VisibleEtag, waitsAtRest);
        try
        {
            // If the index came to rest before this task was registered, it has not released the task.
            return (State == IndexState.Normal || mayResume?.Invoke() is true)
                && await waiting.WaitAsync(timeout, _time, cancellationToken);
        }
        catch (TimeoutException)
        {
            return VisibleEtag >= etag;
        }
        finally
        {
            _waiters.Remove(waiting);
        }
    }

    /// <summary>If the index is at rest, completes the tasks that would wait in vain. Thread-safe.</summary>
    internal void ReleaseWaitersAtRest()
    {
        if (State != IndexState.Normal)
        {
            _waiters.Release(includesWaitersAtRest: HasStopped);
        }
    }

    /// <summary>Returns the status of the index.</summary>
    /// <param name="lastEtag">The etag through which an index that is up to date includes all changes.</param>
    /// <param name="documentsLeft">Documents still to read; null to estimate them from the etags.</param>
    public IndexStatus ReadStatus(long lastEtag, long? documentsLeft)
    {
        long visible = VisibleEtag;
        var progress = _meter.Read(documentsLeft ?? Math.Max(0, lastEtag - Position));
        return new IndexStatus
        {
            Record = Record,
            Collections = Map.Collections,
            LoadedCollections = Map.LoadedCollections,
            State = State,
            Trouble = Volatile.Read(ref _whyStopped) ?? Volatile.Read(ref _trouble),
            VisibleEtag = visible,
            LastEtag = lastEtag,
            IsResetRequested = IsResetRequested,
            IsReplacement = IsReplacement,
            Documents = Store.Documents,
            ErrorCount = Errors.Count,
            LastIndexed = LastIndexed,
            Progress = State == IndexState.Normal ? progress : progress with { TimeLeft = null },
        };
    }

    /// <summary>
    /// Closes the index. Entries that are not written are lost; their documents are fed again after the next start.
    /// </summary>
    public void Dispose()
    {
        _waiters.Close();
        Closing.Each<IDisposable?>([_dependents, Store, Map as IDisposable], static part => part?.Dispose());
    }

    private void WaitAfterDiskError(DiskException refused)
    {
        SetTrouble($"The index entries cannot be written: {refused.Message}");
        _refusedAt = _time.GetTimestamp();
    }

    private void RecordPendingSince()
    {
        if (!HasPending)
        {
            _pendingSince = _time.GetTimestamp();
        }
    }

    private void SetVisible(long etag)
    {
        Volatile.Write(ref _visible, etag);
        if (!IsResetRequested)
        {
            _waiters.Reach(etag);
        }
    }

    private void Fail(string documentId, string message)
    {
        Errors.Add(new IndexError(_time.GetUtcNow(), documentId, "Map", message));
        if (!HasStopped && FailedShare.WhyStopped(Errors.Count, _indexedOrFailed) is { } why)
        {
            Volatile.Write(ref _whyStopped, why);
            ReleaseWaitersAtRest();
            Stopped?.Invoke(this, why);
        }
    }
}
