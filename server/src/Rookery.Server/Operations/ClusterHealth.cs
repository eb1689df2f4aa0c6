using System.Text.Json;
using Rookery.Documents;

namespace Rookery.Server;

/// <summary>How the node stands in its cluster, for whoever watches it: in <c>/readyz?verbose</c> and <c>/metrics</c>. Members by their letters: who asks there need not be known.</summary>
internal static class ClusterHealth
{
    private const double MicrosecondsPerSecond = 1e6;

    public static void Write(Utf8JsonWriter json, ConsensusStatistics cluster)
    {
        json.WriteStartObject("Cluster"u8);
        json.WriteString("Trouble"u8, cluster.Trouble);
        json.WriteString("Role"u8, cluster.Role);
        json.WriteString("Leader"u8, cluster.LeaderTag);
        json.WriteNumber("Term"u8, cluster.Term);
        json.WriteNumber("LastIndex"u8, cluster.LastIndex);
        json.WriteNumber("CommitIndex"u8, cluster.CommitIndex);
        json.WriteNumber("SyncP99Milliseconds"u8, cluster.SyncMicroseconds / 1000.0);
        json.WriteStartArray("Members"u8);
        foreach (var one in cluster.Members)
        {
            json.WriteStartObject();
            json.WriteString("Tag"u8, one.Member.Tag);
            json.WriteString("Role"u8, one.Member.IsLeader ? "leader" : one.Member.IsVoter ? "voter" : "learner");
            if (one is { IsReachable: { } isReachable, LagEntries: { } lag, SyncMicroseconds: { } sync })
            {
                json.WriteBoolean("IsReachable"u8, isReachable);
                json.WriteNumber("LagEntries"u8, lag);
                json.WriteNumber("SyncP99Milliseconds"u8, sync / 1000.0);
            }

            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    public static void Add(PrometheusText text, ConsensusStatistics cluster)
    {
        text.Gauge("rookery_cluster_healthy", "1 when writes and linearizable reads go through this node.").Sample(cluster.Trouble is null ? 1 : 0);
        text.Gauge("rookery_cluster_has_leader", "1 when this node knows who leads.").Sample(cluster.LeaderTag is null ? 0 : 1);
        text.Gauge("rookery_cluster_is_leader", "1 on the node that leads.").Sample(cluster.Members.Any(static one => one.Member is { IsSelf: true, IsLeader: true }) ? 1 : 0);
        text.Gauge("rookery_cluster_term", "The consensus term.").Sample(cluster.Term);
        text.Gauge("rookery_cluster_commit_index", "Index through which frames are committed, as far as this node knows.").Sample(cluster.CommitIndex);
        text.Gauge("rookery_cluster_voters", "Members that vote.").Sample(cluster.Members.Count(static one => one.Member.IsVoter));
        var known = cluster.Members.Where(static one => one.IsReachable is not null).ToArray();
        text.Gauge("rookery_cluster_member_reachable", "1 when a member answers; of the others only the leader knows.");
        foreach (var one in known)
        {
            text.Sample(one.IsReachable is true ? 1 : 0, ("member", one.Member.Tag));
        }

        text.Gauge("rookery_cluster_member_lag_entries", "Entries of the log that a member lacks; of the others only the leader knows.");
        foreach (var one in known)
        {
            text.Sample(one.LagEntries ?? 0, ("member", one.Member.Tag));
        }

        text.Gauge("rookery_cluster_member_sync_seconds", "What 99 % of a member's recent journal writes did not exceed; of the others only the leader knows.");
        foreach (var one in known)
        {
            text.Sample((one.SyncMicroseconds ?? 0) / MicrosecondsPerSecond, ("member", one.Member.Tag));
        }
    }
}
