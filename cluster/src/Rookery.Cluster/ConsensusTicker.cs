using Rookery.Cluster.Commit;
using Rookery.Cluster.Log;
using Rookery.Cluster.Transfer;
using Rookery.Documents.Nodes;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>Tells the core, and all that wait for something, that time went on.</summary>
/// <remarks>
/// <see cref="Start"/> is called under the lock of <see cref="RaftHost"/>; a tick takes the lock, and one at a time
/// waits for it.
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
    // The shortest election timeout is a second, and the core wants ten ticks in it.
    private static readonly TimeSpan TickInterval = TimeSpan.FromMilliseconds(50);

    private const int TicksBetweenMeasures = 20;

    private ITimer? _clock;
    private int _ticks;
    private bool _isTicking;

    /// <summary>Begins to tick by itself where there is a network. A node alone needs no clock.</summary>
    public void Start()
    {
        if (_clock is null && host.Options.Network is not null)
        {
            _clock = store.Time.CreateTimer(_ => TickUnlessOneWaits(), null, TickInterval, TickInterval);
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _clock?.Dispose();

    /// <summary>Time went on. Twenty times a second while there are other members.</summary>
    public void Tick()
    {
        lock (host.Gate)
        {
            if (_ticks++ % TicksBetweenMeasures == 0)
            {
                log.Members.CloseIdleReaders();
                log.Memory.ReleaseIdle(host.Progress.Applied);

                // A segment that a reader kept is given back after the manifest that released it was told of.
                host.Step(Input.Released(host.Now, store.Journal.FirstIndex - 1));
                measures.TakeUnderLock();
                reads.AskWhetherCaughtUp();
                installer.SeekStateIfNeeded();
            }

            measures.Time.ReadIfDue();
            host.Step(Input.Tick(host.Now));
            reads.GiveUpLate();
            log.Memory.GiveUpUncommitted();
            proposals.Forwarder?.GiveUpSilent();
            proposals.Forwarder?.WakeLeaderWaiters();
            host.EndStep();
        }
    }

    /// <summary>
    /// A timer does not wait for who it called: while the lock is held for long, ticks would take one thread of the
    /// pool after the other.
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
