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
/// The indexes of all databases of a node. <see cref="Step"/> does all work. One thread at a time may call it:
/// <see cref="IndexingThread"/>, or a simulation. Reading is thread-safe.
/// </summary>
public sealed class IndexHost : IDisposable
{
    // Cached segments, indexing work, and rows of map/reduce indexes each take one eighth of the memory budget.
    private const int MemoryFraction = 8;

    // Bounds of the memory for the rows of one map/reduce index: cached rows and rows that are not written yet. All
    // map/reduce indexes reserve it from the same share.
    private const long MinRowsBytes = 8 << 20;
    private const long MaxRowsBytes = 64 << 20;

    // Interval at which idle map/reduce indexes release cached rows, for busy indexes that need the memory.
    private static readonly TimeSpan TrimInterval = TimeSpan.FromSeconds(30);

    private readonly DatabaseCatalog _databases;
    private readonly IndexFolders _folders;
    private readonly IndexFactory _factory;
    private readonly IndexHostOptions _options;
    private readonly TimeProvider _time;
    private readonly ChangeHub<IndexBatch> _batches = new();
    private Dictionary<uint, IndexCatalog> _catalogs = [];
    private IReadOnlyList<Database> _knownDatabases = [];

    // Completed, and replaced by a new one, whenever an index changes.
    private TaskCompletionSource _followed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _documentsRead;
    private long _trimmedAt;
    private bool _isTrimAsked;
    private bool _areFoldersSwept; // whether the folders of deleted databases were removed since the start
    private bool _isClosed;
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
        long rowsBytes = options.Memory.TotalBytes / MemoryFraction;
        var rows = options.Memory.AddShare("index rows", rowsBytes);
        rowsBytes = Math.Clamp(rowsBytes, MinRowsBytes, MaxRowsBytes);
        Quota = new IndexQuota(options.Memory.TotalBytes, options.TroubleFound);
        _factory = new IndexFactory
        {
            Time = time,
            Quota = Quota,
            Options = options.Feeder,
            HasReapplied = options.HasReapplied,
            OpenStore = openStore,
            OpenRows = (folder, reducer) =>
                ReduceStore.Open(disk, folder, reducer, new MemoryBudget(rowsBytes, rows), options.Io, time),
            TroubleFound = options.TroubleFound,
        };
    }

    /// <summary>
    /// Documents and tombstones read since the start. A document that is fed to several indexes in the same pass counts
    /// once.
    /// </summary>
    public long DocumentsRead => Volatile.Read(ref _documentsRead);

    /// <summary>Bounds how many indexes the node maintains.</summary>
    public IndexQuota Quota { get; }

    /// <summary>Counts the automatic indexes of each database.</summary>
    internal AutomaticCount Automatic { get; } = new();

    /// <summary>The share of one core that indexing may use now, from 0 to 1.</summary>
    public double ShareOfCore => _options.ShareOfCore() * (_options.Foreground?.Share ?? 1);

    /// <summary>The age at which buffered entries are written.</summary>
    internal TimeSpan PendingAge => _options.Feeder.PendingAge;

    /// <summary>
    /// Whether work becomes due later: writing entries, releasing snapshots of documents, reading a damaged document
    /// again, or opening an index again.
    /// </summary>
    internal bool HasPending =>
        Catalogs.Any(static catalog =>
            catalog.Feeder.HasPending
            || catalog.Feeder.HoldsDocuments
            || catalog.Feeder.IsPausedByDamage
            || catalog.IsIncomplete
        );

    /// <summary>Whether the disk has room for what indexing writes.</summary>
    internal bool HasRoom => _options.HasRoom();

    /// <summary>Whether a query waits for an index.</summary>
    internal bool IsAwaited =>
        Catalogs.Any(static catalog =>
            catalog.Slots.Values.Any(static slot => slot.All.Any(static index => index.IsAwaited))
        );

    /// <summary>
    /// Wakes the indexing thread. Called from any thread, when a task begins to wait for an index, or when an index
    /// must be reset, paused or trimmed.
    /// </summary>
    internal Action? WakeRequested { get; set; }

    /// <summary>Makes the indexing thread look for work now, after an index was asked for freshness.</summary>
    public void Wake() => WakeRequested?.Invoke();

    private IEnumerable<IndexCatalog> Catalogs => Volatile.Read(ref _catalogs).Values;

    /// <summary>Creates the host. The first <see cref="Step"/> opens the indexes.</summary>
    /// <param name="databases">The databases of the node.</param>
    /// <param name="disk">The disk.</param>
    /// <param name="options">Directories, memory and callbacks.</param>
    /// <param name="time">The clock.</param>
    public static IndexHost Open(DatabaseCatalog databases, IDisk disk, IndexHostOptions options, TimeProvider time)
    {
        var cache = new SegmentCache(
            options.Memory.AddShare("index cache", options.Memory.TotalBytes / MemoryFraction, isManaged: true)
        );
        var context = new SegmentStoreContext(
            disk,
            cache,
            options.Memory.AddShare("indexing", options.Memory.TotalBytes / MemoryFraction, isManaged: true),
            options.Io
        );
        return new IndexHost(databases, disk, options, time, folder => SegmentStore.Open(context, folder))
        {
            _cache = cache,
        };
    }

    /// <summary>Returns the status of the indexes of a database on this node, ordered by name.</summary>
    public IReadOnlyList<IndexStatus> ReadStatus(Database database) =>
        TryGetCatalog(database, out var catalog) ? catalog.ReadStatus() : [];

    /// <summary>Returns the automatic indexes of a database on this node.</summary>
    public IReadOnlyList<AutoCandidate<AutoIndexDefinition>> ReadAutoIndexes(Database database) =>
        TryGetCatalog(database, out var catalog) ? catalog.ReadAutoIndexes() : [];

    /// <summary>Returns the automatic map/reduce indexes of a database on this node.</summary>
    public IReadOnlyList<AutoCandidate<AutoReduceDefinition>> ReadAutoReduces(Database database) =>
        TryGetCatalog(database, out var catalog) ? catalog.ReadAutoReduces() : [];

    /// <summary>
    /// Returns the errors of an index, oldest first. If this node does not maintain its newest definition, the last
    /// error is the reason. Empty if there is no such index.
    /// </summary>
    /// <param name="database">The database of the index.</param>
    /// <param name="name">The name of the index.</param>
    /// <param name="ofReplacement">Whether to read the errors of the replacement that is being built.</param>
    public IReadOnlyList<IndexError> ReadErrors(Database database, string name, bool ofReplacement = false)
    {
        var errors = ErrorsOf(database, name, ofReplacement)?.List() ?? [];
        return !ofReplacement && FindNotMaintained(database, name) is { } notMaintained
            ? [.. errors, new IndexError(notMaintained.Time, "", "Open", notMaintained.Reason)]
            : errors;
    }

    /// <summary>
    /// Subscribes to the progress of the indexes of all databases, from now on. The subscription ends when the host is
    /// disposed.
    /// </summary>
    public ChangeSubscription<IndexBatch> SubscribeToBatches() => _batches.Subscribe();

    /// <summary>
    /// Returns <see cref="RunningIndex.VisibleEtag"/> and <see cref="RunningIndex.ConsistentEtag"/> of a serving index,
    /// and when its results were written; null if this node has no such index.
    /// </summary>
    public (long VisibleEtag, long ConsistentEtag, DateTimeOffset? LastIndexed)? ReadPosition(
        Database database,
        string name
    ) =>
        TryGetSlot(database, name, out var slot)
            ? (slot.Serving.VisibleEtag, slot.Serving.ConsistentEtag, slot.Serving.LastIndexed)
            : null;

    /// <summary>Releases memory that an idle node does not need. The indexes release theirs in the next step.</summary>
    public void TrimMemory()
    {
        _cache?.Trim();
        Volatile.Write(ref _isTrimAsked, true);
        WakeRequested?.Invoke();
    }

    /// <summary>
    /// Returns why this node does not maintain the newest definition of an index, in one or two sentences; null if it
    /// does, or is about to open it. The index of an older definition may serve queries meanwhile.
    /// </summary>
    public string? WhyNotMaintained(Database database, string name) => FindNotMaintained(database, name)?.Reason;

    /// <summary>Returns whether the quota allows further automatic indexes, in all databases together.</summary>
    /// <param name="defining">Number of indexes that are being defined.</param>
    public bool MayDefine(int defining) => Quota.MayDefine(Automatic, _databases.All, defining);

    /// <summary>Why no further index can be defined, in a sentence for the user.</summary>
    public string WhyNoMore => Quota.Reason;

    /// <summary>Clears the errors of an index, if it exists.</summary>
    /// <param name="database">The database of the index.</param>
    /// <param name="name">The name of the index.</param>
    /// <param name="ofReplacement">Whether to clear the errors of the replacement that is being built.</param>
    public void ClearErrors(Database database, string name, bool ofReplacement = false) =>
        ErrorsOf(database, name, ofReplacement)?.Clear();

    /// <summary>
    /// Waits until the results of an index include the changes through an etag. Also waits for an index that the log
    /// has just defined.
    /// </summary>
    /// <param name="database">The database of the index.</param>
    /// <param name="name">The name of the index.</param>
    /// <param name="etag">The etag to reach.</param>
    /// <param name="timeout">The longest wait.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <param name="whilePausedOrDisabled">Whether to wait even while the index is paused or disabled, because it may
    /// resume in time.</param>
    /// <returns>Whether the etag was reached. False at once if this node does not run the index, or if the host is
    /// closed.</returns>
    public async Task<bool> WaitAsync(
        Database database,
        string name,
        long etag,
        TimeSpan timeout,
        CancellationToken cancellationToken,
        bool whilePausedOrDisabled = false
    )
    {
        long begun = _time.GetTimestamp();
        while (true)
        {
            var followed = Volatile.Read(ref _followed).Task;
            var remaining = timeout - _time.GetElapsedTime(begun);
            if (TryGetSlot(database, name, out var slot))
            {
                bool MayResume() =>
                    whilePausedOrDisabled
                    && !slot.StaysStopped(database)
                    && !(slot.Serving.HasStopped && FindNotMaintained(database, name) is not null);
                var waiting = slot.Serving.Waits.WaitAsync(etag, remaining, cancellationToken, MayResume);
                WakeFor(waiting);
                bool isReached = await waiting;
                bool cannotReach = slot.Serving.State != IndexState.Normal && !MayResume();
                if (isReached || cannotReach || (remaining = timeout - _time.GetElapsedTime(begun)) <= TimeSpan.Zero)
                {
                    return isReached;
                }

                // The index was closed. The index that replaces it may not be published yet.
                if (
                    slot.Serving.Waits.IsClosed
                    && TryGetSlot(database, name, out var current)
                    && current.Serving == slot.Serving
                    && !await WaitAsync(followed, remaining, cancellationToken)
                )
                {
                    return false;
                }
            }
            else if (
                remaining <= TimeSpan.Zero
                || Volatile.Read(ref _isClosed)
                || FindDefined(database, name) is null
                || FindNotMaintained(database, name) is not null
                || !await WaitAsync(followed, remaining, cancellationToken)
            )
            {
                return false;
            }
        }
    }

    /// <summary>Rebuilds an index from the beginning.</summary>
    /// <returns>Whether the index exists.</returns>
    public bool Reset(Database database, string name)
    {
        if (!TryGetSlot(database, name, out var slot))
        {
            return false;
        }

        slot.Newest.RequestReset();
        WakeRequested?.Invoke();
        return true;
    }

    /// <summary>Rebuilds an index whose files are damaged.</summary>
    public void Rebuild(RunningIndex index, Exception damaged)
    {
        index.Rebuild(damaged);
        WakeRequested?.Invoke();
    }

    /// <summary>Pauses or resumes an index on this node.</summary>
    /// <returns>Whether the index exists.</returns>
    public bool SetPaused(Database database, string name, bool isPaused)
    {
        if (!TryGetSlot(database, name, out var slot))
        {
            return false;
        }

        foreach (var index in slot.All)
        {
            index.SetPaused(isPaused);
        }

        WakeRequested?.Invoke();
        return true;
    }

    /// <summary>
    /// Pauses or resumes all indexes of a database on this node, those included that are defined later.
    /// </summary>
    public void SetPaused(Database database, bool isPaused)
    {
        _factory.PauseOf(database).IsPaused = isPaused;
        if (TryGetCatalog(database, out var catalog))
        {
            catalog.Slots.Values.SelectMany(static slot => slot.All).ToList().ForEach(index => index.SetPaused(null));
        }

        WakeRequested?.Invoke();
    }

    /// <summary>Whether all indexes of a database were paused together, and not resumed since.</summary>
    public bool IsPaused(Database database) => _factory.PauseOf(database).IsPaused;

    /// <summary>Does one step of work: follows definitions, then feeds each database's indexes.</summary>
    /// <returns>Whether there was work to do.</returns>
    internal bool Step()
    {
        bool worked = Follow();
        if (!_options.HasRoom())
        {
            return worked;
        }

        int count = Math.Max(1, Catalogs.Sum(static catalog => catalog.Count));
        long pendingBytes = Math.Max(_options.Feeder.MinPendingBytes, _options.Feeder.PendingBytes / count);
        foreach (var catalog in Catalogs)
        {
            long before = catalog.Feeder.DocumentsRead;
            worked |= UnlessGone(() => catalog.Feeder.Step(pendingBytes));
            Volatile.Write(ref _documentsRead, _documentsRead + catalog.Feeder.DocumentsRead - before);
            if (_batches.HasSubscribers)
            {
                catalog.PublishProgress(_batches);
            }
        }

        return worked;
    }

    /// <summary>Follows the definitions in the log and carries out requests, without reading documents.</summary>
    /// <returns>Whether an index changed.</returns>
    internal bool Follow()
    {
        bool changed = Synchronise();
        foreach (var catalog in Catalogs)
        {
            changed |= UnlessGone(catalog.Follow);
        }

        if (changed)
        {
            SignalFollowed();
        }

        TrimIdle();
        return changed;
    }

    private void SignalFollowed() =>
        Interlocked
            .Exchange(ref _followed, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously))
            .SetResult();

    // A deleted database would read as empty, which looks like a complete pass. So reading it throws, and this ends the
    // step. The catalogue is closed when the list of databases is read next.
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
            return true; // the next step begins at the indexes' positions
        }
    }

    /// <summary>Releases the snapshots of passes, because indexing pauses.</summary>
    internal void InterruptPasses() => Catalogs.ToList().ForEach(catalog => catalog.Feeder.InterruptPasses(HasRoom));

    /// <summary>Measures how long requests wait for a thread.</summary>
    internal void MeasureForeground() => _options.Foreground?.Measure();

    /// <summary>Reports a problem to the operator.</summary>
    internal void ReportTrouble(string trouble) => _options.TroubleFound(trouble);

    /// <summary>Finds the index catalogue of a database, not that of an earlier state of it. Thread-safe.</summary>
    public bool TryGetCatalog(Database database, [NotNullWhen(true)] out IndexCatalog? catalog) =>
        Volatile.Read(ref _catalogs).TryGetValue(database.Number, out catalog) && catalog.Database == database;

    /// <summary>Finds an index of a database by name, if this node maintains it. Thread-safe.</summary>
    public bool TryGetSlot(Database database, string name, [NotNullWhen(true)] out IndexSlot? slot)
    {
        slot = null;
        return TryGetCatalog(database, out var catalog) && catalog.TryGet(name, out slot);
    }

    /// <summary>Closes all indexes; their files stay.</summary>
    public void Dispose()
    {
        // A task whose index was closed looks the index up again and must not find the closed one.
        Volatile.Write(ref _isClosed, true);
        var open = Interlocked.Exchange(ref _catalogs, []);
        try
        {
            Closing.Each(open.Values, static catalog => catalog.Dispose());
        }
        finally
        {
            SignalFollowed();
            _batches.Complete();
        }
    }

    // The reason counts only if it is about the definition that the log contains now. A newer definition has not been
    // opened yet.
    private NotMaintained? FindNotMaintained(Database database, string name) =>
        TryGetCatalog(database, out var catalog)
        && catalog.WhyNotMaintained(name) is { } notMaintained
        && FindDefined(database, name)?.Number == notMaintained.Number
            ? notMaintained
            : null;

    private IndexErrors? ErrorsOf(Database database, string name, bool ofReplacement) =>
        TryGetSlot(database, name, out var slot) ? (ofReplacement ? slot.Replacement : slot.Serving)?.Errors : null;

    private void TrimIdle()
    {
        bool isAsked = _isTrimAsked && Interlocked.Exchange(ref _isTrimAsked, false);
        if (!isAsked && _time.GetElapsedTime(_trimmedAt) < TrimInterval)
        {
            return;
        }

        // A requested trim calls twice: the first call marks memory as unused, and the second releases it.
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

    private void WakeFor(Task waiting)
    {
        if (!waiting.IsCompleted)
        {
            Wake();
        }
    }

    private async Task<bool> WaitAsync(Task followed, TimeSpan timeout, CancellationToken cancellationToken)
    {
        WakeFor(followed);
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

    // Creates a catalogue for each new database and closes those of deleted and disabled databases. A database that got
    // a new history id, or was enabled again, counts as a new database with the same number.
    private bool Synchronise()
    {
        uint lastNumber = _databases.LastNumber;
        var databases = _databases.All;
        if (ReferenceEquals(databases, _knownDatabases) && _areFoldersSwept)
        {
            return false;
        }

        var numbers = databases.Select(static database => database.Number).ToHashSet();
        var catalogs = new Dictionary<uint, IndexCatalog>();
        try
        {
            foreach (var database in databases.Where(static database => !database.Configurations.IsDisabled))
            {
                catalogs[database.Number] = TryGetCatalog(database, out var existing)
                    ? existing
                    : new IndexCatalog(database, _folders, _factory);
            }
        }
        catch
        {
            Closing.Each([.. catalogs.Values.Except(Catalogs)], static catalog => catalog.Dispose());
            throw;
        }

        // The new catalogues are published before the removed ones are closed: a caller whose index closes looks it up
        // again, and must not find the closed one.
        List<IndexCatalog> removed = [.. Catalogs.Where(catalog => !catalogs.ContainsValue(catalog))];
        Volatile.Write(ref _catalogs, catalogs);
        Closing.Each(removed, static catalog => catalog.Dispose());
        _folders.DeleteDatabases(number => number <= lastNumber && !numbers.Contains(number));
        _factory.ForgetPauses(number => number <= lastNumber && !numbers.Contains(number));
        (_knownDatabases, _areFoldersSwept) = (databases, true);
        return true;
    }
}
