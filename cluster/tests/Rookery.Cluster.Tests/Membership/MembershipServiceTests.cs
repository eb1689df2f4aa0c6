using System.Net;
using System.Text;
using System.Text.Json;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Tests.Simulation;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Membership;

/// <summary>
/// Operators' membership orders, executed as in the program. A forwarded order goes to the other member's service.
/// </summary>
public sealed class MembershipServiceTests
{
    [Fact]
    public void The_second_of_two_members_is_a_standby_and_can_be_made_a_mirror_and_a_standby_again()
    {
        using var cluster = Form(members: 2);
        Assert.Equal((1, "A standby"), VotersAndNote(cluster));
        Assert.Contains(
            "when either is off, nothing is written",
            Order(cluster, MemberOrder.Promote, "b"),
            StringComparison.Ordinal
        );
        Assert.Equal((2, "A mirror:"), VotersAndNote(cluster));
        Assert.Contains("One member votes", Order(cluster, MemberOrder.Demote, "B"), StringComparison.Ordinal);
        Assert.Equal((1, "A standby"), VotersAndNote(cluster));
    }

    [Fact]
    public void A_mirror_that_was_chosen_at_the_join_votes_once_it_has_caught_up_until_it_is_demoted()
    {
        using var cluster = Form(members: 1);
        Join(cluster, isMirror: true);
        Assert.Equal((2, "A mirror:"), VotersAndNote(cluster));
        Order(cluster, MemberOrder.Demote, "b");
        PromoteForTenSeconds(cluster);
        Assert.Equal((1, "A standby"), VotersAndNote(cluster));

        // A third member makes the choice void.
        Join(cluster);
        Assert.Equal((3, "3 members"), VotersAndNote(cluster));
    }

    [Fact]
    public void A_mirror_that_is_demoted_before_it_votes_gets_no_vote()
    {
        using var cluster = Form(members: 1);
        var member = new SteppedMember(cluster, 1, mayBegin: false);
        cluster.Members.Add(member);
        WriteRecord(cluster, member, isMirror: true);
        cluster.Change(MemberChange.Learner, member);
        Assert.StartsWith(
            "b has no vote, and goes on to receive everything.",
            Order(cluster, MemberOrder.Demote, "b"),
            StringComparison.Ordinal
        );
        member.Open();
        PromoteForTenSeconds(cluster);
        Assert.Equal((1, "A standby"), VotersAndNote(cluster));
    }

    [Fact]
    public void The_leader_makes_three_of_four_members_voters_and_all_of_five()
    {
        using var cluster = Form(members: 3);
        Assert.Equal((3, "3 members"), VotersAndNote(cluster));
        Join(cluster);
        Assert.Equal((3, "3 members"), VotersAndNote(cluster));
        Assert.True(
            cluster.A.Consensus!.ReadState().Configuration.IsLearner(cluster.Members[3].Id),
            "the fourth is a spare"
        );
        Join(cluster);
        Assert.Equal((5, "5 members"), VotersAndNote(cluster));
        cluster.AwaitEqual();
    }

    [Fact]
    public void A_fourth_member_gets_no_vote_before_a_fifth_joins()
    {
        using var cluster = Form(members: 4);
        Assert.Equal(
            (
                (int)HttpStatusCode.Conflict,
                "4 voters tolerate no more failures than 3, and each write would wait for 3 disks instead of 2, so d "
                    + "stays a learner, which receives all data. Let one more node join, and both get a vote by "
                    + "themselves; or remove a voter, and d gets its vote."
            ),
            (Ask(cluster, cluster.A, MemberOrder.Promote, "d") is var answer ? answer.Status : 0, answer.Text)
        );
        Assert.Equal((3, "3 members"), VotersAndNote(cluster));
        Order(cluster, MemberOrder.Remove, "c");
        cluster.RunFor(milliseconds: 1_000);
        VoterRule.PromoteNext(cluster.Leader!.Consensus!);
        Assert.True(
            cluster.A.Consensus!.ReadState().Configuration.IsVoter(cluster.Members[3].Id),
            "d got a vote after c was removed"
        );
    }

    [Fact]
    public void A_member_that_lags_or_is_off_gets_no_vote()
    {
        using var cluster = Form(members: 2);
        cluster.B.Kill();
        cluster.RunFor(milliseconds: 4000);
        var answer = Ask(cluster, cluster.A, MemberOrder.Promote, "b");
        Assert.Equal((int)HttpStatusCode.ServiceUnavailable, answer.Status);
        Assert.Contains("b has not caught up, or does not answer", answer.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void Removing_a_dead_voter_reports_the_failure_tolerance_and_another_member_gets_its_vote()
    {
        using var cluster = Form(members: 3);
        cluster.C.Kill();
        string removed = Order(cluster, MemberOrder.Remove, "c");
        Assert.Contains(
            "c is not a member any more. Two members vote: when either is off, nothing is written.",
            removed,
            StringComparison.Ordinal
        );
        Assert.Null(cluster.A.Consensus!.Roster.Of(cluster.C.Id));
        Join(cluster, number: 3);
        Assert.Equal((3, "3 members"), VotersAndNote(cluster));
        Assert.Equal((int)HttpStatusCode.NotFound, Ask(cluster, cluster.A, MemberOrder.Remove, "c").Status);
    }

    [Fact]
    public void A_voter_that_the_majority_needs_is_not_removed()
    {
        using var cluster = Form(members: 3);
        cluster.B.Kill();
        cluster.RunFor(milliseconds: 4000);
        var answer = Ask(cluster, cluster.A, MemberOrder.Remove, "c");
        Assert.Equal((int)HttpStatusCode.Conflict, answer.Status);
        Assert.Contains("fewer than a majority of the voters reachable", answer.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void An_order_to_a_follower_is_carried_out_by_the_leader()
    {
        using var cluster = Form(members: 3);
        var answer = Ask(cluster, cluster.B, MemberOrder.Remove, "c");
        Assert.True(answer.Status == 200, answer.Text);
        Assert.Equal(2, cluster.A.Consensus!.ReadState().Configuration.Voters.Length);
    }

    [Fact]
    public void A_leader_that_is_removed_transfers_the_leadership_first()
    {
        using var cluster = Form(members: 3);
        var answer = Ask(cluster, cluster.A, MemberOrder.Remove, "a");
        Assert.True(answer.Status == 200, answer.Text);
        Assert.StartsWith(
            "a led, so it handed leadership over first. b leads now. a is not a member any more.",
            answer.Text,
            StringComparison.Ordinal
        );
        Assert.False(cluster.AwaitLeader().Consensus!.ReadState().Configuration.IsMember(cluster.A.Id));
    }

    [Fact]
    public void A_leader_that_the_majority_needs_is_not_removed()
    {
        using var cluster = Form(members: 3);
        cluster.C.Kill();
        cluster.RunFor(milliseconds: 4_000);
        var answer = Ask(cluster, cluster.A, MemberOrder.Remove, "a");
        Assert.Equal(
            (
                (int)HttpStatusCode.Conflict,
                "That would leave fewer than a majority of the voters reachable and up to date, and nothing "
                    + "could be written any more, so a stays what it is. "
                    + "c (C) is not reachable: bring it back first, or remove it first if it is lost for good."
            ),
            (answer.Status, answer.Text)
        );
        Assert.True(
            cluster.A.Consensus!.ReadState() is { Role: Raft.Role.Leader } state
                && state.Configuration.IsVoter(cluster.A.Id)
        );
    }

    [Fact]
    public void Leadership_goes_to_the_named_voter_and_never_to_a_learner()
    {
        using var cluster = Form(members: 4);
        Assert.Equal("c leads now.", Order(cluster, MemberOrder.Transfer, "c"));
        Assert.Equal(Role.Leader, cluster.C.Consensus!.ReadState().Role);
        var learner = Ask(cluster, cluster.C, MemberOrder.Transfer, "d");
        Assert.Equal((int)HttpStatusCode.Conflict, learner.Status);
        Assert.Contains("does not vote, so it cannot lead", learner.Text, StringComparison.Ordinal);

        using var one = Form(members: 1);
        Assert.StartsWith(
            "a is the only voter: nobody could take over, so nothing was changed. Let another node join first",
            Ask(one, one.A, MemberOrder.Transfer, name: null).Text,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData(MemberOrder.Remove, "without it nothing could be written")]
    [InlineData(MemberOrder.Demote, "without its vote nothing could be written")]
    [InlineData(MemberOrder.Transfer, "nobody could take over")]
    public void The_only_voter_is_kept_and_the_refusal_says_what_to_do_first(MemberOrder order, string why)
    {
        using var one = Form(members: 1);
        using var two = Form(members: 2);
        foreach (
            var (cluster, first) in new[]
            {
                (
                    one,
                    "Let another node join first, with the token that `rookery cluster token create` prints, "
                        + "and give it a vote with `rookery cluster node promote NAME`."
                ),
                (two, "Let another vote first, with `rookery cluster node promote b`."),
            }
        )
        {
            var answer = Ask(cluster, cluster.A, order, order == MemberOrder.Transfer ? null : "a");
            Assert.Equal(
                ((int)HttpStatusCode.Conflict, $"a is the only voter: {why}, so nothing was changed. {first}"),
                (answer.Status, answer.Text)
            );
        }
    }

    [Fact]
    public void The_answer_says_that_a_change_had_no_effect()
    {
        using var cluster = Form(members: 4);
        Assert.Equal(
            "b votes already. 3 members vote: with 1 of them off, writes go on.",
            Order(cluster, MemberOrder.Promote, "b")
        );
        Assert.StartsWith(
            "d has no vote, and goes on to receive everything. 3 members vote",
            Order(cluster, MemberOrder.Demote, "d"),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_standby_reports_which_voter_it_does_not_reach()
    {
        using var cluster = Form(members: 2);
        cluster.A.Kill();
        cluster.RunFor(milliseconds: 5_000);
        Assert.StartsWith(
            "No leader is known here: only a (A) votes, and this node does not hear from it.",
            cluster.B.Consensus!.ReadCluster().Trouble,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void An_upgrade_is_finalized_only_when_all_members_support_it()
    {
        using var cluster = Form(members: 3);
        Assert.Equal(
            "Everything is written at level 1, the newest that this program knows.",
            Order(cluster, MemberOrder.FinalizeUpgrade, name: null)
        );

        Install(cluster, cluster.A, newest: 2);
        cluster.Put(cluster.AwaitLeader(), "by the newer one");
        AnnounceLevels(cluster, cluster.A, cluster.B);
        cluster.RunUntil(() => cluster.A.Consensus!.IsLeader || Transfer(cluster), "a leads");
        var refused = Ask(cluster, cluster.B, MemberOrder.FinalizeUpgrade, name: null);
        Assert.Equal(
            (
                (int)HttpStatusCode.Conflict,
                "Everything is still written at level 1. b (B) runs a program that cannot write at level 2: upgrade "
                    + "b (B) first. c (C) has not announced yet which level it can write: start c (C) first, or "
                    + "remove it."
            ),
            (refused.Status, refused.Text)
        );

        var halfway = UpgradeEnd.Read(cluster.B.Consensus!, RecordStoreOf(cluster.B));
        Assert.Equal(1, halfway.Level);
        Assert.Equal(
            [new MemberLevel("A", "a", 2), new MemberLevel("B", "b", 1), new MemberLevel("C", "c", null)],
            halfway.Members
        );

        // The previous version is reinstalled, reads what was written, and continues to write.
        Install(cluster, cluster.A, newest: 1);
        cluster.Put(cluster.AwaitLeader(), "by the one before");
        cluster.AwaitEqual();

        foreach (var member in cluster.Members)
        {
            Install(cluster, member, newest: 2);
        }

        AnnounceLevels(cluster, cluster.A, cluster.B, cluster.C);
        Assert.Equal(
            "Everything is written at level 2 from now on. A program that knows only level 1 starts on these "
                + "data no more.",
            Order(cluster, MemberOrder.FinalizeUpgrade, name: null)
        );
        cluster.AwaitEqual();
        Assert.All(cluster.Members, static member => Assert.Equal(2, member.Store!.FormatLevel.Level));
        Assert.All(
            cluster.Members,
            static member => Assert.Equal(2, UpgradeEnd.Read(member.Consensus!, RecordStoreOf(member)).Level)
        );
        Assert.Equal(
            "Everything is written at level 2, the newest that this program knows.",
            Order(cluster, MemberOrder.FinalizeUpgrade, name: null)
        );

        cluster.C.Kill();
        cluster.C.NewestFormatLevel = 1;
        Assert.Contains(
            "knows levels up to 1: install version",
            Assert.Throws<DataFormatException>(cluster.C.Open).Message,
            StringComparison.Ordinal
        );
        cluster.C.NewestFormatLevel = 2;
        cluster.C.Open();
        cluster.AwaitEqual();
    }

    [Fact]
    public void An_upgrade_is_not_finalized_if_a_member_changes_its_record_meanwhile()
    {
        using var cluster = Form(members: 1);
        Install(cluster, cluster.A, newest: 2);
        var leader = cluster.AwaitLeader();
        var recordStore = new InterruptedRecordStore(RecordStoreOf(leader), () => AnnounceLevels(cluster, cluster.A));
        var answer = cluster.Await(UpgradeEnd.FinalizeAsync(leader.Consensus!, recordStore, CancellationToken.None));
        Assert.Equal((int)HttpStatusCode.ServiceUnavailable, answer.Status);
        Assert.Equal(1, leader.Store!.FormatLevel.Level);
    }

    [Fact]
    public void An_unknown_name_is_answered_with_the_known_ones()
    {
        using var cluster = Form(members: 2);
        var answer = Ask(cluster, cluster.A, MemberOrder.Promote, "x");
        Assert.Equal(
            ((int)HttpStatusCode.NotFound, "No member is called \"x\"; there are a, b."),
            (answer.Status, answer.Text)
        );
    }

    /// <summary>Makes a running cluster of members named a, b, c …; a is its founder and leader.</summary>
    internal static SteppedCluster Form(int members)
    {
        var cluster = new SteppedCluster(seed: 1).Form(members: 1);
        WriteRecord(cluster, cluster.A);
        for (int i = 1; i < members; i++)
        {
            Join(cluster);
        }

        return cluster;
    }

    /// <summary>Adds a member like the registrar, and promotes it like the leader's maintenance.</summary>
    private static void Join(SteppedCluster cluster, int? number = null, bool isMirror = false)
    {
        var member = new SteppedMember(cluster, number ?? cluster.Members.Count, mayBegin: false);
        cluster.Members.Add(member);
        member.Open();
        WriteRecord(cluster, member, isMirror);
        cluster.Change(MemberChange.Learner, member);
        PromoteForTenSeconds(cluster);
    }

    /// <summary>Restarts a member with a version that supports format levels up to <paramref name="newest"/>.</summary>
    private static void Install(SteppedCluster cluster, SteppedMember member, int newest)
    {
        member.StopCleanly();
        member.NewestFormatLevel = newest;
        member.Open();
        cluster.RunUntil(
            () =>
                cluster.Leader is not null && member.Consensus!.AppliedIndex >= cluster.Leader.Consensus!.AppliedIndex,
            "the restarted member has caught up"
        );
    }

    /// <summary>Records the newest format levels of members, like their maintenance after a start.</summary>
    private static void AnnounceLevels(SteppedCluster cluster, params SteppedMember[] members)
    {
        foreach (var member in members)
        {
            using var writer = new ClusterRecordWriter();
            var record = cluster.AwaitLeader().Consensus!.Roster.Of(member.Id)!.Record with
            {
                NewestFormatLevel = member.NewestFormatLevel,
            };
            writer.Set(MemberRecord.KeyOf(member.NodeId), record.ToJson());
            writer.Set(Seats.Key, []); // as each announcement does, so that concurrent changes of members are noticed
            Assert.Null(cluster.Do(cluster.AwaitLeader(), writer.Complete()).Rejection);
        }
    }

    // Returns false, so that a caller that waits until a leads tries again.
    private static bool Transfer(SteppedCluster cluster)
    {
        cluster.Leader?.Consensus!.Transfer(cluster.A.Id);
        return false;
    }

    /// <summary>Promotes learners once a second, like the leader's maintenance.</summary>
    private static void PromoteForTenSeconds(SteppedCluster cluster)
    {
        for (int second = 0; second < 10; second++)
        {
            cluster.RunFor(milliseconds: 1000);
            VoterRule.PromoteNext(cluster.Leader!.Consensus!);
        }
    }

    private static void WriteRecord(SteppedCluster cluster, SteppedMember member, bool isMirror = false)
    {
        using var writer = new ClusterRecordWriter();
        var record = new MemberRecord
        {
            Tag = member.Name,
            Name = member.Name.ToLowerInvariant(),
            Addresses = [],
            PublicKey = [],
            IsMirror = isMirror ? true : null,
        };
        writer.Set(MemberRecord.KeyOf(member.NodeId), record.ToJson());
        Assert.Null(cluster.Do(cluster.AwaitLeader(), writer.Complete()).Rejection);
    }

    /// <summary>Returns the number of voters in the list of members, and the first nine letters of its note.</summary>
    private static (int Voters, string Note) VotersAndNote(SteppedCluster cluster)
    {
        using var listing = JsonDocument.Parse(Order(cluster, MemberOrder.List, name: null));
        string note = listing.RootElement.GetProperty("Note").GetString()!;
        return (listing.RootElement.GetProperty("Voters").GetInt32(), note[..Math.Min(9, note.Length)]);
    }

    /// <summary>Gives an order to the leader; it must succeed. Returns the answer's text.</summary>
    private static string Order(SteppedCluster cluster, MemberOrder order, string? name)
    {
        var answer = Ask(cluster, cluster.AwaitLeader(), order, name);
        Assert.True(answer.Status == 200, answer.Text);
        return answer.Text;
    }

    /// <summary>Gives an order to a member.</summary>
    private static MemberAnswer Ask(SteppedCluster cluster, SteppedMember through, MemberOrder order, string? name) =>
        cluster.Await(ServiceOf(cluster, through).AskAsync(order, name, CancellationToken.None), seconds: 60);

    private static MembershipService ServiceOf(SteppedCluster cluster, SteppedMember member) =>
        new(
            member.Consensus!,
            RecordStoreOf(member),
            leader => new HttpClient(new ForwardingHandler(cluster, leader))
            {
                BaseAddress = new Uri("https://member"),
            },
            cluster.Time
        );

    private static ClusterRecordStore RecordStoreOf(SteppedMember member) =>
        new(
            member.Consensus!,
            member.Store!.ClusterRecords,
            node => member.Consensus!.ChangeMember(MemberChange.Learner, node)
        );

    /// <summary>Runs an action just before the records are changed.</summary>
    private sealed class InterruptedRecordStore(IJoinRecordStore recordStore, Action meanwhile) : IJoinRecordStore
    {
        public bool IsLeader => recordStore.IsLeader;

        public IReadOnlyList<string> LeaderAddresses => recordStore.LeaderAddresses;

        public ClusterTime Time => recordStore.Time;

        public ValueTask<bool> CatchUpAsync(CancellationToken cancellationToken) =>
            recordStore.CatchUpAsync(cancellationToken);

        public ClusterRecord? Find(string key) => recordStore.Find(key);

        public IReadOnlyList<ClusterRecord> List(string prefix) => recordStore.List(prefix);

        public ValueTask<Rejection?> ChangeAsync(
            IReadOnlyList<RecordChange> changes,
            CancellationToken cancellationToken
        )
        {
            meanwhile();
            return recordStore.ChangeAsync(changes, cancellationToken);
        }

        public ChangeAnswer AddLearner(NodeId node) => recordStore.AddLearner(node);
    }

    /// <summary>Forwards an order to the leader's port for members.</summary>
    private sealed class ForwardingHandler(SteppedCluster cluster, NodeId leader) : HttpMessageHandler
    {
        protected override Task<HttpResponseMessage> SendAsync(
            HttpRequestMessage request,
            CancellationToken cancellationToken
        )
        {
            var answered = new TaskCompletionSource<HttpResponseMessage>();
            _ = AnswerAsync(request, answered);
            return answered.Task;
        }

        // HttpClient ignores the simulation's context, so its continuation would run on the thread pool while simulated
        // time passes. Without a context, the thread that completes the answer runs the continuation itself.
        private async Task AnswerAsync(HttpRequestMessage request, TaskCompletionSource<HttpResponseMessage> answered)
        {
            var http = new Microsoft.AspNetCore.Http.DefaultHttpContext();
            using var body = new MemoryStream();
            http.Response.Body = body;
            http.Request.Path = request.RequestUri!.AbsolutePath;
            http.Request.QueryString = new Microsoft.AspNetCore.Http.QueryString(request.RequestUri.Query);
            await ServiceOf(cluster, cluster.Find(leader)!).AnswerMemberAsync(http);
            var simulation = SynchronizationContext.Current;
            SynchronizationContext.SetSynchronizationContext(null);
            try
            {
                answered.SetResult(
                    new HttpResponseMessage((HttpStatusCode)http.Response.StatusCode)
                    {
                        Content = new StringContent(Encoding.UTF8.GetString(body.ToArray())),
                    }
                );
            }
            finally
            {
                SynchronizationContext.SetSynchronizationContext(simulation);
            }
        }
    }
}
