using Rookery.Documents.Consensus;

namespace Rookery.Server.Alerts;

/// <summary>Computes how many more voters may fail before writes stop.</summary>
internal static class ClusterMargin
{
    /// <summary>Returns whether this node is leader.</summary>
    public static bool IsLeader(ConsensusStatistics cluster) =>
        cluster.Members.Any(static member => member.Member is { IsSelf: true, IsLeader: true });

    /// <summary>
    /// Returns how many more voters may fail before writes stop; negative if writes have stopped. Only the leader knows
    /// it: null on other nodes.
    /// </summary>
    public static int? Of(ConsensusStatistics cluster)
    {
        if (!IsLeader(cluster))
        {
            return null;
        }

        int voters = VotersOf(cluster);
        int answering = cluster.Members.Count(static member =>
            member.Member.IsVoter && (member.Member.IsSelf || member.IsReachable == true)
        );
        return answering - ((voters / 2) + 1);
    }

    /// <summary>Returns the number of voters.</summary>
    public static int VotersOf(ConsensusStatistics cluster) =>
        cluster.Members.Count(static member => member.Member.IsVoter);
}
