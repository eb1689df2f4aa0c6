using Rookery.Cluster.Commit;
using Rookery.Cluster.Log;
using Rookery.Cluster.Transfer;
using Rookery.Journal;

namespace Rookery.Cluster;

/// <summary>
/// Executes the output of one step of <see cref="Raft.RaftCore"/>. Caches the entries first, because journal writes and
/// messages take them from the cache. Raises the index through which entries may be applied last.
/// </summary>
/// <remarks>Called under the lock of <see cref="RaftHost"/>, except <see cref="RefuseAllWaiting"/>.</remarks>
internal sealed class StepHandler(
    RaftHost host,
    ReadIndexService reads,
    LogReplication log,
    Proposals proposals,
    CommitThreads threads,
    SnapshotInstaller installer,
    ConsensusTicker ticker,
    CoreEventReporter events
)
{
    /// <summary>Invoked under the lock when leader or term may have changed. It must return at once.</summary>
    public Action? LeadershipChanged { get; set; }

    /// <summary>
    /// Executes <see cref="RaftHost.Output"/>: caches entries, collects the records of the next journal write and wakes
    /// the journal thread, and sends messages. Under the lock, so without I/O.
    /// </summary>
    public void Execute(CachedEntry? proposed, ReadOnlySpan<JournalFrame> received)
    {
        log.Memory.UpdateAfterStep(proposed, received);
        if (!proposals.Receipts.IsIdle)
        {
            proposals.Receipts.Update(host.Core, host.Now);
        }

        installer.BeginIfOffered();
        if (log.Journal.CollectIfDue())
        {
            proposals.Queue.Wake();
        }

        log.Members.Send();
        reads.HandleReadResults();
        HandleLeadershipChange();
        host.Progress.SetApplicableThrough(host.Core.ApplyThrough);
        events.Report();
    }

    /// <summary>
    /// Requests the next read index and wakes the apply thread, if the steps made that due. Under the lock.
    /// </summary>
    public void EndStep()
    {
        reads.RequestIndexIfDue();
        threads.WakeToApplyIfDue();
    }

    /// <summary>
    /// Refuses the waiting readers, and wakes the threads that refuse the waiting writers. Called when the node enters
    /// diagnosis mode.
    /// </summary>
    public void RefuseAllWaiting()
    {
        reads.RefuseWaiting();
        threads.WakeToRefuse();
    }

    /// <summary>
    /// Publishes the leader and the configuration. If leader or term may have changed, abandons forwards to silent
    /// leaders, and wakes the journal thread and the callers that wait for a leader. Under the lock.
    /// </summary>
    private void HandleLeadershipChange()
    {
        var change = host.Leadership.Publish();
        if (change.HasFlag(LeadershipChange.ConfigurationProposed))
        {
            // The cluster may have other members now, so the core needs ticks. Does nothing if already started.
            ticker.Start();
        }

        if (change.HasFlag(LeadershipChange.TransferEnded))
        {
            proposals.Queue.Wake();
        }

        if (change.HasFlag(LeadershipChange.RoleOrMembers))
        {
            log.Journal.SetRetainedBytes();
        }

        if (!change.HasFlag(LeadershipChange.Role))
        {
            return;
        }

        proposals.Forwarder?.AbandonSilentForwards();
        proposals.Queue.Wake();
        proposals.Forwarder?.WakeLeaderWaiters();
        LeadershipChanged?.Invoke();
    }
}
