using Rookery.Cluster.Peers;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>A member with the real consensus and store reports whether it is ready.</summary>
public sealed class HostReadinessTests
{
    [Fact]
    public void A_member_that_joined_is_ready_when_it_has_caught_up_and_remains_ready()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        var learner = new SteppedMember(cluster, number: 3, mayBegin: false);
        cluster.Members.Add(learner);
        cluster.Wire.Isolate(learner);
        learner.Open();
        cluster.Change(MemberChange.Learner, learner);
        cluster.RunFor(milliseconds: 3_000);
        Assert.Contains("does not know yet", learner.Consensus!.ReadCluster().Unready, StringComparison.Ordinal);

        // It receives the members' records before it has caught up.
        cluster.Wire.Heal();
        cluster.RunUntil(
            () => learner.Consensus!.ReadState().Configuration.IsMember(learner.Id),
            "the learner knows that it is a member"
        );
        Assert.Contains("catches up", learner.Consensus!.ReadCluster().Unready, StringComparison.Ordinal);
        cluster.AwaitEqual();
        cluster.RunFor(milliseconds: 2_000);
        Assert.Null(learner.Consensus!.ReadCluster().Unready);
        Assert.True(learner.Consensus!.Report.HasCaughtUp);
        cluster.Wire.Isolate(learner);
        cluster.RunFor(milliseconds: 5_000);
        Assert.Null(learner.Consensus!.ReadCluster().Unready);
        Assert.False(learner.Consensus!.Report.HasCaughtUp);
    }

    /// <summary>
    /// The log begins with the first configurations of the cluster, which do not contain this node. That does not mean
    /// that the node was removed.
    /// </summary>
    [Fact]
    public void A_member_that_receives_the_log_from_its_beginning_never_reports_that_it_was_removed()
    {
        using var cluster = new SteppedCluster(seed: 1)
        {
            MaxMessageBytes = 1 << 10,
            RetainedJournalBytes = 1 << 20,
        }.Form(members: 1);
        for (int i = 0; i < 50; i++)
        {
            cluster.Put(cluster.A, $"users/{i}", i, padding: 900);
        }

        var learner = new SteppedMember(cluster, number: 1, mayBegin: false);
        cluster.Members.Add(learner);
        learner.Open();
        Assert.Equal(ChangeAnswer.Accepted, cluster.A.Consensus!.ChangeMember(MemberChange.Learner, learner.Id));
        int catchingUp = 0;
        while (learner.Consensus!.ReadCluster().Unready is { } unready)
        {
            Assert.DoesNotContain("empty", unready, StringComparison.Ordinal);
            catchingUp +=
                unready.Contains("catches up", StringComparison.Ordinal)
                && !learner.Consensus.ReadState().Configuration.IsMember(learner.Id)
                    ? 1
                    : 0;
            cluster.Step();
        }

        Assert.True(catchingUp > 0, "the member catches up on entries that do not contain it");
    }

    /// <summary>
    /// An old card of the first member, from when it was alone, refuses its standby and its mirror alike.
    /// </summary>
    [Theory]
    [InlineData(MemberChange.Learner)]
    [InlineData(MemberChange.Voter)]
    public void A_member_that_the_only_other_voter_refuses_as_unknown_is_told_to_keep_its_data(MemberChange role)
    {
        using var cluster = SteppedCluster.Of(members: 1);
        cluster.Members.Add(new SteppedMember(cluster, number: 1, mayBegin: false));
        cluster.B.Open();
        cluster.Change(MemberChange.Learner, cluster.B);
        if (role == MemberChange.Voter)
        {
            cluster.Change(MemberChange.Voter, cluster.B);
        }

        cluster.AwaitEqual();
        cluster.Wire.Isolate(cluster.B);
        cluster.RunFor(milliseconds: 8_000);
        cluster.B.Peers!.Answers = [RefusalBy(cluster.A, PeerRefusalKind.NoMember)];
        var statistics = cluster.B.Consensus!.ReadCluster();
        Assert.Contains("Keep the data of both, and look on both", statistics.Trouble, StringComparison.Ordinal);
        Assert.DoesNotContain("empty", statistics.Trouble, StringComparison.Ordinal);
    }

    [Fact]
    public void A_removed_member_reports_its_removal()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Change(MemberChange.Removed, cluster.C);
        cluster.RunFor(milliseconds: 1_000);
        Assert.StartsWith(
            "This node is not a member of its cluster any more.",
            cluster.C.Consensus!.ReadCluster().Unready,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_member_that_was_removed_while_it_was_off_reports_that_once_a_majority_refuses_it()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Wire.Isolate(cluster.C);
        cluster.RunFor(milliseconds: 5_000);
        Assert.StartsWith(
            "No leader is known here",
            cluster.C.Consensus!.ReadCluster().Trouble,
            StringComparison.Ordinal
        );
        Assert.Null(cluster.C.Consensus!.ReadCluster().Unready);

        cluster.C.Peers!.Answers = [RefusalBy(cluster.A, PeerRefusalKind.Passing)];
        Assert.Equal(
            $"Another member does not let this node in: It said why. Nor does this node reach member {cluster.B.Id}.",
            cluster.C.Consensus!.ReadCluster().Trouble
        );
        Assert.Null(cluster.C.Consensus!.ReadCluster().Unready);

        cluster.C.Peers!.Answers =
        [
            RefusalBy(cluster.A, PeerRefusalKind.NoMember),
            RefusalBy(cluster.B, PeerRefusalKind.NoMember),
        ];
        Assert.StartsWith(
            "This node is not a member of its cluster any more.",
            cluster.C.Consensus!.ReadCluster().Trouble,
            StringComparison.Ordinal
        );
        Assert.StartsWith(
            "This node is not a member of its cluster any more.",
            cluster.C.Consensus!.ReadCluster().Unready,
            StringComparison.Ordinal
        );

        // Once it hears a leader, old refusals do not count: a lagging member may refuse nodes that others have
        // admitted already.
        cluster.Wire.Heal();
        cluster.AwaitLeader();
        cluster.RunFor(milliseconds: 2_000);
        Assert.Null(cluster.C.Consensus!.ReadCluster().Trouble);
    }

    /// <summary>
    /// An old card of A leads by itself and knows no other member: one refusal must not make the owner discard the last
    /// complete copy.
    /// </summary>
    [Fact]
    public void A_member_that_one_of_two_others_refuses_as_unknown_is_told_to_keep_its_data()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Wire.Isolate(cluster.C);
        cluster.RunFor(milliseconds: 5_000);
        var stranger = RefusalBy(cluster.A, PeerRefusalKind.NoMember);
        var somebodyElse = new PeerAnswer(Members.IdOf("who was here before"), LetsIn: false, stranger.Refusal);
        foreach (
            PeerAnswer[] answers in new PeerAnswer[][]
            {
                [stranger],
                [stranger, new PeerAnswer(cluster.B.Id, LetsIn: false, Refusal: null)],
                [stranger, new PeerAnswer(cluster.B.Id, LetsIn: true, Refusal: null)],
                [stranger, RefusalBy(cluster.B, PeerRefusalKind.Passing)],
                [stranger, somebodyElse],
                [
                    stranger,
                    RefusalBy(cluster.B, PeerRefusalKind.NoMember),
                    somebodyElse with
                    {
                        LetsIn = true,
                        Refusal = null,
                    },
                ],
            }
        )
        {
            cluster.C.Peers!.Answers = answers;
            var statistics = cluster.C.Consensus!.ReadCluster();
            Assert.Matches(
                "^No leader is known here, and .* that this node is not a member of the cluster. .* Keep its data",
                statistics.Trouble
            );
            Assert.DoesNotContain("empty", statistics.Trouble, StringComparison.Ordinal);
            Assert.Null(statistics.Unready);
        }
    }

    /// <summary>The copy must not report its previous role and contacts as current.</summary>
    [Fact]
    public void A_leader_that_is_refused_as_a_copy_stops_leading_and_listening()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        var copy = cluster.AwaitLeader().Consensus!;
        copy.HaltInDiagnosisMode("There are two copies.");
        var statistics = copy.ReadCluster();
        Assert.Equal(
            ("None", null, "There are two copies.", null),
            (statistics.Role, statistics.LeaderTag, statistics.Trouble, statistics.Clock.Doubt)
        );
        Assert.Empty(statistics.Unreached);
        Assert.All(
            statistics.Members,
            member => Assert.True(member is { Member.IsLeader: false, IsReachable: null or false, HeardSeconds: null })
        );
        Assert.False(Assert.Single(statistics.Members, member => member.Member.IsSelf).IsReachable);
    }

    [Fact]
    public void Doubt_about_the_time_refers_to_no_leader_if_none_is_known()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.C.Kill();
        cluster.Wire.Isolate(cluster.C);
        cluster.C.Open();
        cluster.RunFor(milliseconds: 5_000);
        Assert.StartsWith(
            "The cluster's time is in doubt, and no leader is known here that could say why.",
            cluster.C.Consensus!.ReadCluster().Clock.Doubt,
            StringComparison.Ordinal
        );
    }

    // The answer of a member that does not let this node connect.
    private static PeerAnswer RefusalBy(SteppedMember refusing, PeerRefusalKind kind) =>
        new(refusing.Id, LetsIn: false, new PeerRefusal("It said why.", kind));
}
