using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>
/// Determines the default number of voters. An even number tolerates no more failures than the odd number below it, and
/// waits for more disks. Two voters tolerate no failure, so the second of two members is a standby, unless the operator
/// chose a mirror at its join or promotes it.
/// </summary>
internal static class VoterRule
{
    /// <summary>Returns the default number of voters among this many members.</summary>
    public static int VotersOf(int members) =>
        members switch
        {
            <= 2 => 1,
            <= 4 => 3,
            _ => 5,
        };

    /// <summary>
    /// If this node is the leader, promotes a learner in two cases: enough learners have caught up to tolerate one more
    /// failure, or the operator chose a caught-up learner as the mirror of the only voter.
    /// </summary>
    /// <returns>The new voter; none when no learner can be promoted now.</returns>
    public static NodeId PromoteNext(RaftConsensus consensus)
    {
        var configuration = consensus.ReadState().Configuration;
        NodeId[] ready =
        [
            .. consensus
                .Report.ReadPeers()
                .Where(peer => configuration.IsLearner(peer.Node) && peer is { IsCaughtUp: true, IsReachable: true })
                .Select(static peer => peer.Node),
        ];
        int voters = configuration.Voters.Length;
        bool areEnough = voters >= VotersOf(voters + ready.Length);
        if (areEnough && voters == 1)
        {
            ready = [.. ready.Where(node => consensus.Roster.Of(node) is { Record.IsMirror: true })];
        }
        else if (areEnough)
        {
            return NodeId.None;
        }

        if (!consensus.IsLeader)
        {
            return NodeId.None;
        }

        foreach (var learner in ready)
        {
            if (consensus.ChangeMember(MemberChange.Voter, learner) == ChangeAnswer.Accepted)
            {
                return learner;
            }
        }

        return NodeId.None;
    }
}
