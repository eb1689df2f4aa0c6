using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>
/// Changes that the leader makes to the members by itself, at most one a round: completes interrupted admissions, and
/// promotes learners. An operator orders all other changes.
/// </summary>
/// <param name="consensus">This node's consensus.</param>
/// <param name="addLearner">Makes a node a learner.</param>
/// <param name="log">Receives a sentence for each change.</param>
internal sealed class MembershipUpkeep(
    RaftConsensus consensus,
    Func<NodeId, ChangeAnswer> addLearner,
    Action<string> log
)
{
    /// <summary>
    /// The number of rounds, one a second, before the leader completes an admission. A join usually completes within
    /// a few rounds by itself.
    /// </summary>
    internal const int RoundsUntilCompleted = 30;

    private readonly Dictionary<NodeId, int> _incomplete = [];

    /// <summary>Makes at most one change. Called every second; does nothing unless this node is the leader.</summary>
    public void DoRound()
    {
        if (!consensus.IsLeader)
        {
            _incomplete.Clear();
            return;
        }

        if (
            !CompleteAdmission(consensus.ReadState().Configuration)
            && VoterRule.PromoteNext(consensus) is { IsNone: false } promoted
        )
        {
            log(
                $"Member {consensus.Roster.Of(promoted)?.Record.Name ?? promoted.ToString()} has caught up "
                    + $"and votes from now on."
            );
        }
    }

    /// <summary>
    /// Adds a node as a learner if it has a record but is not in the configuration, because the leader that admitted
    /// it stopped before it added the learner. Skips nodes that have been started before: they were learners and were
    /// removed.
    /// </summary>
    /// <returns>Whether a learner was added.</returns>
    private bool CompleteAdmission(Configuration configuration)
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
            int rounds = _incomplete.GetValueOrDefault(entry.Member) + 1;
            _incomplete[entry.Member] = rounds;
            if (rounds > RoundsUntilCompleted && addLearner(entry.Member) == ChangeAnswer.Accepted)
            {
                log($"Member {entry.Record.Name} was admitted but not made a learner; it is one now.");
                return true;
            }
        }

        return false;
    }
}
