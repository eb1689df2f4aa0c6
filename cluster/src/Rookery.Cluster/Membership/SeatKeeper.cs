using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>
/// What a leader does by itself about members, one change a round: it completes a seat that was given and is in no
/// configuration, and lets learners vote.
/// </summary>
/// <param name="consensus">This node's consensus.</param>
/// <param name="log">Told in sentences of what was done.</param>
internal sealed class SeatKeeper(RaftConsensus consensus, Action<string> log)
{
    /// <summary>
    /// Rounds, of a second, for which a seat is left to who asks for it, or to an order that is about to remove it:
    /// both take a few.
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
    /// Whoever gave the seat stopped, or led no more, before the node was made a learner. A node that has started once
    /// was one, and was removed since.
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
