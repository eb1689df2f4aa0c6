using Rookery.Platform;
using Rookery.Storage.Engine;
using Rookery.Storage.Manifest;
using Rookery.Storage.Memory;
using Rookery.Storage.Repair;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage;

/// <summary>
/// The log-structured store of one node: a memtable, frozen memtables on their way to disk, immutable sorted runs, and
/// two manifest slots. What is applied is durable only after a flush; until then the caller keeps the journal
/// (<see cref="ManifestDurable"/>).
/// </summary>
/// <remarks>
/// Threads: one applies (<see cref="Begin"/> to <see cref="Apply"/>), one does background work (<see cref="Flush"/>,
/// <see cref="CompactOnce"/>, <see cref="ScrubOnce"/>,
/// <see cref="TrimIdle"/>, <see cref="Checkpoint"/>), any number read. None of them waits for another, except a writer
/// for a flush that is far behind.
/// </remarks>
public sealed partial class StorageEngine : IDisposable
{
    private readonly IDisposable? _directoryLock;
    private readonly EngineContext _context;
    private readonly Flusher _flusher;
    private readonly Compactor _compactor;
    private readonly Scrubber _scrubber;
    private readonly FileRepair _repair;
    private readonly WriteBatch _batch;
    private readonly ManualResetEventSlim _flushEnded = new();
    private string? _flushFailure;
    private string? _compactionFailure;
    private bool _flushRequested;
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

        _flusher = new Flusher(_context);
        _context.FlushBetween = FlushIfBehind;
        _compactor = new Compactor(_context);
        _scrubber = new Scrubber(_context);
        _repair = new FileRepair(_context, new Memtable(_context.Arenas));
        _batch = new WriteBatch(options.ChunkBytes);
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

    /// <summary>What is on disk for good: replay the journal from the index after it.</summary>
    public ManifestPosition Durable => _context.Durable.Manifest.Position;

    /// <summary>The last operation number (etag) applied.</summary>
    public long Sequence => _context.Published.Current.Position.Sequence;

    /// <summary>The journal index of the last batch applied.</summary>
    public long AppliedIndex => _context.Published.Current.Position.Index;

    /// <summary>
    /// How often <see cref="Install"/> has replaced all there was. It rises before a snapshot can see the new state.
    /// </summary>
    public long Installs => Volatile.Read(ref _context.Installs);

    /// <summary>
    /// Names this store for as long as it exists: drawn at random when the directory, or the checkpoint in it, is first
    /// opened to be written. Empty in a checkpoint that is only read.
    /// </summary>
    public Guid StoreId => _context.Durable.Manifest.StoreId;

    /// <summary>
    /// Called on the background thread when a manifest is durable: the journal up to it may be released.
    /// </summary>
    public Action<ManifestPosition>? ManifestDurable { get; set; }

    /// <summary>Called when a damaged place is found, once for each, on the thread that found it.</summary>
    public Action<DamageEvent>? DamageFound { get; set; }

    /// <summary>
    /// Called when there may be background work: a memtable was frozen, a flush was asked for. Must return at once.
    /// </summary>
    public Action? WorkArrived { get; set; }

    /// <summary>Whether a damaged place is known that was not repaired since.</summary>
    public bool HasDamage => !_context.Sources.Damage.IsEmpty;

    /// <summary>What is wrong, in one sentence; null when nothing is.</summary>
    public string? Health => Failure ?? (_context.Sources.Damage.Events is [var first, ..] ? first.Sentence : null);

    /// <summary>
    /// Whether a thread drives the background work; otherwise a full memtable is flushed by the writer itself. That
    /// thread says so before its first step, because two threads that flush at once would write the same memtable
    /// twice.
    /// </summary>
    public bool HasBackgroundWork { get; set; }

    /// <summary>
    /// Why the last flush or the last step of compaction failed, in one sentence: it is to be tried again after a rest.
    /// Null when neither did.
    /// </summary>
    public string? Failure => Volatile.Read(ref _flushFailure) ?? Volatile.Read(ref _compactionFailure);

    /// <summary>Bytes of the active memtable, which only a flush gives back.</summary>
    public long MemtableBytes => _context.Published.Current.Active.Bytes;

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
            WaitForFlush();
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

        if (FlushDue)
        {
            WorkArrived?.Invoke();
        }
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
    /// Whether a writer waits for a flush, or soon will: while one memtable is flushed, the next is filling.
    /// </summary>
    public bool IsFlushBehind => _context.IsUrgent;

    /// <summary>
    /// Whether <see cref="Flush"/> has something to do: a frozen memtable, a flush that was asked for, or a deleted
    /// range whose space waits.
    /// </summary>
    public bool FlushDue
    {
        get
        {
            EngineState state = _context.Published.Current;
            return state.Frozen.Length > 0
                || (Volatile.Read(ref _flushRequested) && !state.Active.IsEmpty)
                || (!state.Active.RangeTombstones.IsEmpty && state.Runs.Files().Any());
        }
    }

    /// <summary>
    /// Asks that what is applied be flushed soon (a journal that grows old, a clean stop). <see cref="Flush"/> then
    /// does it.
    /// </summary>
    public void RequestFlush()
    {
        Volatile.Write(ref _flushRequested, true);
        WorkArrived?.Invoke();
    }

    /// <summary>
    /// Writes the oldest frozen memtable into runs and flips the manifest. A failure is kept for <see cref="Health"/>;
    /// nothing is lost, and it can be tried again.
    /// </summary>
    /// <returns>Whether a manifest was made durable.</returns>
    public bool Flush()
    {
        FreezeIfDue();
        bool done = Try(_flusher.FlushOldest, "flush", ref _flushFailure);
        _flushEnded.Set();
        if (done)
        {
            // mapped anew in milliseconds when the next memtable grows; a merge may need that memory before
            _context.Arenas.Trim();
            ManifestDurable?.Invoke(Durable);
        }

        return done;
    }

    /// <summary>
    /// Flushes when that is due. On the thread that does background work: also while that waits for who applies, and
    /// who may wait for the flush.
    /// </summary>
    /// <returns>Whether it was.</returns>
    public bool FlushIfDue() => FlushDue && Flush();

    /// <summary>
    /// Does one step of compaction: writes at most one output file, or keeps runs as they are in a larger one.
    /// </summary>
    /// <returns>Whether there was a step to do and it was done.</returns>
    public bool CompactOnce() => Try(_compactor.Step, "compaction", ref _compactionFailure);

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
        _flushEnded.Set();
        if (_batch.IsOpen)
        {
            _batch.Close();
        }

        _context.Published.Close();
        _context.Cache.Dispose();
        _context.Arenas.Dispose();
        _directoryLock?.Dispose();
        _flushEnded.Dispose();
    }

    private bool TryBegin(long index, long term, long bytes)
    {
        lock (_context.Gate)
        {
            EngineState current = _context.Published.Current;
            long limit = _context.Options.MemtableBytes;
            bool isFull =
                current.Active.Bytes >= limit
                || (bytes >= limit / 4 && current.Active.Bytes + bytes > limit && !current.Active.IsEmpty);
            if (isFull && current.Frozen.Length > 0)
            {
                _flushEnded.Reset();
                return false;
            }

            if (isFull)
            {
                Freeze(current);
            }

            _batch.Open(_context.Published.Acquire(), index, term);
        }

        return true;
    }

    private void WaitForFlush()
    {
        if (!HasBackgroundWork)
        {
            Flush(); // nobody else would
            GrowAfterFailure();
            return;
        }

        WorkArrived?.Invoke();
        Interlocked.Increment(ref _context.Counters.WaitingWriters);
        _flushEnded.Wait();
        Interlocked.Decrement(ref _context.Counters.WaitingWriters);
        ObjectDisposedException.ThrowIf(_disposed, this);
        GrowAfterFailure();
    }

    // What is in the journal is applied, whatever the disk says to a flush: the failure is there to be seen, and the
    // journal ends before memory does.
    private void GrowAfterFailure()
    {
        if (Volatile.Read(ref _flushFailure) is not null)
        {
            lock (_context.Gate)
            {
                Freeze(_context.Published.Current);
            }
        }
    }

    private void FlushIfBehind()
    {
        if (_context.Published.Current.Frozen.Length > 0)
        {
            Flush();
        }
    }

    private void FreezeIfDue()
    {
        lock (_context.Gate)
        {
            EngineState current = _context.Published.Current;
            if (current.Frozen.Length == 0 && !_batch.IsOpen && FlushDue)
            {
                Volatile.Write(ref _flushRequested, false);
                Freeze(current);
            }
        }
    }

    // Under the gate, and while no batch is open: a memtable ends where a journal frame ends.
    private void Freeze(EngineState current)
    {
        var active = new Memtable(_context.Arenas);
        _context.Published.Replace(
            new EngineState(
                _context.Sources,
                active,
                [current.Active, .. current.Frozen],
                current.Runs,
                current.RangeTombstones,
                current.Position
            )
        );
        active.Release();
    }

    private bool Try(Func<bool> work, string name, ref string? failure)
    {
        _context.Garbage.Collect();
        try
        {
            bool done = work();
            Volatile.Write(ref failure, null);
            return done;
        }
        catch (DiskException refused)
        {
            _context.Counters.Failures++;
            Volatile.Write(ref failure, $"A {name} failed and will be tried again: {refused.Message}");
            return false;
        }
    }
}
