using System.Text.Json;
using Rookery.Documents.Consensus;
using Rookery.Server.Alerts;
using Rookery.Server.Observation;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Operations;

/// <summary>
/// State of the cluster in <c>/readyz?verbose</c> and <c>/metrics</c>, as this node sees it. Members appear by tag
/// only, because the caller may be anonymous.
/// </summary>
internal static class ClusterHealth
{
    private const double MicrosecondsPerSecond = 1e6;

    /// <summary>Writes the member <c>Cluster</c>.</summary>
    /// <param name="json">Writer of the object.</param>
    /// <param name="cluster">This node's own view.</param>
    /// <param name="leaderReport">The leader's report, for the values that this node does not know; null without
    /// one.</param>
    public static void Write(Utf8JsonWriter json, ConsensusStatistics cluster, LeaderReport? leaderReport)
    {
        json.WriteStartObject("Cluster"u8);
        json.WriteString("Trouble"u8, cluster.Trouble);
        json.WriteString("Role"u8, cluster.Role);
        json.WriteString("Leader"u8, cluster.LeaderTag);
        json.WriteNumber("Term"u8, cluster.Term);
        json.WriteNumber("LastIndex"u8, cluster.LastIndex);
        json.WriteNumber("CommitIndex"u8, cluster.CommitIndex);
        if (cluster.SyncMicroseconds is { } ownSync)
        {
            json.WriteNumber("SyncP99Milliseconds"u8, ownSync / 1000.0);
        }

        WriteClock(json, cluster.Clock);
        json.WriteNumber("ElectionTimeoutMilliseconds"u8, cluster.ElectionTimeoutMicroseconds / 1000.0);
        if (cluster.Capacity is { } capacity)
        {
            json.WriteStartObject("Capacity"u8);
            json.WriteString("LimitedBy"u8, capacity.LimitedBy);
            json.WriteNumber("SpareBytes"u8, capacity.SpareBytes);
            json.WriteString("Refusal"u8, capacity.Refusal);
            json.WriteEndObject();
        }

        json.WriteStartArray("Members"u8);
        foreach (var clusterMember in cluster.Members)
        {
            var reported = leaderReport?.View.Members.FirstOrDefault(member =>
                string.Equals(member.Tag, clusterMember.Member.Tag, StringComparison.Ordinal)
            );
            json.WriteStartObject();
            json.WriteString("Tag"u8, clusterMember.Member.Tag);
            json.WriteString(
                "Role"u8,
                clusterMember.Member.IsLeader ? "leader"
                    : clusterMember.Member.IsVoter ? "voter"
                    : "learner"
            );
            if ((clusterMember.IsReachable ?? reported?.IsReachable) is { } isReachable)
            {
                json.WriteBoolean("IsReachable"u8, isReachable);
            }

            if ((clusterMember.LagEntries ?? reported?.LagEntries) is { } lag)
            {
                json.WriteNumber("LagEntries"u8, lag);
            }

            if ((clusterMember.SyncMicroseconds / 1000.0 ?? reported?.SyncP99Milliseconds) is { } sync)
            {
                json.WriteNumber("SyncP99Milliseconds"u8, sync);
            }

            if ((clusterMember.HeardSeconds ?? reported?.HeardSeconds) is { } heard)
            {
                json.WriteNumber("HeardSeconds"u8, Math.Round(heard, 1));
            }

            if (clusterMember is { ClockAheadSeconds: { } ahead, IsClockSynchronised: { } isSynchronised })
            {
                json.WriteNumber("ClockAheadSeconds"u8, ahead);
                json.WriteBoolean("IsClockSynchronised"u8, isSynchronised);
            }

            if ((clusterMember.SpareBytes ?? reported?.SpareBytes) is { } spare)
            {
                json.WriteNumber("SpareBytes"u8, spare);
            }

            json.WriteEndObject();
        }

        json.WriteEndArray();
        if (leaderReport is not null)
        {
            json.WriteNumber("ToldSecondsAgo"u8, Math.Round(leaderReport.SecondsAgo, 1));
        }

        json.WriteEndObject();
    }

    private static void WriteClock(Utf8JsonWriter json, in ClockStatistics clock)
    {
        json.WriteStartObject("Clock"u8);
        if (clock.Time.UtcTicks == 0)
        {
            json.WriteNull("Time"u8);
            json.WriteNull("OwnAheadSeconds"u8);
        }
        else
        {
            json.WriteString("Time"u8, DocumentJson.Date(clock.Time.UtcTicks));
            json.WriteNumber("OwnAheadSeconds"u8, clock.OwnAheadSeconds);
        }

        json.WriteString("Doubt"u8, clock.Doubt);
        json.WriteBoolean("IsOwnSynchronised"u8, clock.IsOwnSynchronised);
        json.WriteEndObject();
    }

    /// <summary>Adds the metrics of the cluster.</summary>
    public static void Add(PrometheusText text, ConsensusStatistics cluster)
    {
        text.Gauge("rookery_cluster_healthy", "1 when this node accepts writes and linearizable reads.")
            .Sample(cluster.Trouble is null ? 1 : 0);
        text.Gauge(
                "rookery_cluster_takes_part",
                "0 when this node was removed, refused or halted, and takes no part in its cluster any more."
            )
            .Sample(string.Equals(cluster.Role, ConsensusStatistics.NoRole, StringComparison.Ordinal) ? 0 : 1);
        text.Gauge("rookery_cluster_has_leader", "1 when this node knows a leader.")
            .Sample(cluster.LeaderTag is null ? 0 : 1);
        text.Gauge("rookery_cluster_is_leader", "1 on the leader.").Sample(ClusterMargin.IsLeader(cluster) ? 1 : 0);
        text.Gauge("rookery_cluster_term", "The consensus term.").Sample(cluster.Term);
        text.Gauge("rookery_cluster_commit_index", "Index of the last committed entry that this node knows.")
            .Sample(cluster.CommitIndex);
        text.Gauge("rookery_cluster_voters", "Number of voters.").Sample(ClusterMargin.VotersOf(cluster));
        if (ClusterMargin.Of(cluster) is { } margin)
        {
            text.Gauge(
                    "rookery_cluster_margin_voters",
                    "How many more voters may fail before writes stop; reported by the leader only."
                )
                .Sample(margin);
        }

        if (cluster.Clock.Time.UtcTicks > 0)
        {
            text.Gauge("rookery_cluster_time_seconds", "The cluster's time, since 1970; absent while unknown.")
                .Sample((cluster.Clock.Time.UtcTicks - DateTime.UnixEpoch.Ticks) / (double)TimeSpan.TicksPerSecond);
            text.Gauge(
                    "rookery_clock_ahead_seconds",
                    "By how much this machine's clock is ahead of the cluster's time; absent while unknown."
                )
                .Sample(cluster.Clock.OwnAheadSeconds);
        }

        text.Gauge("rookery_cluster_time_sure", "0 while the cluster's time is in doubt: nothing expires then.")
            .Sample(cluster.Clock.Time.IsSure ? 1 : 0);
        text.Gauge("rookery_clock_synchronised", "1 when this machine's clock follows a source of time.")
            .Sample(cluster.Clock.IsOwnSynchronised ? 1 : 0);
        text.Gauge(
                "rookery_cluster_election_timeout_seconds",
                "The current election timeout, adapted by the leader to the measured latencies."
            )
            .Sample(cluster.ElectionTimeoutMicroseconds / MicrosecondsPerSecond);
        AddKnown(
            text.Gauge(
                "rookery_cluster_member_reachable",
                "1 when a member answers; other members are known to the leader only."
            ),
            cluster,
            static clusterMember =>
                clusterMember.IsReachable switch
                {
                    true => 1,
                    false => 0,
                    null => null,
                }
        );
        AddKnown(
            text.Gauge(
                "rookery_cluster_member_lag_entries",
                "Log entries that a member lacks; absent while unknown. Other members are known to the leader "
                    + "only."
            ),
            cluster,
            static clusterMember => clusterMember.LagEntries
        );
        AddKnown(
            text.Gauge(
                "rookery_cluster_member_sync_seconds",
                "99th percentile of a member's recent journal syncs; absent while unknown. Other members are "
                    + "known to the leader only."
            ),
            cluster,
            static clusterMember => clusterMember.SyncMicroseconds / MicrosecondsPerSecond
        );
        AddKnown(
            text.Gauge(
                "rookery_cluster_member_spare_bytes",
                "Free bytes of a member beyond its reserve; other members are known to the leader only."
            ),
            cluster,
            static clusterMember => clusterMember.SpareBytes
        );

        if (cluster.Capacity is { } capacity)
        {
            text.Gauge(
                    "rookery_cluster_capacity_bytes",
                    "Free bytes beyond the reserve that a majority of the voters has, on the leader; the label names "
                        + "the member that limits it. Below 0 writes that grow the data are refused."
                )
                .Sample(capacity.SpareBytes, ("member", capacity.LimitedBy));
        }
    }

    private static void AddKnown(PrometheusText text, ConsensusStatistics cluster, Func<MemberStatistics, double?> read)
    {
        foreach (var clusterMember in cluster.Members)
        {
            if (read(clusterMember) is { } value)
            {
                text.Sample(value, ("member", clusterMember.Member.Tag));
            }
        }
    }
}
