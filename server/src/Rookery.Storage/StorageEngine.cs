using Rookery.Platform;
using Rookery.Storage.Engine;
using Rookery.Storage.Install;
using Rookery.Storage.Manifest;
using Rookery.Storage.Repair;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage;

/// <summary>
/// The log-structured merge tree of one node: an active memtable, frozen memtables that wait for their flush, immutable
/// sorted runs, and two manifest slots. An applied batch is durable only after a flush; until then the caller keeps its
/// journal entry.
/// </summary>
/// <remarks>
/// Threads: one applies (<see cref="Begin"/> to <see cref="Apply"/>), one does background work
/// (<see cref="Storage.Memtables.Flush"/>, <see cref="MergeOnce"/>, <see cref="ScrubOnce"/>, <see cref="TrimIdle"/>,
/// <see cref="CopyTo"/>), and any number read. No thread waits for another, except that a writer waits for a flush
/// when two memtables are full.
/// </remarks>
public sealed class StorageEngine : IDisposable
{
    private readonly IDisposable? _directoryLock;
    private readonly EngineContext _context;
    private readonly BackgroundMerges _merges;
    private readonly Scrubber _scrubber;
    private readonly RetriedStep _merge;
    private readonly WriteBatch _batch;
    private bool _isDisposed;

    private StorageEngine(IDisk disk, StorageOptions options, MemoryBudget budget, IIoRecorder io, TimeProvider time)
    {
        if (!options.IsReadOnly)
        {
            disk.CreateDirectory(options.Directory);
            _directoryLock = disk.Lock(Path.Join(options.Directory, "lock"));
        }

        try
        {
            _context = new EngineOpening(disk, options, io, time).Open(budget, damage => DamageFound?.Invoke(damage));
        }
        catch
        {
            _directoryLock?.Dispose();
            throw;
        }

        _batch = new WriteBatch(options.ChunkBytes);
        Memtables = new Memtables(_context, _batch);
        _merges = new BackgroundMerges(_context);
        _merge = new RetriedStep(_context, "merge", _merges.Step);
        _scrubber = new Scrubber(_context);
        Repairs = new FileRepair(_context);
        Installer = new StateInstaller(_context, _batch, Memtables);
    }

    /// <summary>
    /// Opens a directory, and creates it if it is missing. Missing or damaged runs do not prevent opening:
    /// <see cref="Statistics"/> lists them.
    /// </summary>
    /// <param name="disk">The disk.</param>
    /// <param name="options">Directory, tables and sizes.</param>
    /// <param name="budget">The memory budget for memtables and block cache.</param>
    /// <param name="io">Records all disk work.</param>
    /// <param name="time">The clock, for the age of readers.</param>
    /// <exception cref="StorageFormatException">A newer version wrote the directory, or no manifest slot is
    /// valid.</exception>
    /// <exception cref="DiskException">A disk operation failed, or another process has locked the
    /// directory.</exception>
    /// <exception cref="SystemLibraryException">The library that compresses blocks is missing or does not work. Nothing
    /// was read or written.</exception>
    public static StorageEngine Open(
        IDisk disk,
        StorageOptions options,
        MemoryBudget budget,
        IIoRecorder io,
        TimeProvider time
    )
    {
        Lz4.Require();
        return new(disk, options, budget, io, time);
    }

    /// <summary>
    /// Deletes the runs that the manifest did not name at opening; a crash leaves such runs. Call it once the journal
    /// is known to contain the entries after that manifest. If the journal lacks them, a newer manifest may have been
    /// lost, and these runs may hold the only copy of its rows. Deletes nothing if any run is damaged.
    /// </summary>
    public void DeleteUnnamedRuns()
    {
        if (_context.Published.Current.Runs.Files().All(static file => file.IsReadable))
        {
            foreach (string path in _context.LeftOvers.Where(_context.Disk.Exists))
            {
                _context.Disk.Delete(path);
            }
        }
    }

    /// <summary>The memtables, with their flushes.</summary>
    public Memtables Memtables { get; }

    /// <summary>Installs snapshots of other stores.</summary>
    public StateInstaller Installer { get; }

    /// <summary>Repairs damaged files with the rows of another store.</summary>
    public FileRepair Repairs { get; }

    /// <summary>Position of the durable manifest: after a crash, replay the journal from the index after it.</summary>
    public ManifestPosition Durable => _context.Durable.Manifest.Position;

    /// <summary>The last applied operation number (etag).</summary>
    public long Sequence => _context.Published.Current.Position.Sequence;

    /// <summary>Log index of the last applied batch.</summary>
    public long AppliedIndex => Applied.Index;

    /// <summary>Position of the last applied batch.</summary>
    public ManifestPosition Applied => _context.Published.Current.Position;

    /// <summary>
    /// Number of times that <see cref="StateInstaller.Install"/> replaced the whole state. It rises before a snapshot
    /// can see the new state.
    /// </summary>
    public long InstallCount => Volatile.Read(ref _context.Installs);

    /// <summary>
    /// Random id of the store, chosen when its directory is first opened for writing. A copy of a store has no id until
    /// then.
    /// </summary>
    public Guid StoreId => _context.Durable.Manifest.StoreId;

    /// <summary>Called once for each damaged place, on the thread that found it.</summary>
    public Action<DamageEvent>? DamageFound { get; set; }

    /// <summary>
    /// Number of sorted runs of the group of tables that has most: the maximum number of runs that a lookup searches.
    /// </summary>
    public int MostSortedRuns => _context.Published.Current.Runs.MostOfOneGroup;

    /// <summary>Whether the store has known damage that is not repaired.</summary>
    public bool HasDamage => !_context.Sources.Damage.IsEmpty;

    /// <summary>The current problem, in one sentence; null if there is none.</summary>
    public string? Problem => Failure ?? (_context.Sources.Damage.Events is [var first, ..] ? first.Sentence : null);

    /// <summary>
    /// Why the last flush or merge step failed, in one sentence; null if both succeeded. The caller retries the failed
    /// step after a pause.
    /// </summary>
    public string? Failure => Memtables.Failure ?? _merge.Failure;

    /// <summary>
    /// Number of flushes and merge steps that failed. Call it on the thread of the background work.
    /// </summary>
    public long FailureCount => _context.Counters.Failures;

    /// <summary>See <see cref="StorageOptions.RetainedTombstones"/>. May change at any time.</summary>
    public long RetainedTombstones
    {
        get => _context.RetainedTombstones;
        set => _context.RetainedTombstones = value;
    }

    /// <summary>
    /// Begins the batch of one log entry. Waits for a flush if the memtables are full; without a background thread it
    /// flushes itself.
    /// </summary>
    /// <param name="index">Index of the entry, higher than the last one.</param>
    /// <param name="term">Term of the entry.</param>
    /// <param name="bytes">Approximate length of the rows. A large batch freezes a nearly full memtable first.</param>
    /// <exception cref="ObjectDisposedException">The engine was closed, possibly during the wait.</exception>
    public WriteBatch Begin(long index, long term, long bytes = 0)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        Invariant.Holds(!_context.Options.IsReadOnly, "a directory that was opened to read is not written to");
        Invariant.Holds(index > AppliedIndex, "batches are applied in order of their index");
        while (!TryBegin(index, term, bytes))
        {
            Memtables.WaitForFlush();
        }

        return _batch;
    }

    /// <summary>Makes the batch visible as a whole to snapshots opened afterwards. Never syncs.</summary>
    /// <param name="batch">The batch that <see cref="Begin"/> returned.</param>
    /// <param name="lastSequence">The last operation number of the entry, including operations that wrote
    /// nothing.</param>
    public void Apply(WriteBatch batch, long lastSequence)
    {
        Invariant.Holds(batch == _batch && _batch.IsOpen, "the batch that is applied is the one that was begun");
        Invariant.Holds(lastSequence >= Sequence, "sequence numbers never decrease");
        var position = new ManifestPosition(_batch.Index, _batch.Term, lastSequence);
        lock (_context.Gate)
        {
            EngineState current = _context.Published.Current;
            RangeTombstoneSet storeTombstones = current.RangeTombstones;
            RangeTombstoneSet activeTombstones = current.Active.RangeTombstones;
            if (_batch.Ranges.Count > 0)
            {
                var added = new RangeTombstoneSet(_batch.Ranges);
                storeTombstones = RangeTombstoneSet.Union([storeTombstones, added]);
                activeTombstones = RangeTombstoneSet.Union([activeTombstones, added]);
            }

            current.Active.CompleteBatch(position, activeTombstones);
            _context.Published.Replace(
                new EngineState(
                    _context.Sources,
                    current.Active,
                    current.Frozen,
                    current.Runs,
                    storeTombstones,
                    position
                )
            );
            _batch.Close();
        }

        Memtables.NotifyIfFlushDue();
    }

    /// <summary>Rolls back the open batch, if there is one. No snapshot has seen any of it.</summary>
    public void Abandon()
    {
        if (_batch.IsOpen)
        {
            lock (_context.Gate)
            {
                _batch.RollBack(default);
                _batch.Close();
            }
        }
    }

    /// <summary>Opens a snapshot of the applied state. Neither locks nor allocates.</summary>
    /// <exception cref="ObjectDisposedException">The engine was closed.</exception>
    public Snapshot OpenSnapshot() => new(_context.Published.Acquire());

    /// <summary>
    /// Opens a snapshot of the newest state for background work. If snapshots pin too much, this snapshot is ended
    /// before the snapshots of clients. It never causes a client's snapshot to be ended.
    /// </summary>
    /// <exception cref="ObjectDisposedException">As <see cref="OpenSnapshot"/>.</exception>
    public Snapshot OpenBackgroundSnapshot() =>
        new(_context.Published.Acquire(isOfBackground: true), isOfBackground: true);

    /// <summary>
    /// Executes one part of a merge: writes at most one output file, or moves files to the merged run without rewriting
    /// them.
    /// </summary>
    /// <returns>Whether a part was executed; false if no merge is due.</returns>
    public bool MergeOnce() => _merge.Try();

    /// <summary>
    /// Requests a flush, and a merge of all runs of each group except the chunks of large values, even if no merge is
    /// due. Many calls of <see cref="MergeOnce"/> execute the merges. Call it on the thread of the background work.
    /// </summary>
    public void BeginFullMerge()
    {
        Memtables.RequestFlush();
        _merges.RequestFullMerge();
    }

    /// <summary>
    /// Ends the merges of <see cref="BeginFullMerge"/> between two of their parts. What is merged stays merged. Call it
    /// on the thread of the background work.
    /// </summary>
    public void CancelFullMerge() => _merges.CancelFullMerge();

    /// <summary>
    /// Whether merges of <see cref="BeginFullMerge"/> are unfinished. Call it on the thread of the background work.
    /// </summary>
    public bool IsFullMergePending => _merges.IsFullMergePending;

    /// <summary>
    /// Why the last full merge leaves runs unmerged, in two sentences that name a damaged file; null if it leaves none.
    /// Call it on the thread of the background work.
    /// </summary>
    public string? FullMergeGap => _merges.FullMergeGap;

    /// <summary>
    /// Scrubs: checks the next bytes of the runs against their checksums. Reports damage to <see cref="DamageFound"/>.
    /// </summary>
    /// <returns>Whether all runs were checked; the next call starts again with the first.</returns>
    public bool ScrubOnce(long budgetBytes) => _scrubber.Step(budgetBytes);

    /// <summary>
    /// Releases unused memory, and files that only a reader still held. Call it about every half minute. It writes
    /// nothing.
    /// </summary>
    public void TrimIdle()
    {
        _context.Readers.EndExcessive();
        _context.Garbage.Collect();
        _context.Arenas.Trim();
        _context.Cache.TrimIdle();
    }

    /// <summary>
    /// Copies the durable state into another directory, by hard links, or by copying the files if it is on another file
    /// system. <see cref="Open"/> can open the copy. Call it on the background thread, or before that thread runs.
    /// </summary>
    /// <param name="targetDirectory">A missing or empty directory. After a failure it contains an incomplete copy
    /// without a manifest.</param>
    /// <returns>Position of the copy: the caller adds the journal entries after it.</returns>
    public ManifestPosition CopyTo(string targetDirectory) => new StoreCopy(_context).CopyTo(targetDirectory);

    /// <summary>
    /// Prepares the changes from <paramref name="sinceSequence"/> to the durable manifest, for another store that has
    /// applied all earlier ones. Reads nothing yet. Call it on the background thread.
    /// </summary>
    /// <returns>Null if tombstones since then may have been dropped: the other store then needs a full
    /// snapshot.</returns>
    public StateChanges? BeginChanges(long sinceSequence)
    {
        if (_context.Durable.Deletions.DroppedThrough >= sinceSequence)
        {
            return null;
        }

        EngineState state = _context.Published.Acquire();
        try
        {
            return new StateChanges(
                _context,
                state.Runs,
                _context.Durable.Manifest,
                _context.Durable.Deletions,
                sinceSequence
            );
        }
        finally
        {
            state.Release();
        }
    }

    /// <summary>Returns whether a directory contains a store, according to its runs and manifests.</summary>
    public static StorageUse UseOf(IDisk disk, string directory)
    {
        if (!disk.Exists(directory))
        {
            return StorageUse.None;
        }

        try
        {
            long revision = ManifestSlots.NewestRevision(disk, directory);
            if (revision > 1 || disk.List(directory).Any(static name => RunFileName.TryParse(name, out _)))
            {
                return StorageUse.InUse;
            }

            if (revision == 1)
            {
                return StorageUse.Begun;
            }

            return StorageUse.None;
        }
        catch (StorageFormatException)
        {
            return StorageUse.InUse; // a newer program wrote the manifest
        }
    }

    /// <summary>
    /// Writes the manifest until each slot shows that the store is in use (<see cref="UseOf"/>), so that the loss of
    /// all other files is detected.
    /// </summary>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public void MarkUsed() => _context.Durable.MarkUsed(_context);

    /// <summary>Returns the current state and the counters.</summary>
    public StorageStatistics Statistics() => EngineStatistics.Of(_context, _merges, Problem);

    /// <summary>
    /// Closes the files. Rows that were not flushed remain in the journal only. Before the call, dispose all snapshots
    /// and end background work.
    /// </summary>
    public void Dispose()
    {
        if (_isDisposed)
        {
            return;
        }

        _isDisposed = true;
        Memtables.EndWaits();
        if (_batch.IsOpen)
        {
            _batch.Close();
        }

        _context.Published.Close();
        _context.Cache.Dispose();
        _context.Arenas.Dispose();
        _directoryLock?.Dispose();
        Memtables.Dispose();
    }

    private bool TryBegin(long index, long term, long bytes)
    {
        lock (_context.Gate)
        {
            if (!Memtables.TryMakeRoom(bytes))
            {
                return false;
            }

            _batch.Open(_context.Published.Acquire(), index, term);
        }

        return true;
    }
}
