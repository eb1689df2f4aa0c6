using Rookery.Cluster.Commit;
using Rookery.Cluster.Log;
using Rookery.Cluster.Transfer;
using Rookery.Journal;

namespace Rookery.Cluster;

/// <summary>
/// Carries out what the core says, in this order: entries are kept before they are written or sent, and applied no
/// farther than the step says.
/// </summary>
/// <remarks>Called under the lock of <see cref="RaftHost"/>, but for <see cref="EndLatched"/>.</remarks>
internal sealed class StepHandler(
    RaftHost host,
    ReadIndexService reads,
    LogReplication log,
    Proposals proposals,
    CommitThreads threads,
    SnapshotInstaller installer,
    ConsensusTicker ticker,
    CoreEventTeller events
)
{
    /// <summary>Told under the lock, so to return at once, when leader or term may have changed.</summary>
    public Action? RoleSeen { get; set; }

    /// <summary>
    /// Carries out <see cref="RaftHost.Output"/>: keeps entries, begins the journal write, sends. Under the lock, so
    /// without input or output.
    /// </summary>
    public void CarryOut(LogFrame? proposed, ReadOnlySpan<JournalFrame> received)
    {
        log.Memory.TakeIn(proposed, received);
        if (!proposals.Receipts.IsIdle)
        {
            proposals.Receipts.See(host.Core, host.Now);
        }

        installer.BeginIfOffered();
        if (log.Journal.BeginIfDue())
        {
            proposals.Queue.Wake();
        }

        log.Members.Send();
        reads.Serve();
        SeeRole();
        host.Progress.MayApplyThrough(host.Core.ApplyThrough);
        events.Tell();
    }

    /// <summary>
    /// Begins what became due by a step and is itself a step, or another thread's work. Under the lock.
    /// </summary>
    public void EndStep()
    {
        reads.AskForNextIfDue();
        threads.WakeToApplyIfDue();
    }

    /// <summary>
    /// Answers those who wait, and wakes the threads that refuse the rest: the node is latched.
    /// </summary>
    public void EndLatched()
    {
        reads.End();
        threads.RefuseNext();
    }

    /// <summary>
    /// Publishes who leads and who belongs to the cluster, and answers who waits for a majority that this node does not
    /// have any more. Under the lock.
    /// </summary>
    private void SeeRole()
    {
        var change = host.Leadership.See();
        if (change.HasFlag(LeadershipChange.ConfigurationMade))
        {
            ticker.Start();
        }

        if (change.HasFlag(LeadershipChange.TransferEnded))
        {
            proposals.Queue.Wake();
        }

        if (change.HasFlag(LeadershipChange.RoleOrMembers))
        {
            log.Journal.KeepEntries();
        }

        if (!change.HasFlag(LeadershipChange.Role))
        {
            return;
        }

        proposals.Forwarder?.GiveUpSilent();
        proposals.Queue.Wake();
        proposals.Forwarder?.WakeLeaderWaiters();
        RoleSeen?.Invoke();
    }
}
