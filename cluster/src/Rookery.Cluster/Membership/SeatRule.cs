using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>
/// The default number of voters. An even number tolerates no more failures than the odd one below it, and waits for
/// more disks. Two voters tolerate none, so the second of two members is a standby, unless the owner chose a mirror
/// when it joined or promotes it.
/// </summary>
internal static class SeatRule
{
    public static int VotersOf(int members) =>
        members switch
        {
            <= 2 => 1,
            <= 4 => 3,
            _ => 5,
        };

    /// <summary>
    /// Promotes the next learner, if this node leads and either enough learners have caught up to tolerate one more
    /// failure, or the only caught-up one is to be a mirror. Learners that have not caught up do not count: a single
    /// additional voter would reduce the tolerance until they catch up.
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
        if (voters >= VotersOf(voters + ready.Length))
        {
            ready = voters == 1 ? [.. ready.Where(node => consensus.Roster.Of(node) is { Record.IsMirror: true })] : [];
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
