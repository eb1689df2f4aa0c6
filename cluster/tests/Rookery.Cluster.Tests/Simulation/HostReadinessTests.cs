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
}
