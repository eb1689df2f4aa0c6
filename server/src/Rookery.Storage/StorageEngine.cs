using Rookery.Platform;
using Rookery.Storage.Engine;
using Rookery.Storage.Install;
using Rookery.Storage.Manifest;
using Rookery.Storage.Repair;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage;

/// <summary>
/// The log-structured store of one node: a memtable, frozen memtables on their way to disk, immutable sorted runs, and
/// two manifest slots. What is applied is durable only after a flush; until then the caller keeps the journal
/// (<see cref="Storage.Memtables.ManifestDurable"/>).
/// </summary>
/// <remarks>
/// Threads: one applies (<see cref="Begin"/> to <see cref="Apply"/>), one does background work
/// (<see cref="Storage.Memtables.Flush"/>, <see cref="CompactOnce"/>, <see cref="ScrubOnce"/>,
/// <see cref="TrimIdle"/>, <see cref="Checkpoint"/>), any number read. None of them waits for another, except a writer
/// for a flush that is far behind.
/// </remarks>
public sealed class StorageEngine : IDisposable
{
    private readonly IDisposable? _directoryLock;
    private readonly EngineContext _context;
    private readonly Compactor _compactor;
    private readonly Scrubber _scrubber;
    private readonly RetriedStep _compaction;
    private readonly WriteBatch _batch;
    private bool _disposed;

    private StorageEngine(IDisk disk, StorageOptions options, MemoryBudget budget, IIoRecorder io, TimeProvider time)
    {
        if (!options.ReadOnly)
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
        _compactor = new Compactor(_context);
        _compaction = new RetriedStep(_context, "compaction", _compactor.Step);
        _scrubber = new Scrubber(_context);
        Repairs = new FileRepair(_context);
        Installer = new StateInstaller(_context, _batch, Memtables);
    }

    /// <summary>
    /// Opens a directory, or makes it. Missing or damaged runs do not stop it: they are in <see cref="Statistics"/>.
    /// </summary>
    /// <param name="disk">The disk.</param>
    /// <param name="options">Directory, tables and sizes.</param>
    /// <param name="budget">What memtables and block cache draw on.</param>
    /// <param name="io">Takes notes of disk work.</param>
    /// <param name="time">For the age of readers.</param>
    /// <exception cref="StorageFormatException">It was written by a newer version, or no manifest slot can be
    /// trusted.</exception>
    /// <exception cref="DiskException">The disk refused, or another process has the directory open.</exception>
    public static StorageEngine Open(
        IDisk disk,
        StorageOptions options,
        MemoryBudget budget,
        IIoRecorder io,
        TimeProvider time
    ) => new(disk, options, budget, io, time);

    /// <summary>
    /// Deletes the runs that the manifest did not name when it was opened: left-overs of a crash. Called when the
    /// journal is known to go on behind that manifest. The manifest may be the older of two: if the newer is lost,
    /// these runs are all there is. For the same reason nothing is deleted while runs cannot be read.
    /// </summary>
    public void DeleteLeftOvers()
    {
        if (_context.Published.Current.Runs.Files().All(static file => file.IsReadable))
        {
            foreach (string path in _context.LeftOvers.Where(_context.Disk.Exists))
            {
                _context.Disk.Delete(path);
            }
        }
    }

    /// <summary>The memtables: when they are frozen, flushed and waited for.</summary>
    public Memtables Memtables { get; }

    /// <summary>Puts the state of another store in the place of this one.</summary>
    public StateInstaller Installer { get; }

    /// <summary>Repairs damaged files with the rows of another store.</summary>
    public FileRepair Repairs { get; }

    /// <summary>What is on disk for good: replay the journal from the index after it.</summary>
    public ManifestPosition Durable => _context.Durable.Manifest.Position;

    /// <summary>The last operation number (etag) applied.</summary>
    public long Sequence => _context.Published.Current.Position.Sequence;

    /// <summary>The journal index of the last batch applied.</summary>
    public long AppliedIndex => _context.Published.Current.Position.Index;

    /// <summary>
    /// How often <see cref="StateInstaller.Install"/> has replaced all there was. It rises before a snapshot can see
    /// the new state.
    /// </summary>
    public long Installs => Volatile.Read(ref _context.Installs);

    /// <summary>
    /// Names this store for as long as it exists: drawn at random when the directory, or the checkpoint in it, is first
    /// opened to be written. Empty in a checkpoint that is only read.
    /// </summary>
    public Guid StoreId => _context.Durable.Manifest.StoreId;

    /// <summary>Called when a damaged place is found, once for each, on the thread that found it.</summary>
    public Action<DamageEvent>? DamageFound { get; set; }

    /// <summary>Whether a damaged place is known that was not repaired since.</summary>
    public bool HasDamage => !_context.Sources.Damage.IsEmpty;

    /// <summary>What is wrong, in one sentence; null when nothing is.</summary>
    public string? Health => Failure ?? (_context.Sources.Damage.Events is [var first, ..] ? first.Sentence : null);

    /// <summary>
    /// Why the last flush or the last step of compaction failed, in one sentence: it is to be tried again after a rest.
    /// Null when neither did.
    /// </summary>
    public string? Failure => Memtables.Failure ?? _compaction.Failure;

    /// <summary>
    /// As <see cref="StorageOptions.KeptDeletions"/>. What was not kept before is counted: raising it is safe at any
    /// time.
    /// </summary>
    public long KeptDeletions
    {
        get => _context.KeptDeletions;
        set => _context.KeptDeletions = value;
    }

    /// <summary>
    /// Begins the batch of one journal frame; waits for a flush if memtables are full. Without background work it
    /// flushes itself.
    /// </summary>
    /// <param name="index">The frame's index, higher than the last.</param>
    /// <param name="term">The frame's term.</param>
    /// <param name="bytes">About how many bytes it will put: a large batch begins a memtable of its own, instead of
    /// making a nearly full one twice as large.</param>
    /// <exception cref="ObjectDisposedException">The engine was closed, perhaps while this waited.</exception>
    public WriteBatch Begin(long index, long term, long bytes = 0)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        Invariant.Holds(!_context.Options.ReadOnly, "a directory that was opened to read is not written to");
        Invariant.Holds(index > AppliedIndex, "batches are applied in order of their index");
        while (!TryBegin(index, term, bytes))
        {
            Memtables.WaitForFlush();
        }

        return _batch;
    }

    /// <summary>Makes the batch visible, all at once, to snapshots opened afterwards. Never syncs.</summary>
    /// <param name="applied">What <see cref="Begin"/> gave.</param>
    /// <param name="lastSequence">The last operation number that the frame used, by operations that wrote nothing
    /// too.</param>
    public void Apply(WriteBatch applied, long lastSequence)
    {
        Invariant.Holds(applied == _batch && _batch.IsOpen, "the batch that is applied is the one that was begun");
        Invariant.Holds(lastSequence >= Sequence, "sequences never fall");
        var position = new ManifestPosition(_batch.Index, _batch.Term, lastSequence);
        lock (_context.Gate)
        {
            EngineState current = _context.Published.Current;
            RangeTombstoneSet all = current.RangeTombstones;
            RangeTombstoneSet own = current.Active.RangeTombstones;
            if (_batch.Ranges.Count > 0)
            {
                var added = new RangeTombstoneSet(_batch.Ranges);
                all = RangeTombstoneSet.Union([all, added]);
                own = RangeTombstoneSet.Union([own, added]);
            }

            current.Active.CompleteBatch(position, own);
            _context.Published.Replace(
                new EngineState(_context.Sources, current.Active, current.Frozen, current.Runs, all, position)
            );
            _batch.Close();
        }

        Memtables.TellIfFlushDue();
    }

    /// <summary>Takes back the batch that was begun, if there is one: nobody has seen anything of it.</summary>
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

    /// <summary>Opens what is applied by now to read. Neither locks nor allocates.</summary>
    /// <exception cref="ObjectDisposedException">The engine was closed.</exception>
    public Snapshot OpenSnapshot() => new(_context.Published.Acquire());

    /// <summary>
    /// Does one step of compaction: writes at most one output file, or keeps runs as they are in a larger one.
    /// </summary>
    /// <returns>Whether there was a step to do and it was done.</returns>
    public bool CompactOnce() => _compaction.Try();

    /// <summary>
    /// Checks some bytes of the runs against their checksums, going round. Damage is reported by
    /// <see cref="DamageFound"/>.
    /// </summary>
    /// <returns>Whether the round is complete.</returns>
    public bool ScrubOnce(long budgetBytes) => _scrubber.Step(budgetBytes);

    /// <summary>
    /// Gives memory back that is not in use, and the files that only a reader still held; about every half minute.
    /// Writes nothing when there is nothing.
    /// </summary>
    public void TrimIdle()
    {
        _context.Readers.Bound();
        _context.Garbage.Collect();
        _context.Arenas.Trim();
        _context.Cache.TrimIdle();
    }

    /// <summary>
    /// Makes a directory that <see cref="Open"/> opens: what is durable now, by hard links (copies across file
    /// systems). On the background thread, or while there is none.
    /// </summary>
    /// <param name="targetDirectory">Missing or empty. When this fails it holds an incomplete checkpoint, which has no
    /// manifest.</param>
    /// <returns>What it contains: the journal after that is the caller's to add.</returns>
    public ManifestPosition Checkpoint(string targetDirectory) => new Checkpointer(_context).CopyTo(targetDirectory);

    /// <summary>
    /// What changed since a store had applied everything below <paramref name="since"/>, as of the durable manifest. On
    /// the background thread. Nothing is read yet.
    /// </summary>
    /// <returns>Null when this store does not know any more all that was deleted since then: the other one needs
    /// everything.</returns>
    public StateChanges? BeginChanges(long since)
    {
        if (_context.Durable.Deletions.ForgottenThrough >= since)
        {
            return null;
        }

        EngineState state = _context.Published.Acquire();
        try
        {
            return new StateChanges(_context, state.Runs, _context.Durable.Manifest, _context.Durable.Deletions, since);
        }
        finally
        {
            state.Release();
        }
    }

    /// <summary>What runs and manifests in a directory say of its use.</summary>
    public static StorageUse UseOf(IDisk disk, string directory)
    {
        if (!disk.Exists(directory))
        {
            return StorageUse.None;
        }

        try
        {
            long revision = ManifestSlots.NewestRevision(disk, directory);
            return revision > 1 || disk.List(directory).Any(static name => RunFileName.TryParse(name, out _))
                    ? StorageUse.InUse
                : revision == 1 ? StorageUse.Begun
                : StorageUse.None;
        }
        catch (StorageFormatException)
        {
            return StorageUse.InUse; // a newer program wrote the manifest
        }
    }

    /// <summary>
    /// Lets each slot say that the store is in use (<see cref="UseOf"/>), so that the loss of every other file shows.
    /// Writes only what no slot says yet.
    /// </summary>
    /// <exception cref="DiskException">The disk refused.</exception>
    public void MarkUsed() => _context.Durable.MarkUsed(_context);

    /// <summary>What is there and what was done.</summary>
    public StorageStatistics Statistics() => EngineStatistics.Of(_context, _compactor, Health);

    /// <summary>
    /// Closes the files. What was not flushed is the journal's. Snapshots must be disposed and background work ended
    /// before.
    /// </summary>
    public void Dispose()
    {
        if (_disposed)
        {
            return;
        }

        _disposed = true;
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
