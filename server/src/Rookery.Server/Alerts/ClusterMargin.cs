using Rookery.Documents.Consensus;

namespace Rookery.Server.Alerts;

/// <summary>How many more voters may fail before writes stop.</summary>
internal static class ClusterMargin
{
    /// <summary>Whether this node leads.</summary>
    public static bool Leads(ConsensusStatistics cluster) =>
        cluster.Members.Any(static one => one.Member is { IsSelf: true, IsLeader: true });

    /// <summary>By what the leader sees; null where this node does not lead.</summary>
    public static int? Of(ConsensusStatistics cluster)
    {
        if (!Leads(cluster))
        {
            return null;
        }

        int voters = VotersOf(cluster);
        int answering = cluster.Members.Count(static one =>
            one.Member.IsVoter && (one.Member.IsSelf || one.IsReachable == true)
        );
        return answering - ((voters / 2) + 1);
    }

    /// <summary>How many members vote.</summary>
    public static int VotersOf(ConsensusStatistics cluster) => cluster.Members.Count(static one => one.Member.IsVoter);
}
