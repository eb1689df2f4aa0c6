using Rookery.Documents;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>What becomes of a write that a follower sent to a leader which does not answer.</summary>
public sealed class HostForwardTests
{
    // As in the program: a connection on which nothing comes is called broken long after an election.
    private const double UntilAConnectionBreaks = 20_000;

    /// <summary>A leader that is stopped, and one that is cut off from everybody.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Who_waits_for_a_leader_that_is_silent_is_answered_when_another_node_leads(bool stands)
    {
        using var cluster = Begin(out var leader, out var follower);
        Silence(cluster, leader, stands);
        var write = follower.Propose(SteppedCluster.PutOf("users/1", 1));
        cluster.RunUntil(() => cluster.Leader is { } next && next != leader && follower.Consensus!.Leader == next.Id, "the next leader");
        long elected = cluster.Now;
        var outcome = cluster.Await(write);
        Assert.Equal(RejectionKind.OutcomeUnknown, outcome.Rejection?.Kind);
        Assert.Contains("not heard of any more", outcome.Rejection!.Message, StringComparison.Ordinal);
        Assert.InRange(cluster.Now - elected, 0, follower.Consensus!.ReadState().ElectionTimeoutMicroseconds);
        Assert.Null(cluster.Put(follower, "users/2").Rejection);
    }

    [Fact]
    public void Who_waits_for_a_leader_that_is_silent_is_answered_although_nobody_else_leads()
    {
        using var cluster = Begin(out var leader, out var follower);
        cluster.Wire.Isolate(cluster.Members.Find(member => member != leader && member != follower)!);
        Silence(cluster, leader, stands: false);
        long begun = cluster.Now;
        var outcome = cluster.Await(follower.Propose(SteppedCluster.PutOf("users/1", 1)));
        Assert.Equal(RejectionKind.OutcomeUnknown, outcome.Rejection?.Kind);
        Assert.Contains("not heard of any more", outcome.Rejection!.Message, StringComparison.Ordinal);
        Assert.InRange(cluster.Now - begun, 0, 5 * follower.Consensus!.ReadState().ElectionTimeoutMicroseconds);
    }

    /// <summary>A hand-over loses nothing: the leader of before answers what it was sent.</summary>
    [Fact]
    public void Who_waits_for_a_leader_that_hands_over_gets_the_outcome()
    {
        using var cluster = Begin(out var leader, out var follower);
        var next = cluster.Members.Find(member => member != leader && member != follower)!;
        var writes = Enumerable.Range(0, 20).Select(i => follower.Propose(SteppedCluster.PutOf($"users/{i}", i))).ToList();
        leader.Consensus!.Transfer(next.Id);
        cluster.RunUntil(() => cluster.Leader == next, "the next leader");
        Assert.All(writes, write => Assert.Null(cluster.Await(write).Rejection));
    }

    private static SteppedCluster Begin(out SteppedMember leader, out SteppedMember follower)
    {
        var cluster = SteppedCluster.Of(3);
        cluster.Wire.BreaksAfterMilliseconds = UntilAConnectionBreaks;
        var leads = leader = cluster.AwaitLeader();
        follower = cluster.Members.Find(member => member != leads)!;
        cluster.AwaitEqual();
        return cluster;
    }

    private static void Silence(SteppedCluster cluster, SteppedMember leader, bool stands)
    {
        if (stands)
        {
            leader.Pause(UntilAConnectionBreaks);
        }
        else
        {
            cluster.After(1, () => cluster.Wire.Isolate(leader)); // what is on its way arrives
        }
    }
}
