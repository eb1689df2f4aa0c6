using Rookery.Cluster.Membership;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Reports the events of a step as sentences to the operator, and halts the node when its state diverged.
/// </summary>
internal sealed class CoreEventReporter(RaftHost host, MemberRoster roster)
{
    private const string Diverged =
        "This node computed other results than a majority from the same writes, so it stopped taking "
        + "part. Keep its data for a report, and let a node with an empty card join instead.";

    /// <summary>Reports the events of the last step. Under the lock.</summary>
    public void Report()
    {
        foreach (var (coreEvent, node) in host.Output.Events)
        {
            host.Options.TroubleFound?.Invoke(
                coreEvent switch
                {
                    CoreEvent.PeerLostEntries =>
                        $"{roster.NameAndTagOf(node)} has fewer entries than it once confirmed: its card lost them. "
                            + $"They are sent again; replace the card.",
                    CoreEvent.LeaderStoreStalled =>
                        "This node's disk did not answer for some seconds, so it hands leadership over.",
                    CoreEvent.QuorumLost =>
                        "This node led and does not hear from a majority of the members any more, so it stepped down.",
                    CoreEvent.OldStart =>
                        $"Messages of an earlier start of {roster.NameAndTagOf(node)} arrived. If more arrive, "
                            + $"an old card or a copy of it is running.",
                    CoreEvent.OutcomesDiffer =>
                        $"{roster.NameAndTagOf(node)} and other members computed different results from the "
                            + $"same writes. Nothing is written until a majority agrees.",
                    CoreEvent.Diverged => Diverged,
                    CoreEvent.DamageHealed => "The leader sent again what this node's disk had lost of its journal.",
                    CoreEvent.ClockDoubted => ClockStatus.ExplainDoubt(host.Core, host.Now) ?? string.Empty,
                    CoreEvent.ClockTrusted => "The cluster's time is not in doubt any more.",
                    _ => throw new System.Diagnostics.UnreachableException(),
                }
            );
            if (coreEvent == CoreEvent.Diverged)
            {
                host.HaltForGood(Diverged);
            }
        }
    }
}
