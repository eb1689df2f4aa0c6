using System.Text;
using Rookery.Documents.Indexes;
using Rookery.Documents.Stored;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Search.Analysis;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Store;
using Rookery.Storage;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// One definition of an index at work on this node. The thread that indexes feeds it and applies what it gathered; any
/// other may ask how it is, wait for it, pause it and read what it holds.
/// </summary>
public sealed class RunningIndex : IDisposable
{
    // Until so many documents were looked at, one that fails says nothing of the others.
    private const int JudgedFrom = 100;
    private const int MostFailedPercent = 15;

    private readonly IndexEntry _entry = new();
    private readonly EtagWaiters _waiters = new();
    private readonly ProgressMeter _meter;
    private readonly TimeProvider _time;
    private readonly byte[][] _lowerCollections;
    private readonly byte[][] _lowerLoaded;
    private readonly List<ChangedLoad> _changedLoads = [];
    private IEnumerator<byte[]>? _dependents;
    private byte[]? _dependent;
    private long _reached;
    private long _visible;
    private long _position;
    private long _looked;
    private long _pendingSince;
    private long? _refusedAt;
    private long _lastIndexedTicks;
    private long _documentsLeft = -1;
    private bool _isPaused;
    private bool _isResetAsked;
    private string? _whyStopped;
    private string? _trouble;
    private IndexRecord _record;

    /// <summary>Begins where the store ends.</summary>
    /// <param name="record">The definition, and how the index is kept.</param>
    /// <param name="map">What it holds of each document.</param>
    /// <param name="store">Its store.</param>
    /// <param name="time">The clock.</param>
    public RunningIndex(IndexRecord record, IIndexMap map, IIndexStore store, TimeProvider time)
    {
        (_record, Map, Store, _time) = (record, map, store, time);
        Fields = new IndexedFields(map.Fields);
        _lowerCollections = [.. map.Collections.Select(LowerNames.Collection)];
        _lowerLoaded = [.. map.LoadedCollections.Select(LowerNames.Collection)];
        _position = _visible = store.Watermark;
        _meter = new ProgressMeter(time);
        _meter.Begin();
    }

    /// <summary>The definition, and how the index is kept.</summary>
    public IndexRecord Record
    {
        get => Volatile.Read(ref _record);
        set
        {
            Volatile.Write(ref _record, value);
            SendAwayAtRest();
        }
    }

    /// <summary>What it holds of each document.</summary>
    public IIndexMap Map { get; }

    /// <summary>Maps fields to field numbers.</summary>
    public IndexedFields Fields { get; }

    /// <summary>Its store.</summary>
    public IIndexStore Store { get; }

    /// <summary>The documents it could not take.</summary>
    public IndexErrors Errors { get; } = new();

    /// <summary>The etag through which it was fed; 0 while it is built.</summary>
    public long Position => Volatile.Read(ref _position);

    /// <summary>The etag through which its answers follow the documents.</summary>
    public long VisibleEtag => Volatile.Read(ref _visible);

    /// <summary>Whether it was fed what was not applied yet.</summary>
    public bool HasPending => Store.PendingBytes > 0;

    /// <summary>Whether one of these has gathered as much as an index may before it writes.</summary>
    /// <param name="indexes">The indexes.</param>
    /// <param name="pendingBytes">How much that is.</param>
    internal static bool IsFull(List<RunningIndex> indexes, long pendingBytes)
    {
        foreach (var index in indexes)
        {
            if (index.Store.PendingBytes >= pendingBytes)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Whether the disk refused what it was fed: until that is written it takes no more.</summary>
    public bool IsHeldUp => _refusedAt is not null;

    /// <summary>Documents that its first walk has still to look at; null when it does not walk.</summary>
    public long? DocumentsLeft
    {
        get => Volatile.Read(ref _documentsLeft) is >= 0 and var left ? left : null;
        set => Volatile.Write(ref _documentsLeft, value ?? -1);
    }

    /// <summary>Whether it follows nothing on this node until it is resumed.</summary>
    public bool IsPaused
    {
        get => Volatile.Read(ref _isPaused);
        set
        {
            Volatile.Write(ref _isPaused, value);
            SendAwayAtRest();
        }
    }

    /// <summary>Whether somebody asked that it be built from the beginning.</summary>
    public bool IsResetAsked => Volatile.Read(ref _isResetAsked);

    /// <summary>When it last took something; null when it did not since the node started.</summary>
    public DateTimeOffset? LastIndexed =>
        Volatile.Read(ref _lastIndexedTicks) is not 0 and long ticks ? new DateTimeOffset(ticks, TimeSpan.Zero) : null;

    /// <summary>The etag of which those who listen were told; kept by the thread that indexes.</summary>
    public long ToldEtag { get; set; }

    /// <summary>Whether it is built beside another of its name, whose place it is to take.</summary>
    public bool IsReplacement { get; set; }

    /// <summary>What it counts as among the indexes of the node; kept by the thread that indexes.</summary>
    public IndexPlace Place { get; set; }

    /// <summary>Told once, in a sentence, why it stopped: because it cannot take too many of the documents.</summary>
    public Action<RunningIndex, string>? Stopped { get; init; }

    /// <summary>
    /// Whether it stopped because it cannot take too many of the documents. Until it is opened again: then it may have
    /// been the documents that were mended.
    /// </summary>
    public bool HasStopped => Volatile.Read(ref _whyStopped) is not null;

    /// <summary>What it does.</summary>
    public IndexState State =>
        Record.Settings.IsDisabled ? IndexState.Disabled
        : HasStopped ? IndexState.Error
        : IsPaused ? IndexState.Paused
        : IndexState.Normal;

    /// <summary>Its place among others that have work to do: the higher, the more turns.</summary>
    public int Rank =>
        Record.Settings.Priority switch
        {
            IndexPriority.High => 2,
            IndexPriority.Normal => 1,
            _ => 0,
        };

    /// <summary>Whether somebody waits for something that it has not shown yet.</summary>
    public bool IsAwaited => _waiters.Least > VisibleEtag;

    /// <summary>Whether it was ended: what waited for it waits for the one that takes its place.</summary>
    public bool IsClosed => _waiters.IsClosed;

    /// <summary>
    /// Whether a document of this collection, lower-cased as <see cref="LowerNames"/> does, is among those that it is
    /// of.
    /// </summary>
    public bool Concerns(ReadOnlySpan<byte> lowerCollection) =>
        _lowerCollections.Length == 0 || LowerNames.Contains(_lowerCollections, lowerCollection);

    /// <summary>Whether documents that loaded one which changed have to be fed before it goes on.</summary>
    public bool HasDependents => _dependents is not null || _changedLoads.Count > 0;

    /// <summary>Asks that it be built from the beginning. Done by the thread that indexes.</summary>
    public void AskForReset() => Volatile.Write(ref _isResetAsked, true);

    /// <summary>Takes a document in its newest state.</summary>
    public void Feed(ReadOnlySpan<byte> lowerId, in QueriedDocument document)
    {
        // The rest of the step in which it stopped: it stays behind that in any case.
        if (HasStopped)
        {
            return;
        }

        _entry.Clear();
        _looked++;
        try
        {
            Map.Map(document, _entry);
        }
        catch (Exception wrong) when (wrong is IndexEntryException or StoredDocumentException or AnalyzerException)
        {
            // What is held of an older state of the document is wrong now.
            _entry.ClearContent();
            Fail(Encoding.UTF8.GetString(document.View.Id), wrong.Message);
        }

        NotePending();
        if (_entry.IsEmpty)
        {
            Store.Delete(lowerId);
        }
        else
        {
            Store.Put(lowerId, document.Etag, _entry);
        }
    }

    /// <summary>A document changed or went: those that loaded it are to be fed again.</summary>
    public void NoteLoaded(ReadOnlySpan<byte> lowerCollection, ReadOnlySpan<byte> lowerId)
    {
        if (_lowerLoaded.Length > 0)
        {
            _changedLoads.Add(new ChangedLoad(lowerId.ToArray(), !LowerNames.Contains(_lowerLoaded, lowerCollection)));
        }
    }

    /// <summary>
    /// Feeds some of the documents that loaded one which changed; when there are no more, it has come as far as
    /// <see cref="AdvanceTo"/> said.
    /// </summary>
    /// <param name="documents">How many.</param>
    /// <param name="feed">Feeds the document of an id, if there is one, and says whether more may be fed now. One that
    /// it could not feed comes again.</param>
    public void FeedDependents(int documents, Func<byte[], bool> feed)
    {
        for (int fed = 0; fed < documents; fed++)
        {
            try
            {
                _dependent ??= NextDependent();
            }
            catch (Exception damaged) when (IsDamage(damaged))
            {
                BuildAgain(damaged);
                return;
            }

            if (_dependent is null)
            {
                // A pass that was cut off noted what changed, and did not come further.
                AdvanceTo(Math.Max(_reached, Position), 0);
                return;
            }

            bool goesOn = feed(_dependent);
            _dependent = null;
            if (!goesOn)
            {
                return;
            }
        }
    }

    /// <summary>Forgets a document.</summary>
    public void Remove(ReadOnlySpan<byte> lowerId)
    {
        NotePending();
        Store.Delete(lowerId);
    }

    /// <summary>
    /// It was fed everything through this etag. One that stopped on the way was not, and stays where it was.
    /// </summary>
    /// <param name="etag">The etag.</param>
    /// <param name="looked">Documents and deletions that were looked at for it.</param>
    public void AdvanceTo(long etag, long looked)
    {
        Invariant.Holds(etag >= Position, "an index follows the documents forward");
        Count(looked);
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
            Show(etag);
        }
    }

    /// <summary>So many documents were looked at for it while it is built.</summary>
    public void Count(long looked)
    {
        _meter.Add(looked);
        _meter.Measure();
    }

    /// <summary>
    /// Whether what it was fed should be applied now: there is much of it, or it is old, or it is what somebody waits
    /// for. What comes before that is applied with it.
    /// </summary>
    /// <param name="bytes">From so many bytes on.</param>
    /// <param name="age">When it waited so long.</param>
    /// <param name="etagsUnnoted">When nothing of so many operations concerned it.</param>
    public bool IsApplyDue(long bytes, TimeSpan age, long etagsUnnoted)
    {
        if (_refusedAt is { } refusedAt)
        {
            return _time.GetElapsedTime(refusedAt) >= age;
        }

        if (!HasPending)
        {
            // Nothing to write but how far it has come, so that a restart does not begin from far behind.
            return Position > 0 && (Store.Watermark == 0 || Position - Store.Watermark >= etagsUnnoted);
        }

        if (Store.PendingBytes >= bytes)
        {
            return true;
        }

        // A build that has just ended is shown at once: it happens once, and clients that poll the statistics
        // waited 5 s.
        return Position > 0
            && (
                Store.Watermark == 0
                || (IsAwaited && Position >= _waiters.Least)
                || _time.GetElapsedTime(_pendingSince) >= age
            );
    }

    /// <summary>Applies what it was fed. What the disk refuses is tried again later.</summary>
    public void Apply()
    {
        try
        {
            Store.Apply(Position);
        }
        catch (DiskException refused)
        {
            Rest(refused);
            return;
        }
        catch (Exception damaged) when (IsDamage(damaged))
        {
            BuildAgain(damaged);
            return;
        }

        _refusedAt = null;
        Tell(null);
        Volatile.Write(ref _lastIndexedTicks, _time.GetUtcNow().UtcTicks);
        if (Position > 0)
        {
            Show(Position);
        }
    }

    /// <summary>Does a piece of the work that keeps what it holds small and quick.</summary>
    /// <returns>Whether there was any.</returns>
    public bool MergeOnce()
    {
        try
        {
            return Store.MergeOnce();
        }
        catch (DiskException refused)
        {
            Rest(refused);
            return false;
        }
        catch (Exception damaged) when (IsDamage(damaged))
        {
            BuildAgain(damaged);
            return true;
        }
    }

    /// <summary>
    /// Whether what was thrown by the store of an index says that its files are damaged: segments, or the rows that a
    /// map/reduce index keeps in an engine of their own.
    /// </summary>
    public static bool IsDamage(Exception thrown) =>
        thrown is SegmentDamagedException or InvalidDataException or DamagedException or StorageFormatException;

    /// <summary>What it holds turned out to be damaged: it is built from the beginning. From any thread.</summary>
    public void BuildAgain(Exception damaged)
    {
        Tell($"It is built again: {damaged.Message}");
        AskForReset();
    }

    /// <summary>It cannot go on for now; why, in a sentence. Null: it can.</summary>
    public void Tell(string? trouble) => Volatile.Write(ref _trouble, trouble);

    /// <summary>Waits until its answers follow the documents through an etag.</summary>
    /// <param name="etag">The etag.</param>
    /// <param name="timeout">How long at most.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <param name="mayGoOn">Whether it is waited for when it is paused, disabled or has stopped, because it may go on
    /// meanwhile. Asked before and behind the beginning of the wait.</param>
    /// <returns>Whether they do.</returns>
    public async Task<bool> WaitAsync(
        long etag,
        TimeSpan timeout,
        CancellationToken cancellationToken,
        Func<bool>? mayGoOn = null
    )
    {
        bool isPatient = mayGoOn?.Invoke() is true;
        if (VisibleEtag >= etag || (State != IndexState.Normal && !isPatient) || timeout <= TimeSpan.Zero)
        {
            return VisibleEtag >= etag;
        }

        var waiting = _waiters.Add(etag, () => VisibleEtag, isPatient);
        try
        {
            // It may have come to rest before it could send this one away.
            return (State == IndexState.Normal || mayGoOn?.Invoke() is true)
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

    /// <summary>Ends the waits that it keeps from ending, if it is at rest. From any thread.</summary>
    internal void SendAwayAtRest()
    {
        if (State != IndexState.Normal)
        {
            _waiters.SendAway(patientToo: HasStopped);
        }
    }

    /// <summary>How it is.</summary>
    /// <param name="lastEtag">The etag of the last operation on the database.</param>
    /// <param name="documentsLeft">Documents that it still has to look at, when that is known better than by
    /// etags.</param>
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
            IsReplacement = IsReplacement,
            Documents = Store.Documents,
            ErrorCount = Errors.Count,
            LastIndexed = LastIndexed,
            Progress = State == IndexState.Normal ? progress : progress with { TimeLeft = null },
        };
    }

    /// <summary>Ends it; what is not applied is lost, and fed again after the next start.</summary>
    public void Dispose()
    {
        _waiters.Close();
        ForgetDependents();
        Store.Dispose();
        (Map as IDisposable)?.Dispose();
    }

    private byte[]? NextDependent()
    {
        _dependents ??= ((LoadTrackingStore)Store).DependentsOf([.. _changedLoads]).GetEnumerator();
        _changedLoads.Clear();
        if (_dependents.MoveNext())
        {
            return _dependents.Current;
        }

        ForgetDependents();
        return null;
    }

    private void ForgetDependents()
    {
        _dependents?.Dispose();
        _dependents = null;
    }

    private void Rest(DiskException refused)
    {
        Tell($"What was indexed cannot be written: {refused.Message}");
        _refusedAt = _time.GetTimestamp();
    }

    private void NotePending()
    {
        if (!HasPending)
        {
            _pendingSince = _time.GetTimestamp();
        }
    }

    private void Show(long etag)
    {
        Volatile.Write(ref _visible, etag);
        _waiters.Reach(etag);
    }

    private void Fail(string documentId, string message)
    {
        Errors.Add(new IndexError(_time.GetUtcNow(), documentId, "Map", message));
        if (!HasStopped && _looked >= JudgedFrom && Errors.Count * 100 > _looked * MostFailedPercent)
        {
            string why =
                $"{Errors.Count} of {_looked} documents could not be indexed; it stopped. Correct its "
                + $"definition, or reset it.";
            Volatile.Write(ref _whyStopped, why);
            SendAwayAtRest();
            Stopped?.Invoke(this, why);
        }
    }
}
