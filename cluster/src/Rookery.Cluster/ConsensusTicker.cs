using Rookery.Cluster.Commit;
using Rookery.Cluster.Log;
using Rookery.Cluster.Transfer;
using Rookery.Documents.Nodes;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>Steps the core with ticks, 20 times a second, and times out waiting reads, writes and forwards.</summary>
/// <remarks>
/// <see cref="Start"/> is called under the lock of <see cref="RaftHost"/>. A tick takes the lock. At most one tick
/// waits for the lock.
/// </remarks>
internal sealed class ConsensusTicker(
    RaftHost host,
    NodeStore store,
    ReadIndexService reads,
    NodeMeasures measures,
    LogReplication log,
    Proposals proposals,
    SnapshotInstaller installer
) : IDisposable
{
    // The shortest election timeout is 1 s, and the core needs ten ticks in it; this interval gives twenty.
    private static readonly TimeSpan TickInterval = TimeSpan.FromMilliseconds(50);

    private const int TicksBetweenMeasures = 20;

    private ITimer? _timer;
    private int _ticks;
    private bool _isTicking;

    /// <summary>Starts the timer on a node with a network. A node without one needs no ticks.</summary>
    public void Start()
    {
        if (_timer is null && host.Options.Network is not null)
        {
            _timer = store.Time.CreateTimer(_ => TickUnlessOneWaits(), null, TickInterval, TickInterval);
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _timer?.Dispose();

    /// <summary>Steps the core with a tick. Called 20 times a second on a node with a network.</summary>
    public void Tick()
    {
        lock (host.Gate)
        {
            bool isMeasureDue = _ticks % TicksBetweenMeasures == 0;
            _ticks++;
            if (isMeasureDue)
            {
                log.Members.CloseIdleReaders();
                log.Memory.ReleaseIdle(host.Progress.Applied);

                // A reader may have held a segment when its release was reported, so report the release again.
                host.Step(Input.Released(host.Now, store.Journal.FirstIndex - 1));
                measures.MeasureUnderLock();
                reads.RequestIndexOncePerTerm();
                installer.FetchStateIfBlocked();
                installer.ReleaseContentsIfCaughtUp();
            }

            measures.Time.ReadIfDue();
            host.Step(Input.Tick(host.Now));
            reads.EndTimedOut();
            log.Memory.RefuseUncommittedAfterTimeout();
            proposals.Forwarder?.AbandonSilentForwards();
            proposals.Forwarder?.WakeLeaderWaiters();
            host.EndStep();
        }
    }

    /// <summary>
    /// Ticks unless another tick is waiting for the lock. Otherwise, while the lock is held for long, each tick of the
    /// timer would block another pool thread.
    /// </summary>
    private void TickUnlessOneWaits()
    {
        if (Interlocked.Exchange(ref _isTicking, true))
        {
            return;
        }

        try
        {
            Tick();
        }
        finally
        {
            Volatile.Write(ref _isTicking, false);
        }
    }
}
