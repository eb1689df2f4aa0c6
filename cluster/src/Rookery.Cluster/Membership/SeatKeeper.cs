using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>
/// The leader's own changes of members, one a round: it adds a node whose admission was not completed as a learner, and
/// promotes learners.
/// </summary>
/// <param name="consensus">This node's consensus.</param>
/// <param name="log">Receives a sentence for each change.</param>
internal sealed class SeatKeeper(RaftConsensus consensus, Action<string> log)
{
    /// <summary>
    /// Rounds of one second before the leader completes an admission. The joining node, or an order that is about to
    /// remove it, needs a few.
    /// </summary>
    internal const int RoundsUntilCompleted = 30;

    private readonly Dictionary<NodeId, int> _incomplete = [];

    public void DoRound()
    {
        if (!consensus.IsLeader)
        {
            _incomplete.Clear();
            return;
        }

        if (
            !CompleteSeat(consensus.ReadState().Configuration)
            && SeatRule.PromoteNext(consensus) is { IsNone: false } promoted
        )
        {
            log(
                $"Member {consensus.Roster.Of(promoted)?.Record.Name ?? promoted.ToString()} has caught up "
                    + $"and votes from now on."
            );
        }
    }

    /// <summary>
    /// Makes a node a learner whose record exists but which is in no configuration, because the leader that admitted it
    /// stopped or lost leadership in between. A node that has ever started was a learner and has been removed since, so
    /// it does not count.
    /// </summary>
    private bool CompleteSeat(Configuration configuration)
    {
        RosterEntry[] incomplete =
        [
            .. consensus.Roster.Entries.Where(entry =>
                entry.Record.StoreId is null && !configuration.IsMember(entry.Member)
            ),
        ];
        foreach (var completed in _incomplete.Keys.Except(incomplete.Select(static entry => entry.Member)).ToArray())
        {
            _incomplete.Remove(completed);
        }

        foreach (var entry in incomplete)
        {
            int rounds = _incomplete[entry.Member] = _incomplete.GetValueOrDefault(entry.Member) + 1;
            if (
                rounds > RoundsUntilCompleted
                && consensus.ChangeMember(MemberChange.Learner, entry.Member) == ChangeAnswer.Accepted
            )
            {
                log($"Member {entry.Record.Name} was let in and not made a learner; it is one now.");
                return true;
            }
        }

        return false;
    }
}
