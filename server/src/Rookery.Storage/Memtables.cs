using Rookery.Platform;
using Rookery.Storage.Engine;
using Rookery.Storage.Memory;
using Rookery.Storage.State;

namespace Rookery.Storage;

/// <summary>
/// The memtables of an engine: the active one and those that are frozen until their flush. Freezes memtables, flushes
/// them on the background thread, and makes the writer wait while two are full.
/// </summary>
public sealed class Memtables : IDisposable
{
    private readonly EngineContext _context;
    private readonly WriteBatch _batch;
    private readonly Flusher _flusher;
    private readonly RetriedStep _flush;
    private readonly ManualResetEventSlim _flushEnded = new();
    private bool _isFlushRequested;
    private bool _isClosed;

    internal Memtables(EngineContext context, WriteBatch batch)
    {
        _context = context;
        _batch = batch;
        _flusher = new Flusher(context);
        _flush = new RetriedStep(context, "flush", _flusher.FlushOldest);
        context.FlushIfNeeded = FlushFrozen;
    }

    /// <summary>
    /// Called on the background thread when a manifest is durable: the journal through that position may be released.
    /// </summary>
    public Action<ManifestPosition>? ManifestWritten { get; set; }

    /// <summary>
    /// Called when there may be background work: a memtable was frozen, or a flush was requested. Must return
    /// immediately.
    /// </summary>
    public Action? WorkArrived { get; set; }

    /// <summary>
    /// Whether a background thread flushes; otherwise the writer itself flushes a full memtable. Set it before that
    /// thread's first step, because two simultaneous flushes would write the same memtable twice.
    /// </summary>
    public bool HasBackgroundWork { get; set; }

    /// <summary>Bytes of the active memtable.</summary>
    public long ActiveBytes => _context.Published.Current.Active.Bytes;

    /// <summary>
    /// Whether a writer waits for a flush or soon will: a memtable is being flushed, and the next one is more than a
    /// quarter full.
    /// </summary>
    public bool IsFlushBehind => _context.IsUrgent;

    /// <summary>
    /// Whether <see cref="Flush"/> has work: a frozen memtable, a requested flush, or a deleted range whose space can
    /// be freed.
    /// </summary>
    public bool IsFlushDue
    {
        get
        {
            EngineState state = _context.Published.Current;
            return state.Frozen.Length > 0
                || (Volatile.Read(ref _isFlushRequested) && !state.Active.IsEmpty)
                || (!state.Active.RangeTombstones.IsEmpty && state.Runs.Files().Any());
        }
    }

    /// <summary>The failure of the last flush; null if it succeeded.</summary>
    public DiskException? Refusal => _flush.Refusal;

    /// <summary>Why the last flush failed, in one sentence; null if it succeeded.</summary>
    internal string? Failure => _flush.Failure;

    /// <summary>
    /// Requests a flush of all applied rows, for instance because the journal grows. <see cref="Flush"/> executes it.
    /// </summary>
    public void RequestFlush()
    {
        Volatile.Write(ref _isFlushRequested, true);
        WorkArrived?.Invoke();
    }

    /// <summary>
    /// Writes the oldest frozen memtable into runs, then the manifest. A failure appears in
    /// <see cref="StorageEngine.Problem"/>; nothing is lost, and the flush can be retried.
    /// </summary>
    /// <returns>Whether a manifest was written.</returns>
    public bool Flush()
    {
        FreezeIfDue();
        bool wasFlushed = _flush.Try();
        _flushEnded.Set();
        if (wasFlushed)
        {
            // Unmaps the memory, because a merge may need it before the next memtable does. Mapping it again takes
            // milliseconds.
            _context.Arenas.Trim();
            NotifyManifestWritten();
        }

        return wasFlushed;
    }

    /// <summary>
    /// Flushes if a flush is due. Call it on the background thread, also while that thread waits for the apply thread:
    /// the apply thread may be waiting for the flush.
    /// </summary>
    /// <returns>Whether it flushed.</returns>
    public bool FlushIfDue() => IsFlushDue && Flush();

    /// <summary>Flushes all applied rows. Call it on the background thread while no batch is open.</summary>
    /// <exception cref="DiskException">A disk operation failed. The remaining rows can be flushed later.</exception>
    internal void FlushAll()
    {
        lock (_context.Gate)
        {
            if (!_context.Published.Current.Active.IsEmpty)
            {
                Freeze(_context.Published.Current);
            }
        }

        while (_flusher.FlushOldest())
        {
            NotifyManifestWritten();
        }

        _flushEnded.Set();
    }

    /// <summary>Resets the memtables after the whole state was replaced: no flush is pending or failed.</summary>
    internal void ClearFlush()
    {
        Volatile.Write(ref _isFlushRequested, false);
        _flush.ForgetFailure();
        _flushEnded.Set();
    }

    /// <summary>Calls <see cref="WorkArrived"/> if a flush is due.</summary>
    internal void NotifyIfFlushDue()
    {
        if (IsFlushDue)
        {
            WorkArrived?.Invoke();
        }
    }

    /// <summary>
    /// Makes room for a batch: freezes a full memtable. The caller holds the gate, and no batch is open.
    /// </summary>
    /// <returns>False if an earlier frozen memtable must be flushed first.</returns>
    internal bool TryMakeRoom(long bytes)
    {
        EngineState current = _context.Published.Current;
        if (!IsFullFor(current.Active, bytes))
        {
            return true;
        }

        if (current.Frozen.Length > 0)
        {
            _flushEnded.Reset();
            if (_isClosed)
            {
                _flushEnded.Set(); // the engine was closed just before the reset
            }

            return false;
        }

        Freeze(current);
        return true;
    }

    /// <summary>
    /// Waits until a flush has ended; without background work it flushes itself. Called on the apply thread.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The engine was closed meanwhile.</exception>
    internal void WaitForFlush()
    {
        if (!HasBackgroundWork)
        {
            Flush();
            FreezeAfterFailure();
            return;
        }

        WorkArrived?.Invoke();
        Interlocked.Increment(ref _context.Counters.WaitingWriters);
        _flushEnded.Wait();
        Interlocked.Decrement(ref _context.Counters.WaitingWriters);
        ObjectDisposedException.ThrowIf(_isClosed, this);
        FreezeAfterFailure();
    }

    /// <summary>Ends the wait of a writer, because the engine is being closed.</summary>
    internal void EndWaits()
    {
        _isClosed = true;
        _flushEnded.Set();
    }

    /// <inheritdoc/>
    public void Dispose() => _flushEnded.Dispose();

    /// <summary>
    /// Returns whether a memtable is full. A memtable that a large batch (a quarter of a memtable or more) would
    /// overflow counts as full.
    /// </summary>
    private bool IsFullFor(Memtable active, long batchBytes)
    {
        long limit = _context.Options.MemtableBytes;
        bool isLargeBatch = batchBytes >= limit / 4;
        return active.Bytes >= limit || (isLargeBatch && active.Bytes + batchBytes > limit && !active.IsEmpty);
    }

    // Freezes one more memtable after a failed flush, because a journal entry must be applied. The failure is reported,
    // and the journal refuses writes before the memory is exhausted.
    private void FreezeAfterFailure()
    {
        if (_flush.Failure is not null)
        {
            lock (_context.Gate)
            {
                Freeze(_context.Published.Current);
            }
        }
    }

    private void FlushFrozen()
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
            if (current.Frozen.Length == 0 && !_batch.IsOpen && IsFlushDue)
            {
                Volatile.Write(ref _isFlushRequested, false);
                Freeze(current);
            }
        }
    }

    // The caller holds the gate, and no batch is open: a memtable ends at the end of a log entry.
    private void Freeze(EngineState current)
    {
        var active = new Memtable(_context.Arenas, _context.Sources.Tables);
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

    private void NotifyManifestWritten() => ManifestWritten?.Invoke(_context.Durable.Manifest.Position);
}
