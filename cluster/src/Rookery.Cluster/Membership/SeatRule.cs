using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>
/// How many of so many members vote when nobody decided otherwise. Even numbers bear no more losses than the odd one
/// below and wait for more cards; two voters bear none, so the second of two is a standby unless the owner chose a
/// mirror when it joined, or makes it one.
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
    /// Lets the next learner vote, if this node leads and as many have caught up as bear more losses, or the one that
    /// has is to be a mirror. Others do not count: with one more vote and none to spare the cluster would bear less
    /// than before, for as long as the others take.
    /// </summary>
    /// <returns>Who votes from now on; nobody when nothing was to be done, or can be now.</returns>
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
