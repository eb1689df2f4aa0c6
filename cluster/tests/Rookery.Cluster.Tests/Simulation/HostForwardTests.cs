using Rookery.Documents.Consensus;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>The outcome of a write that a follower forwarded to a leader that does not answer.</summary>
public sealed class HostForwardTests
{
    // As in the program, an election happens long before a silent connection counts as broken.
    private const double BreakMilliseconds = 20_000;

    /// <summary>The leader's process is paused, or the leader is cut off from all others.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_write_sent_to_a_silent_leader_is_answered_when_another_node_leads(bool isPaused)
    {
        using var cluster = StartThree(out var leader, out var follower);
        Silence(cluster, leader, isPaused);
        var write = follower.Propose(SteppedCluster.PutOf("users/1", value: 1));
        cluster.RunUntil(
            () => cluster.Leader is { } next && next != leader && follower.Consensus!.Leader == next.Id,
            "the follower knows the next leader"
        );
        long electedAt = cluster.Now;
        var outcome = cluster.Await(write);
        Assert.Equal(RejectionKind.OutcomeUnknown, outcome.Rejection?.Kind);
        Assert.Contains("no longer answers", outcome.Rejection!.Message, StringComparison.Ordinal);
        Assert.InRange(cluster.Now - electedAt, 0, follower.Consensus!.ReadState().ElectionTimeoutMicroseconds);
        Assert.Null(cluster.Put(follower, "users/2").Rejection);
    }

    [Fact]
    public void A_write_sent_to_a_silent_leader_is_answered_even_without_another_leader()
    {
        using var cluster = StartThree(out var leader, out var follower);
        cluster.Wire.Isolate(cluster.Members.Find(member => member != leader && member != follower)!);
        Silence(cluster, leader, isPaused: false);
        long proposedAt = cluster.Now;
        var outcome = cluster.Await(follower.Propose(SteppedCluster.PutOf("users/1", value: 1)));
        Assert.Equal(RejectionKind.OutcomeUnknown, outcome.Rejection?.Kind);
        Assert.Contains("no longer answers", outcome.Rejection!.Message, StringComparison.Ordinal);
        Assert.InRange(cluster.Now - proposedAt, 0, 5 * follower.Consensus!.ReadState().ElectionTimeoutMicroseconds);
    }

    /// <summary>A leadership transfer loses nothing: the previous leader answers the writes that it received.</summary>
    [Fact]
    public void A_write_sent_to_a_leader_that_transfers_leadership_gets_its_outcome()
    {
        using var cluster = StartThree(out var leader, out var follower);
        var next = cluster.Members.Find(member => member != leader && member != follower)!;
        var writes = Enumerable
            .Range(0, 20)
            .Select(i => follower.Propose(SteppedCluster.PutOf($"users/{i}", i)))
            .ToList();
        leader.Consensus!.Transfer(next.Id);
        cluster.RunUntil(() => cluster.Leader == next, $"{next} leads");
        Assert.All(writes, write => Assert.Null(cluster.Await(write).Rejection));
    }

    /// <summary>During a transfer, the forwarder sends again what the first leader did not accept.</summary>
    [Theory]
    [MemberData(nameof(Seeds))]
    public void No_write_that_is_forwarded_during_a_transfer_of_leadership_is_refused(int seed)
    {
        using var cluster = StartThree(out var leader, out var follower, seed);
        var next = cluster.Members.Find(member => member != leader && member != follower)!;
        // With slow disks, and a write each millisecond, the transfer meets writes at every stage.
        leader.LongestWriteMilliseconds = next.LongestWriteMilliseconds = 20;
        var writes = new List<Task<CommandOutcome>>();
        for (int i = 0; i < 200; i++)
        {
            cluster.After(
                i,
                () => writes.Add(follower.Propose(SteppedCluster.PutOf($"users/{writes.Count}", value: 1)))
            );
        }

        cluster.After(50, () => leader.Consensus!.Transfer(next.Id));
        cluster.RunUntil(() => cluster.Leader == next && writes.Count == 200, $"{next} leads");
        Assert.All(writes, write => Assert.Null(cluster.Await(write).Rejection));
    }

    /// <summary>
    /// The client got an unknown outcome, and has read since. The command must not take effect later.
    /// </summary>
    [Theory]
    [MemberData(nameof(Seeds))]
    public void A_leader_that_continues_after_a_pause_does_not_forward_its_waiting_commands(int seed)
    {
        using var cluster = StartThree(out var leader, out var follower, seed);
        leader.Pause(BreakMilliseconds / 2);
        var writes = Enumerable
            .Range(0, 20)
            .Select(i => follower.Propose(SteppedCluster.PutOf($"users/{i}", value: 1)))
            .ToList();
        Assert.All(writes, write => Assert.Equal(RejectionKind.OutcomeUnknown, cluster.Await(write).Rejection?.Kind));
        cluster.Put(follower, "users/after");
        cluster.RunFor(BreakMilliseconds);
        cluster.AwaitEqual();
        // Only the write after the pause is stored.
        Assert.All(cluster.Members, member => Assert.NotEqual(default, member.Peek("users/after")));
        Assert.All(Enumerable.Range(0, 20), i => Assert.Equal(default, follower.Peek($"users/{i}")));
    }

    /// <summary>A command may arrive so late that its receiver has become leader again.</summary>
    [Fact]
    public void A_command_sent_in_an_earlier_term_is_refused_by_the_same_leader_in_a_later_one()
    {
        using var cluster = StartThree(out var leader, out _);
        long term = leader.Consensus!.Term;
        leader.Consensus.Transfer(NodeId.None);
        cluster.RunUntil(() => cluster.Leader is { } next && next != leader, "another member leads");
        cluster.Leader!.Consensus!.Transfer(leader.Id);
        cluster.RunUntil(() => cluster.Leader == leader, "the first leader leads again");
        Assert.Equal(RejectionKind.NoLeader, Forward(term).Rejection?.Kind);
        Assert.Null(Forward(leader.Consensus.Term).Rejection);

        CommandOutcome Forward(long term)
        {
            var command = SteppedCluster.PutOf($"users/{term}", value: 1);
            command.LeaderTerm = term;
            return cluster.Await(leader.Consensus!.ProposeForwardedAsync(command, CancellationToken.None).AsTask());
        }
    }

    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 20)];

    /// <summary>Starts three members with equal tables, and returns the leader and one follower.</summary>
    private static SteppedCluster StartThree(out SteppedMember leader, out SteppedMember follower, int seed = 1)
    {
        var cluster = SteppedCluster.Of(members: 3, seed);
        cluster.Wire.BreaksAfterMilliseconds = BreakMilliseconds;
        var leads = leader = cluster.AwaitLeader();
        follower = cluster.Members.Find(member => member != leads)!;
        cluster.AwaitEqual();
        return cluster;
    }

    /// <summary>Pauses the leader's process, or cuts it off from all others.</summary>
    private static void Silence(SteppedCluster cluster, SteppedMember leader, bool isPaused)
    {
        if (isPaused)
        {
            leader.Pause(BreakMilliseconds);
        }
        else
        {
            cluster.After(1, () => cluster.Wire.Isolate(leader)); // messages in flight arrive
        }
    }
}
