using Rookery.Cluster.Commit;
using Rookery.Cluster.Log;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Transfer;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Carries out what the core says, in this order: entries are kept before they are written or sent, and applied no
/// farther than the step says.
/// </summary>
/// <remarks>Called under the lock of <see cref="RaftHost"/>, but for <see cref="EndLatched"/>.</remarks>
internal sealed class StepHandler(
    RaftHost host,
    NodeStore store,
    MemberRoster roster,
    Leadership leadership,
    ApplyProgress progress,
    ReadIndexService reads,
    ReplicatedLog log,
    EntrySender sender,
    ReceiptKeeper receipts,
    ProposalForwarder? forwarder,
    ProposalQueue queue,
    JournalWriter writer,
    WritePipeline writes,
    ApplyPipeline applies,
    CommitThreads threads,
    SnapshotInstaller installer,
    ConsensusTicker ticker,
    ConsensusOptions options
)
{
    private const string Diverged =
        "This node came to other results than a majority by applying the same writes, so it stopped taking "
        + "part. Keep its data for a report, and let another, empty card join in its place.";

    /// <summary>Told under the lock, so to return at once, when leader or term may have changed.</summary>
    public Action? RoleSeen { get; set; }

    /// <summary>
    /// Carries out <see cref="RaftHost.Output"/>: keeps entries, begins the journal write, sends. Under the lock, so
    /// without input or output.
    /// </summary>
    public void CarryOut(LogFrame? proposed, ReadOnlySpan<JournalFrame> received)
    {
        log.TakeIn(proposed, received);
        if (!receipts.IsIdle)
        {
            receipts.See(host.Core, host.Now);
        }

        installer.BeginIfOffered();
        if (writer.BeginIfDue())
        {
            queue.Wake();
        }

        sender.Send();
        reads.Serve();
        SeeRole();
        progress.MayApplyThrough(host.Core.ApplyThrough);
        TellEvents();
    }

    /// <summary>
    /// Begins what became due by a step and is itself a step, or another thread's work. Under the lock.
    /// </summary>
    public void EndStep()
    {
        reads.AskForNextIfDue();
        if (applies.HasToApply)
        {
            threads.WakeToApply();
        }
    }

    /// <summary>
    /// Answers those who wait, and wakes the threads that refuse the rest: the node is latched.
    /// </summary>
    public void EndLatched()
    {
        reads.End();
        applies.RefuseNext();
        queue.Wake();
        threads.WakeToApply();
    }

    /// <summary>Keeps so much of the journal as members may ask for. Under the lock.</summary>
    public void KeepEntries() =>
        store.Journal.KeptBytes = leadership.MayBeAskedForEntries ? options.KeptJournalBytes : 0;

    /// <summary>
    /// Publishes who leads and who belongs to the cluster, and answers who waits for a majority that this node does not
    /// have any more. Under the lock.
    /// </summary>
    private void SeeRole()
    {
        var change = leadership.See();
        if (change.HasFlag(LeadershipChange.ConfigurationMade))
        {
            ticker.Start();
        }

        if (change.HasFlag(LeadershipChange.TransferEnded))
        {
            queue.Wake();
        }

        if (change.HasFlag(LeadershipChange.RoleOrMembers))
        {
            KeepEntries();
        }

        if (!change.HasFlag(LeadershipChange.Role))
        {
            return;
        }

        forwarder?.GiveUpSilent();
        writes.SeeRole(change);
        queue.Wake();
        forwarder?.WakeLeaderWaiters();
        RoleSeen?.Invoke();
    }

    private void TellEvents()
    {
        foreach (var (what, node) in host.Output.Events)
        {
            options.TroubleFound?.Invoke(
                what switch
                {
                    CoreEvent.PeerLostEntries =>
                        $"{roster.NameAndTagOf(node)} has fewer entries than it once confirmed: its card lost them. "
                            + $"They are sent again; replace the card.",
                    CoreEvent.LeaderStoreStalled =>
                        "This node's disk did not answer for some seconds, so it hands leadership over.",
                    CoreEvent.QuorumLost =>
                        "This node led and does not hear from a majority of the members any more, so it stepped down.",
                    CoreEvent.OldIncarnation =>
                        $"Messages of an earlier start of {roster.NameAndTagOf(node)} came in: when this goes on, "
                            + $"an old card or a copy of it is running.",
                    CoreEvent.OutcomesDiffer =>
                        $"{roster.NameAndTagOf(node)} and others came to different results by applying the same "
                            + $"writes. Nothing is written until a majority agrees.",
                    CoreEvent.Diverged => Diverged,
                    CoreEvent.DamageHealed =>
                        "What this node's disk had lost of its journal was given back by the leader.",
                    CoreEvent.ClockDoubted => ClockStatus.Doubt(host.Core, host.Now) ?? string.Empty,
                    CoreEvent.ClockTrusted => "The cluster's time is not in doubt any more.",
                    _ => throw new System.Diagnostics.UnreachableException(),
                }
            );
            if (what == CoreEvent.Diverged)
            {
                host.Halt(Diverged);
            }
        }
    }
}
