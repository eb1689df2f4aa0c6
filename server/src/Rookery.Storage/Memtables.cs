using Rookery.Platform;
using Rookery.Storage.Engine;
using Rookery.Storage.Memory;
using Rookery.Storage.State;

namespace Rookery.Storage;

/// <summary>
/// The memtables of an engine: the one that fills, and those that are frozen until they are flushed. Says when one is
/// frozen, flushes on the background thread, and lets the writer wait for a flush that is far behind.
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
        context.FlushBetween = FlushIfBehind;
    }

    /// <summary>
    /// Called on the background thread when a manifest is durable: the journal up to it may be released.
    /// </summary>
    public Action<ManifestPosition>? ManifestDurable { get; set; }

    /// <summary>
    /// Called when there may be background work: a memtable was frozen, a flush was asked for. Must return at once.
    /// </summary>
    public Action? WorkArrived { get; set; }

    /// <summary>
    /// Whether a thread drives the background work; otherwise a full memtable is flushed by the writer itself. That
    /// thread says so before its first step, because two threads that flush at once would write the same memtable
    /// twice.
    /// </summary>
    public bool HasBackgroundWork { get; set; }

    /// <summary>Bytes of the active memtable, which only a flush gives back.</summary>
    public long ActiveBytes => _context.Published.Current.Active.Bytes;

    /// <summary>
    /// Whether a writer waits for a flush, or soon will: while one memtable is flushed, the next is filling.
    /// </summary>
    public bool IsFlushBehind => _context.IsUrgent;

    /// <summary>
    /// Whether <see cref="Flush"/> has something to do: a frozen memtable, a flush that was asked for, or a deleted
    /// range whose space waits.
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

    /// <summary>Why the last flush failed, in one sentence; null when it did not.</summary>
    internal string? Failure => _flush.Failure;

    /// <summary>
    /// Asks that what is applied be flushed soon (a journal that grows old, a clean stop). <see cref="Flush"/> then
    /// does it.
    /// </summary>
    public void RequestFlush()
    {
        Volatile.Write(ref _isFlushRequested, true);
        WorkArrived?.Invoke();
    }

    /// <summary>
    /// Writes the oldest frozen memtable into runs and flips the manifest. A failure is kept for
    /// <see cref="StorageEngine.Health"/>; nothing is lost, and it can be tried again.
    /// </summary>
    /// <returns>Whether a manifest was made durable.</returns>
    public bool Flush()
    {
        FreezeIfDue();
        bool done = _flush.Try();
        _flushEnded.Set();
        if (done)
        {
            // mapped anew in milliseconds when the next memtable grows; a merge may need that memory before
            _context.Arenas.Trim();
            TellDurable();
        }

        return done;
    }

    /// <summary>
    /// Flushes when that is due. On the background thread: also while that waits for who applies, and who may wait for
    /// the flush.
    /// </summary>
    /// <returns>Whether it was.</returns>
    public bool FlushIfDue() => IsFlushDue && Flush();

    /// <summary>
    /// Flushes all that is applied. On the background thread, while nothing is applied.
    /// </summary>
    /// <exception cref="DiskException">The disk refused; what is not flushed waits for another attempt.</exception>
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
            TellDurable();
        }

        _flushEnded.Set();
    }

    /// <summary>All there was has been replaced: nothing waits for a flush any more, and none has failed.</summary>
    internal void ForgetFlush()
    {
        Volatile.Write(ref _isFlushRequested, false);
        _flush.ForgetFailure();
        _flushEnded.Set();
    }

    /// <summary>Tells that there is work when a flush is due.</summary>
    internal void TellIfFlushDue()
    {
        if (IsFlushDue)
        {
            WorkArrived?.Invoke();
        }
    }

    /// <summary>Makes room for a batch: freezes a full memtable. Under the gate, while no batch is open.</summary>
    /// <returns>False when the one frozen before has to be flushed first.</returns>
    internal bool TryMakeRoom(long bytes)
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

        return true;
    }

    /// <summary>Waits until a flush has ended, or flushes where nobody else does. By who applies.</summary>
    /// <exception cref="ObjectDisposedException">The engine was closed meanwhile.</exception>
    internal void WaitForFlush()
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
        ObjectDisposedException.ThrowIf(_isClosed, this);
        GrowAfterFailure();
    }

    /// <summary>Ends the wait of a writer: the engine is being closed.</summary>
    internal void EndWaits()
    {
        _isClosed = true;
        _flushEnded.Set();
    }

    /// <inheritdoc/>
    public void Dispose() => _flushEnded.Dispose();

    // What is in the journal is applied, whatever the disk says to a flush: the failure is there to be seen, and the
    // journal ends before memory does.
    private void GrowAfterFailure()
    {
        if (_flush.Failure is not null)
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
            if (current.Frozen.Length == 0 && !_batch.IsOpen && IsFlushDue)
            {
                Volatile.Write(ref _isFlushRequested, false);
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

    private void TellDurable() => ManifestDurable?.Invoke(_context.Durable.Manifest.Position);
}
