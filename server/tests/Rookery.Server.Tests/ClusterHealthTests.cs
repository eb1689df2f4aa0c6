using System.Buffers;
using System.Text.Json;
using Rookery.Documents.Consensus;
using Rookery.Server.Operations;

namespace Rookery.Server.Tests;

/// <summary>What /readyz and /metrics say about the members while some values are unknown.</summary>
public sealed class ClusterHealthTests
{
    /// <summary>A node that has just started beside a member that has not answered it.</summary>
    private static readonly ConsensusStatistics BeforeFirstAnswer = new(
        "Leader",
        Term: 2,
        "A",
        LastIndex: 9,
        LastTerm: 2,
        CommitIndex: 9,
        AppliedIndex: 9,
        SyncMicroseconds: null,
        ElectionTimeoutMicroseconds: 1,
        Trouble: null,
        [
            CreateMember("A", isSelf: true) with
            {
                IsReachable = true,
                LagEntries = 0,
            },
            CreateMember("B", isSelf: false) with
            {
                IsReachable = false,
            },
        ]
    );

    private static readonly string[] UnknownFields = ["LagEntries", "SyncP99Milliseconds", "HeardSeconds"];

    [Fact]
    public void Readyz_omits_fields_of_members_whose_value_is_unknown()
    {
        var bytes = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(bytes))
        {
            json.WriteStartObject();
            ClusterHealth.Write(json, BeforeFirstAnswer, leaderReport: null);
            json.WriteEndObject();
        }

        using var health = JsonDocument.Parse(bytes.WrittenMemory);
        var cluster = health.RootElement.GetProperty("Cluster");
        Assert.False(cluster.TryGetProperty("SyncP99Milliseconds", out _));
        var (self, other) = (cluster.GetProperty("Members")[0], cluster.GetProperty("Members")[1]);
        Assert.Equal(0, self.GetProperty("LagEntries").GetInt64());
        Assert.False(other.GetProperty("IsReachable").GetBoolean());
        Assert.All(UnknownFields, name => Assert.False(other.TryGetProperty(name, out _)));
    }

    [Fact]
    public void Metrics_have_no_sample_for_unknown_values()
    {
        var text = new PrometheusText();
        ClusterHealth.Add(text, BeforeFirstAnswer);
        string metrics = text.ToString();
        Assert.Contains("rookery_cluster_member_lag_entries{member=\"A\"} 0\n", metrics, StringComparison.Ordinal);
        Assert.Contains("rookery_cluster_member_reachable{member=\"B\"} 0\n", metrics, StringComparison.Ordinal);
        Assert.DoesNotContain("rookery_cluster_member_lag_entries{member=\"B\"}", metrics, StringComparison.Ordinal);
        Assert.DoesNotContain("rookery_cluster_member_sync_seconds{", metrics, StringComparison.Ordinal);
    }

    private static MemberStatistics CreateMember(string tag, bool isSelf) =>
        new(
            new ClusterViewMember(
                tag,
                tag,
                "pi-" + tag,
                Urls: [],
                PublicUrl: null,
                IsVoter: true,
                IsLeader: isSelf,
                isSelf
            ),
            RecordVersion: 1,
            IsReachable: null,
            LagEntries: null,
            SyncMicroseconds: null
        );
}
