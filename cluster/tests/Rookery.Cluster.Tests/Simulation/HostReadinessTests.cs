using Rookery.Cluster.Peers;
using MemberChange = Rookery.Raft.MemberChange;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>When a member of the program's own consensus and store says that it serves.</summary>
public sealed class HostReadinessTests
{
    [Fact]
    public void A_member_that_joined_is_ready_when_it_has_caught_up_and_stays_so()
    {
        using var cluster = SteppedCluster.Of(3);
        var learner = new SteppedMember(cluster, number: 3, mayBegin: false);
        cluster.Members.Add(learner);
        cluster.Wire.Isolate(learner);
        learner.Open();
        cluster.Change(MemberChange.Learner, learner);
        cluster.RunFor(3_000);
        Assert.Contains("was not told yet", learner.Consensus!.ReadCluster().Unready, StringComparison.Ordinal);

        // It is told of the members before it has what they have.
        cluster.Wire.Heal();
        cluster.RunUntil(() => learner.Consensus!.ReadState().Configuration.IsMember(learner.Id), "that it is told");
        Assert.Contains("catches up", learner.Consensus!.ReadCluster().Unready, StringComparison.Ordinal);
        cluster.AwaitEqual();
        cluster.RunFor(2_000);
        Assert.Null(learner.Consensus!.ReadCluster().Unready);
        Assert.True(learner.Consensus!.HasCaughtUp);
        cluster.Wire.Isolate(learner);
        cluster.RunFor(5_000);
        Assert.Null(learner.Consensus!.ReadCluster().Unready);
        Assert.False(learner.Consensus!.HasCaughtUp);
    }

    [Fact]
    public void A_member_that_was_removed_while_it_was_off_says_so_when_it_was_told()
    {
        using var cluster = SteppedCluster.Of(3);
        cluster.Wire.Isolate(cluster.C);
        cluster.RunFor(5_000);
        Assert.StartsWith("No leader is known here", cluster.C.Consensus!.ReadCluster().Trouble, StringComparison.Ordinal);
        Assert.Null(cluster.C.Consensus!.ReadCluster().Unready);

        cluster.C.Peers!.Refusal = new PeerRefusal("An earlier start is still connected.");
        Assert.Equal("Another member does not let this node in: An earlier start is still connected.", cluster.C.Consensus!.ReadCluster().Trouble);
        Assert.Null(cluster.C.Consensus!.ReadCluster().Unready);

        cluster.C.Peers!.Refusal = new PeerRefusal("You are no member.", PeerRefusalKind.NoMember);
        Assert.StartsWith("This node is no member of its cluster any more.", cluster.C.Consensus!.ReadCluster().Trouble, StringComparison.Ordinal);
        Assert.StartsWith("This node is no member of its cluster any more.", cluster.C.Consensus!.ReadCluster().Unready, StringComparison.Ordinal);

        // One that lags may refuse whom others have in already.
        cluster.Wire.Heal();
        cluster.AwaitLeader();
        cluster.RunFor(2_000);
        Assert.Null(cluster.C.Consensus!.ReadCluster().Trouble);
    }
}
