using System.Diagnostics.CodeAnalysis;
using Rookery.Documents.Changes;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;
using Rookery.Documents.Nodes;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Reducing;
using Rookery.Platform;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;
using Rookery.Storage;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// The indexes of a node. Whatever thread calls <see cref="Step"/> does all the work, one thread at a time; any may
/// look something up. <see cref="IndexingThread"/> does it beside others; simulation does it step by step.
/// </summary>
public sealed class IndexHost : IDisposable
{
    // Of the memory of the process.
    private const int CacheFraction = 8;
    private const int WorkFraction = 8;
    private const int RowsFraction = 8;

    // Of each map/reduce index, of what all of them may have: for the rows that it reads, and for what was not written
    // yet.
    private const long LeastRowsBytes = 8 << 20;
    private const long MostRowsBytes = 64 << 20;

    // What an index that rests holds of its rows is missed by one that works: they share that memory, and a few would
    // hold all of it.
    private static readonly TimeSpan TrimInterval = TimeSpan.FromSeconds(30);

    private readonly DatabaseCatalog _databases;
    private readonly IndexFolders _folders;
    private readonly IndexFactory _factory;
    private readonly IndexHostOptions _options;
    private readonly TimeProvider _time;
    private readonly ChangeHub<IndexBatch> _batches = new();
    private Dictionary<uint, IndexCatalog> _catalogs = [];
    private IReadOnlyList<Database> _seen = [];
    private TaskCompletionSource _followed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _documentsRead;
    private long _trimmedAt;
    private bool _isTrimAsked;
    private bool _isSwept;
    private SegmentCache? _cache;

    internal IndexHost(
        DatabaseCatalog databases,
        IDisk disk,
        IndexHostOptions options,
        TimeProvider time,
        OpenIndexStore openStore
    )
    {
        (_databases, _options, _time) = (databases, options, time);
        _trimmedAt = time.GetTimestamp();
        _folders = new IndexFolders(disk, Path.Combine(options.DataDirectory, DataDirectory.IndexesName));
        long rowsBytes = options.Memory.TotalBytes / RowsFraction;
        var rows = options.Memory.AddShare("index rows", rowsBytes);
        rowsBytes = Math.Clamp(rowsBytes, LeastRowsBytes, MostRowsBytes);
        Quota = new IndexQuota(options.Memory.TotalBytes, options.TroubleFound);
        _factory = new IndexFactory
        {
            Time = time,
            Quota = Quota,
            Options = options.Feeder,
            OpenStore = openStore,
            OpenRows = (folder, reducer) =>
                ReduceStore.Open(disk, folder, reducer, new MemoryBudget(rowsBytes, rows), options.Io, time),
            TroubleFound = options.TroubleFound,
        };
    }

    /// <summary>
    /// Documents and deletions that were read since the start, each once for all the indexes that it was fed to.
    /// </summary>
    public long DocumentsRead => Volatile.Read(ref _documentsRead);

    /// <summary>How many indexes the node keeps.</summary>
    public IndexQuota Quota { get; }

    /// <summary>How many indexes of each database queries had made.</summary>
    internal AutomaticCount Automatic { get; } = new();

    /// <summary>How much of one core the work may take now.</summary>
    public double ShareOfCore => _options.ShareOfCore() * (_options.Foreground?.Share ?? 1);

    /// <summary>After so long what was gathered is written.</summary>
    internal TimeSpan PendingAge => _options.Feeder.PendingAge;

    /// <summary>Whether something waits for its time.</summary>
    internal bool HasPending =>
        Catalogs.Any(static catalog => catalog.Feeder.HasPending || catalog.Feeder.IsResting || catalog.IsIncomplete);

    /// <summary>Whether the disk has room for what indexing writes.</summary>
    internal bool HasRoom => _options.HasRoom();

    /// <summary>Whether somebody waits for an index.</summary>
    internal bool IsAwaited =>
        Catalogs.Any(static catalog =>
            catalog.Slots.Values.Any(static slot => slot.All.Any(static index => index.IsAwaited))
        );

    /// <summary>Called when somebody begins to wait for an index, or asked something of one. From any thread.</summary>
    internal Action? Asked { get; set; }

    private IEnumerable<IndexCatalog> Catalogs => Volatile.Read(ref _catalogs).Values;

    /// <summary>The indexes of a node. They are opened by the first step of the work.</summary>
    /// <param name="databases">The databases.</param>
    /// <param name="disk">The disk.</param>
    /// <param name="options">How they are kept.</param>
    /// <param name="time">The clock.</param>
    public static IndexHost Open(DatabaseCatalog databases, IDisk disk, IndexHostOptions options, TimeProvider time)
    {
        var cache = new SegmentCache(options.Memory.AddShare("index cache", options.Memory.TotalBytes / CacheFraction));
        var context = new SegmentStoreContext(
            disk,
            cache,
            options.Memory.AddShare("indexing", options.Memory.TotalBytes / WorkFraction),
            options.Io
        );
        return new IndexHost(databases, disk, options, time, folder => SegmentStore.Open(context, folder))
        {
            _cache = cache,
        };
    }

    /// <summary>How the indexes of a database are on this node, by name.</summary>
    public IReadOnlyList<IndexStatus> ReadStatus(Database database) =>
        TryGetCatalog(database, out var catalog) ? catalog.ReadStatus() : [];

    /// <summary>The automatic indexes of a database on this node.</summary>
    public IReadOnlyList<AutoIndexCandidate> ReadAutoIndexes(Database database) =>
        TryGetCatalog(database, out var catalog) ? catalog.ReadAutoIndexes() : [];

    /// <summary>The automatic map/reduce indexes of a database on this node.</summary>
    public IReadOnlyList<AutoReduceCandidate> ReadAutoReduces(Database database) =>
        TryGetCatalog(database, out var catalog) ? catalog.ReadAutoReduces() : [];

    /// <summary>
    /// The errors of an index, the oldest first, and behind them why its newest definition is not followed; empty when
    /// there is no such index.
    /// </summary>
    /// <param name="database">Its database.</param>
    /// <param name="name">Its name.</param>
    /// <param name="ofReplacement">Of the one that is built to take its place.</param>
    public IReadOnlyList<IndexError> ReadErrors(Database database, string name, bool ofReplacement = false)
    {
        var errors = ErrorsOf(database, name, ofReplacement)?.List() ?? [];
        return !ofReplacement && FindNotKept(database, name) is { } notKept
            ? [.. errors, new IndexError(notKept.Time, "", "Open", notKept.Reason)]
            : errors;
    }

    /// <summary>
    /// A stream of how the indexes of all databases come further, from now on. It ends with the node.
    /// </summary>
    public ChangeSubscription<IndexBatch> SubscribeToBatches() => _batches.Subscribe();

    /// <summary>
    /// Where an index that answers is: the etag through which its answers follow the documents, and when it last took
    /// something. Null when there is none on this node.
    /// </summary>
    public (long VisibleEtag, DateTimeOffset? LastIndexed)? ReadPosition(Database database, string name) =>
        TryGetSlot(database, name, out var slot) ? (slot.Serving.VisibleEtag, slot.Serving.LastIndexed) : null;

    /// <summary>
    /// Gives memory back that a node which nobody asks does not need. That of the indexes themselves goes with the next
    /// step of the work.
    /// </summary>
    public void TrimMemory()
    {
        _cache?.Trim();
        Volatile.Write(ref _isTrimAsked, true);
        Asked?.Invoke();
    }

    /// <summary>
    /// Why the newest definition of an index is not followed on this node, in a sentence or two; null when it is, or
    /// will be as soon as it is opened. An older definition may answer meanwhile.
    /// </summary>
    public string? WhyNotKept(Database database, string name) => FindNotKept(database, name)?.Reason;

    /// <summary>Whether this node may have automatic indexes defined beside those of all databases.</summary>
    /// <param name="defining">How many are being defined.</param>
    public bool MayDefine(int defining) => Quota.MayDefine(Automatic, _databases.All, defining);

    /// <summary>How many indexes there may be, as a sentence for whoever wants one more.</summary>
    public string WhyNoMore => Quota.Reason;

    /// <summary>Forgets the errors of an index, if there is one.</summary>
    /// <param name="database">Its database.</param>
    /// <param name="name">Its name.</param>
    /// <param name="ofReplacement">Of the one that is built to take its place.</param>
    public void ClearErrors(Database database, string name, bool ofReplacement = false) =>
        ErrorsOf(database, name, ofReplacement)?.Clear();

    /// <summary>
    /// Waits until the answers of an index follow the documents through an etag. One that the log has just defined is
    /// waited for too.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="name">The index.</param>
    /// <param name="etag">The etag.</param>
    /// <param name="timeout">How long at most.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <param name="evenAtRest">Whether an index that is paused or disabled is waited for too: it may go on
    /// meanwhile.</param>
    /// <returns>Whether they do. False at once when the index is at rest or not kept, also when that is found
    /// meanwhile.</returns>
    public async Task<bool> WaitAsync(
        Database database,
        string name,
        long etag,
        TimeSpan timeout,
        CancellationToken cancellationToken,
        bool evenAtRest = false
    )
    {
        long begun = _time.GetTimestamp();
        while (true)
        {
            var followed = Volatile.Read(ref _followed).Task;
            var left = timeout - _time.GetElapsedTime(begun);
            if (TryGetSlot(database, name, out var slot))
            {
                bool MayGoOn() =>
                    evenAtRest
                    && !slot.StaysStopped(database)
                    && !(slot.Serving.HasStopped && FindNotKept(database, name) is not null);
                var waiting = slot.Serving.WaitAsync(etag, left, cancellationToken, MayGoOn);
                Ask(waiting);
                bool isReached = await waiting;
                bool isAtRest = slot.Serving.State != IndexState.Normal && !MayGoOn();
                if (isReached || isAtRest || (left = timeout - _time.GetElapsedTime(begun)) <= TimeSpan.Zero)
                {
                    return isReached;
                }

                // It was closed: another takes its place, which may not be there yet.
                if (
                    slot.Serving.IsClosed
                    && TryGetSlot(database, name, out var now)
                    && now.Serving == slot.Serving
                    && !await WaitAsync(followed, left, cancellationToken)
                )
                {
                    return false;
                }
            }
            else if (
                left <= TimeSpan.Zero
                || FindDefined(database, name) is null
                || FindNotKept(database, name) is not null
                || !await WaitAsync(followed, left, cancellationToken)
            )
            {
                return false;
            }
        }
    }

    /// <summary>Has an index built from the beginning.</summary>
    /// <returns>Whether there is one.</returns>
    public bool Reset(Database database, string name)
    {
        if (!TryGetSlot(database, name, out var slot))
        {
            return false;
        }

        slot.Newest.AskForReset();
        Asked?.Invoke();
        return true;
    }

    /// <summary>Has an index built from the beginning whose files turned out to be damaged.</summary>
    public void BuildAgain(RunningIndex index, Exception damaged)
    {
        index.BuildAgain(damaged);
        Asked?.Invoke();
    }

    /// <summary>Pauses an index on this node, or lets it go on.</summary>
    /// <returns>Whether there is one.</returns>
    public bool SetPaused(Database database, string name, bool isPaused)
    {
        if (!TryGetSlot(database, name, out var slot))
        {
            return false;
        }

        foreach (var index in slot.All)
        {
            index.IsPaused = isPaused;
        }

        Asked?.Invoke();
        return true;
    }

    /// <summary>Pauses all indexes of a database on this node, or lets them go on.</summary>
    public void SetPaused(Database database, bool isPaused)
    {
        foreach (var status in ReadStatus(database))
        {
            SetPaused(database, status.Name, isPaused);
        }
    }

    /// <summary>Does a piece of the work.</summary>
    /// <returns>Whether there was any.</returns>
    internal bool Step()
    {
        bool worked = Follow();
        if (!_options.HasRoom())
        {
            return worked;
        }

        int count = Math.Max(1, Catalogs.Sum(static catalog => catalog.Count));
        long pendingBytes = Math.Max(_options.Feeder.LeastPendingBytes, _options.Feeder.PendingBytes / count);
        foreach (var catalog in Catalogs)
        {
            long before = catalog.Feeder.DocumentsRead;
            worked |= UnlessGone(() => catalog.Feeder.Step(pendingBytes));
            Volatile.Write(ref _documentsRead, _documentsRead + catalog.Feeder.DocumentsRead - before);
            if (_batches.HasSubscribers)
            {
                catalog.TellOfBatches(_batches);
            }
        }

        return worked;
    }

    /// <summary>
    /// Goes by what the log defines now and by what was asked: the part of the work that reads no documents.
    /// </summary>
    /// <returns>Whether something changed.</returns>
    internal bool Follow()
    {
        bool changed = Synchronise();
        foreach (var catalog in Catalogs)
        {
            changed |= UnlessGone(catalog.Follow);
        }

        if (changed)
        {
            Interlocked
                .Exchange(ref _followed, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously))
                .SetResult();
        }

        TrimIdle();
        return changed;
    }

    // What is fed from a database that is not there any more would look whole, and empty. Its catalog is closed when
    // the databases are looked at again.
    private static bool UnlessGone(Func<bool> work)
    {
        try
        {
            return work();
        }
        catch (DatabaseGoneException)
        {
            return false;
        }
        catch (SnapshotEndedException)
        {
            return true; // it begins again where the indexes stand
        }
    }

    /// <summary>Measures how long requests wait.</summary>
    internal void MeasureForeground() => _options.Foreground?.Measure();

    /// <summary>Tells the owner.</summary>
    internal void Tell(string trouble) => _options.TroubleFound(trouble);

    /// <summary>Finds the indexes of a database that this node keeps. From any thread.</summary>
    public bool TryGetCatalog(Database database, [NotNullWhen(true)] out IndexCatalog? catalog) =>
        Volatile.Read(ref _catalogs).TryGetValue(database.Number, out catalog);

    /// <summary>Finds an index of a database by its name, when this node keeps it. From any thread.</summary>
    public bool TryGetSlot(Database database, string name, [NotNullWhen(true)] out IndexSlot? slot)
    {
        slot = null;
        return TryGetCatalog(database, out var catalog) && catalog.TryGet(name, out slot);
    }

    /// <summary>Closes all; they stay where they lie.</summary>
    public void Dispose()
    {
        foreach (var catalog in Catalogs)
        {
            catalog.Dispose();
        }

        _catalogs = [];
        _batches.Complete();
    }

    // Of the definition that the log has now: one that took a refused one's place was not looked at yet.
    private NotKept? FindNotKept(Database database, string name) =>
        TryGetCatalog(database, out var catalog)
        && catalog.WhyNotKept(name) is { } notKept
        && FindDefined(database, name)?.Number == notKept.Number
            ? notKept
            : null;

    private IndexErrors? ErrorsOf(Database database, string name, bool ofReplacement) =>
        !TryGetSlot(database, name, out var slot) ? null
        : ofReplacement ? slot.Replacement?.Errors
        : slot.Serving.Errors;

    private void TrimIdle()
    {
        bool isAsked = _isTrimAsked && Interlocked.Exchange(ref _isTrimAsked, false);
        if (!isAsked && _time.GetElapsedTime(_trimmedAt) < TrimInterval)
        {
            return;
        }

        // Nobody asks between two calls: all goes that can.
        for (int calls = isAsked ? 2 : 1; calls > 0; calls--)
        {
            foreach (var catalog in Catalogs)
            {
                catalog.TrimIdle();
            }
        }

        _trimmedAt = _time.GetTimestamp();
    }

    private static IndexRecord? FindDefined(Database database, string name)
    {
        using var reader = database.OpenReader();
        return reader.FindIndex(name);
    }

    private void Ask(Task waiting)
    {
        if (!waiting.IsCompleted)
        {
            Asked?.Invoke();
        }
    }

    private async Task<bool> WaitAsync(Task followed, TimeSpan timeout, CancellationToken cancellationToken)
    {
        Ask(followed);
        try
        {
            await followed.WaitAsync(timeout, _time, cancellationToken);
            return true;
        }
        catch (TimeoutException)
        {
            return false;
        }
    }

    // By the databases that there are. One whose history was renewed is another one under the same number.
    private bool Synchronise()
    {
        uint lastNumber = _databases.LastNumber;
        var databases = _databases.All;
        if (ReferenceEquals(databases, _seen) && _isSwept)
        {
            return false;
        }

        var catalogs = new Dictionary<uint, IndexCatalog>();
        foreach (var database in databases)
        {
            catalogs.Add(
                database.Number,
                TryGetCatalog(database, out var there) && there.Database == database
                    ? there
                    : new IndexCatalog(database, _folders, _factory)
            );
        }

        // Who is sent away by an index that is closed looks it up again, and must not find the closed one.
        List<IndexCatalog> gone = [.. Catalogs.Where(catalog => !catalogs.ContainsValue(catalog))];
        Volatile.Write(ref _catalogs, catalogs);
        gone.ForEach(static catalog => catalog.Dispose());
        foreach (
            uint number in _folders.Databases().Where(number => number <= lastNumber && !catalogs.ContainsKey(number))
        )
        {
            try
            {
                _folders.Delete(number);
            }
            catch (DiskException)
            {
                // What stays is deleted when databases come or go, or at the next start.
            }
        }

        (_seen, _isSwept) = (databases, true);
        return true;
    }
}
