using Rookery.Documents.Nodes;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>Measures the store's health for the core: the duration of journal writes, and the free space.</summary>
/// <remarks>
/// <see cref="BeginWrite"/> and <see cref="EndWrite"/> are called by the thread that writes the journal.
/// <see cref="Measure"/> is called under the lock of <see cref="RaftHost"/>.
/// </remarks>
internal sealed class StoreHealthMeter(RaftHost host, NodeStore store)
{
    private readonly SyncTimes _syncs = new();
    private long _writeStartedAt; // 0 when no write is outstanding

    // The journal's progress as last read, and when it last changed, in microseconds of the host's time.
    private long _progressSeen;
    private long _progressAt;

    /// <summary>
    /// The 99th percentile of the duration of recent journal writes, in microseconds; 0 before the first write.
    /// </summary>
    public long SlowWriteMicroseconds => _syncs.Percentile99();

    /// <summary>Records that a journal write begins.</summary>
    /// <param name="now">The host's time in microseconds.</param>
    public void BeginWrite(long now) => Volatile.Write(ref _writeStartedAt, Math.Max(now, 1));

    /// <summary>Records that a journal write succeeded. A failed write stays outstanding.</summary>
    /// <param name="microseconds">The duration of the write.</param>
    public void EndWrite(long microseconds)
    {
        Volatile.Write(ref _writeStartedAt, 0);
        _syncs.Add(microseconds);
    }

    /// <summary>Reports the store's health to the core. Under the lock.</summary>
    public void Measure() =>
        host.Step(
            Input.Measured(
                host.Now,
                new StoreHealth(
                    _syncs.Percentile99(),
                    StallMicroseconds(),
                    BoardPenalty: host.Progress.IsBlocked ? StoreHealth.CannotApply : host.Options.BoardPenalty(),
                    store.Space.SpareBytes
                )
            )
        );

    /// <summary>
    /// Returns how long the outstanding write has made no progress, in microseconds; 0 when none is outstanding.
    /// </summary>
    private long StallMicroseconds()
    {
        long startedAt = Volatile.Read(ref _writeStartedAt);
        long written = store.Journal.Progress;
        if (written != _progressSeen)
        {
            _progressSeen = written;
            _progressAt = host.Now;
        }

        return startedAt == 0 ? 0 : host.Now - Math.Max(startedAt, _progressAt);
    }
}
