using Rookery.Cluster.Peers;
using Rookery.Cluster.Tests.Simulation;
using Rookery.Documents.Consensus;

namespace Rookery.Cluster.Tests.Membership;

/// <summary>The statistics that members report about each other. A member must omit unknown values.</summary>
public sealed class MemberStatisticsTests
{
    [Fact]
    public void A_member_without_a_leader_does_not_know_how_far_it_lags()
    {
        using var cluster = MembershipServiceTests.Form(members: 3);
        cluster.AwaitEqual();
        // Long enough for heartbeats, which tell each member what it lacks.
        cluster.RunFor(milliseconds: 2_000);
        Assert.All(cluster.Members, static member => Assert.Equal(0, OwnStatisticsOf(member).LagEntries));
        cluster.Wire.Isolate(cluster.C);
        cluster.Put(cluster.A, "users/1");
        // Longer than an election timeout, so C knows no leader.
        cluster.RunFor(milliseconds: 8_000);
        Assert.Null(OwnStatisticsOf(cluster.C).LagEntries);
        Assert.Equal(0, OwnStatisticsOf(cluster.Leader!).LagEntries);
    }

    [Fact]
    public void A_leader_knows_nothing_of_a_member_that_has_not_answered_it()
    {
        using var cluster = MembershipServiceTests.Form(members: 3);
        cluster.AwaitEqual();
        var leader = cluster.AwaitLeader();
        var (off, next) = (
            cluster.Members.FindLast(member => member != leader)!,
            cluster.Members.Find(member => member != leader)!
        );
        cluster.RunFor(milliseconds: 2_000);
        Assert.True(StatisticsAt(leader, off) is { IsReachable: true, LagEntries: 0, HeardSeconds: not null });
        off.Kill();
        cluster.RunFor(milliseconds: 8_000);
        Assert.True(StatisticsAt(leader, off) is { IsReachable: false, LagEntries: not null, HeardSeconds: > 1 });
        leader.Consensus!.Transfer(next.Id);
        cluster.RunUntil(() => cluster.Leader == next, $"{next} leads");
        cluster.RunFor(milliseconds: 2_000);
        Assert.True(
            StatisticsAt(next, off)
                is { IsReachable: false, LagEntries: null, SyncMicroseconds: null, HeardSeconds: null }
        );
        off.Open();
        cluster.RunUntil(
            () => StatisticsAt(next, off) is { IsReachable: true, LagEntries: 0, HeardSeconds: not null },
            "the new leader hears the started member"
        );
    }

    [Fact]
    public void Without_a_leader_the_missing_voters_and_their_addresses_are_named()
    {
        using var cluster = MembershipServiceTests.Form(members: 3);
        cluster.AwaitEqual();
        cluster.Wire.Isolate(cluster.C);
        cluster.RunFor(milliseconds: 8_000);
        Assert.Equal(
            "No leader is known here: 2 of 3 voters must reach each other to elect one, and this node does "
                + "not reach a (A) and b (B). Start the nodes that are off, or repair the network: writes then "
                + "continue. Documents can be read here meanwhile, with --local or consistency=local.",
            cluster.C.Consensus!.ReadCluster().Trouble
        );
        cluster.C.Peers!.Answers =
        [
            new PeerAnswer(cluster.A.Id, LetsIn: true, Refusal: null),
            new PeerAnswer(cluster.B.Id, LetsIn: false, Refusal: null),
        ];
        cluster.C.Peers.Attempts[cluster.B.Id] =
        [
            new FailedAttempt("10.0.0.2:9443", "Connection refused", IsStranger: false),
            new FailedAttempt("b.local:9443", "It took too long.", IsStranger: false),
        ];
        var statistics = cluster.C.Consensus.ReadCluster();
        Assert.Equal(
            "No leader is known here yet: with itself this node sees 2 of 3 voters, which is enough to elect "
                + "one, but not b (B): after a crash the voters wait up to 20 s for a missing one, and if that "
                + "voter leads, this node must reach it. Documents can be read here meanwhile, with --local or "
                + "consistency=local.",
            statistics.Trouble
        );
        Assert.Equal(
            "b (B) is looked for at 10.0.0.2:9443 (Connection refused); b.local:9443 (It took too long).",
            Assert.Single(statistics.Unreached)
        );
        Assert.DoesNotContain("10.0.0.2", statistics.Trouble, StringComparison.Ordinal);
        cluster.Wire.Heal();
        cluster.RunUntil(() => !cluster.C.Consensus.Leader.IsNone, "C hears a leader");
        Assert.Empty(cluster.C.Consensus.ReadCluster().Unreached);
    }

    [Fact]
    public void The_remaining_voter_of_a_mirror_names_the_other_voter()
    {
        using var cluster = MembershipServiceTests.Form(members: 2);
        cluster.Change(Rookery.Raft.MemberChange.Voter, cluster.B);
        cluster.AwaitEqual();
        cluster.A.Kill();
        cluster.RunFor(milliseconds: 8_000);
        Assert.StartsWith(
            "No leader is known here: both voters must reach each other to elect one, and this node does not "
                + "reach a (A).",
            cluster.B.Consensus!.ReadCluster().Trouble,
            StringComparison.Ordinal
        );
    }

    /// <summary>A disk from before a recovery finds the new cluster at the old one's addresses.</summary>
    [Fact]
    public void A_member_that_finds_another_cluster_at_its_peers_addresses_reports_that()
    {
        using var cluster = MembershipServiceTests.Form(members: 3);
        cluster.AwaitEqual();
        cluster.Wire.Isolate(cluster.C);
        cluster.RunFor(milliseconds: 8_000);
        cluster.C.Peers!.Attempts[cluster.A.Id] =
        [
            new FailedAttempt(
                "10.0.0.1:9443",
                "The certificate of CN=a was not signed by this cluster's authority: the other side is not a "
                    + "member of this cluster.",
                IsStranger: true
            ),
        ];
        Assert.Contains(
            "Where a (A) was, a node that is not a member answers: The certificate of CN=a was not signed by this "
                + "cluster's authority",
            cluster.C.Consensus!.ReadCluster().Trouble,
            StringComparison.Ordinal
        );
    }

    /// <summary>What a member reports about itself.</summary>
    private static MemberStatistics OwnStatisticsOf(SteppedMember member) =>
        Assert.Single(member.Consensus!.ReadCluster().Members, static statistics => statistics.Member.IsSelf);

    /// <summary>What one member reports about another.</summary>
    private static MemberStatistics StatisticsAt(SteppedMember observer, SteppedMember member) =>
        Assert.Single(
            observer.Consensus!.ReadCluster().Members,
            statistics => string.Equals(statistics.Member.NodeId, member.NodeId, StringComparison.Ordinal)
        );
}
