using System.Globalization;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Platform;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>The number of databases is bounded by the memory of the leader, whichever member is asked.</summary>
public sealed class HostDatabaseQuotaTests
{
    // What the memory of the leader allows: an eighth of 16 MiB, at 6 KiB each. One database exists from the start.
    private const int MaxDatabases = 341;

    [Fact]
    public void Members_with_different_memory_allow_the_same_number_of_databases()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.B.Kill();
        cluster.B.Memory = new MemoryBudget(32 << 20);
        cluster.B.Open();
        cluster.RunUntil(() => cluster.Leader is not null, "a member leads");
        var leader = cluster.Leader!;
        Assert.NotEqual(cluster.B, leader);
        for (int index = 1; index < MaxDatabases; index++)
        {
            var through = cluster.Members[index % 3];
            Assert.Null(Create(cluster, through, string.Create(CultureInfo.InvariantCulture, $"db{index}")));
        }

        foreach (var through in cluster.Members)
        {
            var refused = Create(cluster, through, "one-more");
            Assert.Equal(RejectionKind.InsufficientSpace, refused?.Kind);
            Assert.Contains("--memory 16M, allows at most 341", refused!.Message, StringComparison.Ordinal);
            Assert.Equal(RejectionKind.DatabaseExists, Create(cluster, through, "DB7")?.Kind);
        }

        leader.Consensus!.Transfer(cluster.B.Id);
        cluster.RunUntil(() => cluster.Leader == cluster.B, "the member with more memory leads", seconds: 60);
        Assert.Null(Create(cluster, cluster.B, "one-more"));
        Assert.Null(Create(cluster, leader, "two"));
    }

    // Creates a database through a member; returns why it was refused, or null.
    private static Rejection? Create(SteppedCluster cluster, SteppedMember through, string name) =>
        cluster.Do(through, CommandEncoder.CreateDatabase(name, SteppedCluster.HistoryId)).Rejection;
}
