using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>
/// How many of so many members vote when nobody decided otherwise. Even numbers bear no more losses than the odd one below and wait for more cards; two voters bear none, so the second of two
/// is a standby until the owner makes it a mirror.
/// </summary>
internal static class SeatRule
{
    public static int VotersOf(int members) => members switch
    {
        <= 2 => 1,
        <= 4 => 3,
        _ => 5,
    };

    /// <summary>Lets the next learner vote that is needed and has caught up, if this node leads.</summary>
    /// <returns>Who votes from now on; nobody when nothing was to be done, or can be now.</returns>
    public static NodeId PromoteNext(RaftConsensus consensus)
    {
        var configuration = consensus.ReadState().Configuration;
        if (!consensus.IsLeader || configuration.Voters.Length >= VotersOf(configuration.Voters.Length + configuration.Learners.Length))
        {
            return NodeId.None;
        }

        foreach (var learner in configuration.Learners)
        {
            if (consensus.ChangeMember(MemberChange.Voter, learner) == ChangeAnswer.Accepted)
            {
                return learner;
            }
        }

        return NodeId.None;
    }
}
