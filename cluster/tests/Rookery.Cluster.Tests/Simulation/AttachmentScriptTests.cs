using Rookery.Cluster.Contents;
using Rookery.Documents.Attachments;
using Rookery.Documents.Consensus;
using Rookery.Documents.Transfer;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>Attachments in a simulated cluster of three, one fault at a time.</summary>
public sealed class AttachmentScriptTests : IDisposable
{
    private readonly SteppedCluster _cluster;
    private readonly AttachmentRun _run;

    public AttachmentScriptTests()
    {
        _cluster = new SteppedCluster(seed: 1) { RetainedJournalBytes = 0, CautionMicroseconds = 0 };
        _cluster.Form(members: 3);
        _run = new AttachmentRun(_cluster);
        _cluster.Put(Leader, "d");
    }

    private SteppedMember Leader => _cluster.AwaitLeader();

    private SteppedMember Follower => _cluster.Members.First(member => member != Leader);

    public void Dispose() => _cluster.Dispose();

    [Fact]
    public void An_attachment_can_be_read_from_every_member()
    {
        Assert.Null(Attach(Leader, "a", AttachmentRun.ContentOf(1, 600_000)));
        Assert.Null(Attach(Follower, "b", AttachmentRun.ContentOf(2, 0)));
        AwaitQuiet();
        _run.CheckEnd();
    }

    [Fact]
    public void A_slow_follower_that_the_majority_needs_gets_the_content_before_the_entry()
    {
        var third = _cluster.Members.First(member => member != Leader && member != Follower);
        third.Kill();
        _cluster.Wire.ContentMilliseconds = 3000;
        Assert.Null(Attach(Leader, "a", AttachmentRun.ContentOf(1, 600_000)));
        third.Open();
        AwaitQuiet();
        _run.CheckEnd();
    }

    [Fact]
    public void Contents_that_no_member_offered_are_fetched_when_their_entry_arrives()
    {
        var third = _cluster.Members.First(member => member != Leader && member != Follower);
        _cluster.Wire.Isolate(third);
        Assert.Null(Attach(Leader, "a", AttachmentRun.ContentOf(1, 300_000)));
        RunFor(40_000); // the offer is given up
        _cluster.Wire.Heal();
        int pieces = _cluster.Wire.Pieces;
        _cluster.Put(Leader, "later");
        AwaitQuiet();
        Assert.True(_cluster.Wire.Pieces > pieces);
        _run.CheckEnd();
    }

    [Fact]
    public void A_member_reads_and_votes_while_its_appends_wait_for_a_content()
    {
        var leader = Leader;
        var follower = Follower;
        var third = _cluster.Members.First(member => member != leader && member != follower);
        _cluster.Wire.Isolate(third);
        Assert.Null(Attach(leader, "a", AttachmentRun.ContentOf(1, 300_000)));
        RunFor(40_000);
        _cluster.Wire.Heal();
        _cluster.Wire.ContentMilliseconds = 20_000;
        _cluster.Put(leader, "later");
        long term = leader.Consensus!.Term;
        RunFor(10_000);
        Assert.NotNull(third.Consensus!.Contents!.WaitsFor);
        Assert.Equal(term, third.Consensus.Term);
        Assert.Equal(leader.Id, third.Consensus.Leader);
        _cluster.Wire.ContentMilliseconds = 1;
        follower.Kill(); // the others must decide together
        AwaitAcknowledged();
        follower.Open();
        AwaitQuiet();
        _run.CheckEnd();
    }

    [Fact]
    public void An_entry_whose_content_was_released_on_all_members_is_accepted_without_it()
    {
        var third = _cluster.Members.First(member => member != Leader && member != Follower);
        _cluster.Wire.Isolate(third);
        Assert.Null(Attach(Leader, "a", AttachmentRun.ContentOf(1, 1000)));
        Assert.Null(Await(_run.DetachAsync(Leader, "d", "a")));
        RunFor(200_000);
        Assert.Empty(AttachmentRun.FilesOf(Leader));
        _cluster.Wire.Heal();
        _cluster.Put(Leader, "later");
        AwaitQuiet();
        _run.CheckEnd();
        Assert.Empty(third.Store!.Attachments.Damage);
    }

    [Fact]
    public void A_state_is_installed_with_all_contents_that_its_rows_name()
    {
        var third = _cluster.Members.First(member => member != Leader && member != Follower);
        _cluster.Wire.Isolate(third);
        Assert.Null(Attach(Leader, "a", AttachmentRun.ContentOf(1, 300_000)));
        for (int i = 0; i < 120; i++)
        {
            _cluster.Put(Leader, $"p/{i}", padding: 2000);
        }

        RunFor(5_000);
        int states = _cluster.Wire.StatesFetched;
        _cluster.Wire.Heal();
        AwaitQuiet();
        Assert.True(_cluster.Wire.StatesFetched > states);
        _run.CheckEnd();
    }

    [Fact]
    public void A_damaged_content_is_fetched_from_another_member()
    {
        byte[] content = AttachmentRun.ContentOf(1, 100_000);
        Assert.Null(Attach(Leader, "a", content));
        AwaitQuiet();
        var damaged = Follower;
        var place = Assert.Single(AttachmentRun.FilesOf(damaged));
        damaged.Disk.Delete(damaged.Store!.Attachments.Files.PathOf(place));
        RunFor(2_000);
        var name = Assert.Single(damaged.Store.Attachments.Replicated.Damaged);
        Assert.True(_cluster.Await(damaged.Consensus!.Contents!.Fetcher.FetchAsync(name, Leader.Id)).IsHere);
        Assert.Empty(damaged.Store.Attachments.Damage);
        Assert.Equal(content, AttachmentRun.Read(damaged, place.Hash));
    }

    [Fact]
    public void A_leader_does_not_propose_a_content_that_it_lacks()
    {
        var leader = Leader;
        using var pinned = AttachmentRun.Upload(Follower, [1]);
        var command = AttachmentRun.CommandOf("d", "a", pinned);
        Assert.Equal(
            RejectionKind.ContentMissing,
            _cluster
                .Await(leader.Consensus!.ProposeForwardedAsync(command, CancellationToken.None).AsTask())
                .Rejection?.Kind
        );
    }

    [Fact]
    public void An_upload_that_reaches_no_majority_is_refused_and_its_content_is_deleted()
    {
        _cluster.Wire.LosesOffers = true;
        Assert.Equal(RejectionKind.ContentMissing, Attach(Leader, "a", [1])?.Kind);
        RunFor(60_000);
        Assert.All(_cluster.Members, static member => Assert.Empty(AttachmentRun.FilesOf(member)));
        _cluster.Wire.LosesOffers = false;
        Assert.Null(Attach(Leader, "a", [1]));
    }

    [Fact]
    public void An_offer_that_is_repeated_sends_each_piece_once()
    {
        const int Pieces = 16;
        _cluster.Wire.ContentMilliseconds = 1500;
        Assert.Null(Attach(Leader, "a", AttachmentRun.ContentOf(1, Pieces * ReplicatedContents.PieceBytes)));
        AwaitQuiet();
        Assert.Equal(2 * Pieces, _cluster.Wire.Pieces);
        _run.CheckEnd();
    }

    [Fact]
    public void A_fetch_keeps_what_arrived_when_every_fifth_request_breaks()
    {
        const int Pieces = 16;
        _cluster.Wire.ContentRequestsBetweenBreaks = 4;
        Assert.Null(Attach(Leader, "a", AttachmentRun.ContentOf(1, Pieces * ReplicatedContents.PieceBytes)));
        AwaitQuiet();
        Assert.Equal(2 * Pieces, _cluster.Wire.Pieces);
        _run.CheckEnd();
    }

    /// <summary>Three failures in a row end the requests to a member. Here the third request brings a piece.</summary>
    [Fact]
    public void A_fetch_goes_on_when_a_request_breaks_after_a_piece_that_followed_two_failures()
    {
        const int Pieces = 3;
        var leader = Leader;
        var follower = Follower;
        byte[] content = AttachmentRun.ContentOf(1, Pieces * ReplicatedContents.PieceBytes);
        using var pinned = AttachmentRun.Upload(leader, content);
        var name = new ContentName(1, pinned.Hash, pinned.Size);
        _cluster.Wire.BrokenContentRequests.UnionWith([1, 2, 4]);
        var end = _cluster.Await(follower.Consensus!.Contents!.Fetcher.FetchAsync(name, leader.Id, only: leader.Id));
        Assert.True(end.IsHere, end.Trouble);
        Assert.Equal(Pieces, _cluster.Wire.Pieces);
    }

    [Fact]
    public void A_content_is_fetched_from_the_next_member_that_offers_it_when_the_first_is_silent()
    {
        var leader = Leader;
        var follower = Follower;
        var third = _cluster.Members.First(member => member != leader && member != follower);
        using var pinned = AttachmentRun.Upload(follower, AttachmentRun.ContentOf(1, 300_000));
        var name = new ContentName(1, pinned.Hash, pinned.Size);
        var source = third.Consensus!.Contents!.Source;
        _cluster.Wire.SilentContents.Add(leader.Id);
        Assert.Equal(1, _cluster.Await(source.OfferAsync(leader.Id, [name])).Missing);
        int missing = 1;
        for (int i = 0; i < 4 && missing > 0; i++)
        {
            missing = _cluster.Await(source.OfferAsync(follower.Id, [name])).Missing;
        }

        Assert.Equal(0, missing);
    }

    [Fact]
    public void A_content_is_fetched_from_another_member_when_the_leader_is_silent()
    {
        var third = IsolateThirdAndAttach();
        _cluster.Wire.SilentContents.Add(Leader.Id);
        _cluster.Wire.Heal();
        _cluster.Put(Leader, "later");
        _cluster.RunUntil(() => AttachmentRun.FilesOf(third).Any(), "the content", seconds: 15);
        _cluster.Wire.SilentContents.Clear();
        AwaitQuiet();
        _run.CheckEnd();
    }

    [Fact]
    public void Writes_go_on_when_the_leader_dies_while_a_content_is_fetched_from_it()
    {
        var third = IsolateThirdAndAttach();
        var leader = Leader;
        _cluster.Wire.SilentContents.Add(leader.Id);
        _cluster.Wire.Heal();
        _cluster.RunUntil(() => third.Consensus!.Contents!.WaitsFor is not null, "a wait");
        leader.Kill();
        _cluster.RunUntil(() => _cluster.Leader is not null, "a leader");
        var put = _cluster.Leader!.Propose(SteppedCluster.PutOf("later", 1));
        _cluster.RunUntil(() => put.IsCompleted, "an answer", seconds: 5);
        Assert.Null(_cluster.Await(put).Rejection);
        _cluster.Wire.SilentContents.Clear();
        leader.Open();
        AwaitQuiet();
        _run.CheckEnd();
    }

    [Fact]
    public void An_entry_whose_content_is_lost_everywhere_is_accepted_and_the_loss_reported()
    {
        var third = IsolateThirdAndAttach();
        DeleteContents(Leader);
        DeleteContents(Follower);
        _cluster.Wire.Heal();
        _cluster.Put(Leader, "later");
        _cluster.AwaitEqual();
        RunFor(10_000);
        Assert.NotEmpty(third.Store!.Attachments.Damage);
    }

    [Fact]
    public void A_joining_member_fetches_contents_from_members_that_only_the_leader_knows()
    {
        byte[] content = AttachmentRun.ContentOf(1, 300_000);
        Assert.Null(Attach(Leader, "a", content));
        AwaitQuiet();
        var place = Assert.Single(AttachmentRun.FilesOf(Leader));
        DeleteContents(Leader);
        var joiner = new SteppedMember(_cluster, number: 3, mayBegin: false);
        _cluster.Members.Add(joiner);
        joiner.Open();
        _cluster.Change(Raft.MemberChange.Learner, joiner);
        _cluster.AwaitEqual();
        Assert.Equal(content, AttachmentRun.Read(joiner, place.Hash));
    }

    [Fact]
    public void The_contents_of_a_state_are_kept_when_its_fetch_fails_after_their_leases_ended()
    {
        var third = _cluster.Members.First(member => member != Leader && member != Follower);
        _cluster.Wire.Isolate(third);
        Assert.Null(Attach(Leader, "a", AttachmentRun.ContentOf(1, 300_000)));
        for (int i = 0; i < 120; i++)
        {
            _cluster.Put(Leader, $"p/{i}", padding: 2000);
        }

        RunFor(5_000);
        int pieces = _cluster.Wire.Pieces;
        _cluster.Wire.FetchFailure = new StateTransferException("The connection broke.");
        _cluster.Wire.FetchFailsAfterMilliseconds = 300_000;
        _cluster.Wire.Heal();
        RunFor(290_000);
        _cluster.Wire.Isolate(third);
        RunFor(20_000);
        _cluster.Wire.Heal();
        Assert.Null(_cluster.Wire.FetchFailure);
        AwaitQuiet();
        Assert.Equal(pieces + 2, _cluster.Wire.Pieces);
        _run.CheckEnd();
    }

    [Fact]
    public void An_offer_reports_the_progress_of_its_own_contents_only()
    {
        var leader = Leader;
        var follower = Follower;
        var third = _cluster.Members.First(member => member != leader && member != follower);
        using var other = AttachmentRun.Upload(leader, AttachmentRun.ContentOf(1, 3_000_000));
        var exchange = third.Consensus!.Contents!;
        _cluster.Wire.ContentMilliseconds = 500;
        _cluster.Wire.SilentContents.Add(follower.Id);
        _ = exchange.Fetcher.FetchAsync(new ContentName(1, other.Hash, other.Size), leader.Id, only: leader.Id);
        var name = new ContentName(1, default, Size: 3);
        long before = exchange.Fetcher.ReceivedBytes;
        _cluster.Await(exchange.Source.OfferAsync(follower.Id, [name]));
        var answer = _cluster.Await(exchange.Source.OfferAsync(follower.Id, [name]));
        Assert.True(exchange.Fetcher.ReceivedBytes > before);
        Assert.Equal(new OfferAnswer(Missing: 1, ReceivedBytes: 0, QueueBytes: 0, Trouble: null), answer);
    }

    // The offer of the content is given up before this returns.
    private SteppedMember IsolateThirdAndAttach()
    {
        var third = _cluster.Members.First(member => member != Leader && member != Follower);
        _cluster.Wire.Isolate(third);
        Assert.Null(Attach(Leader, "a", AttachmentRun.ContentOf(1, 300_000)));
        RunFor(40_000);
        return third;
    }

    private static void DeleteContents(SteppedMember member)
    {
        foreach (var place in AttachmentRun.FilesOf(member).ToList())
        {
            member.Disk.Delete(member.Store!.Attachments.Files.PathOf(place));
        }
    }

    private Rejection? Attach(SteppedMember member, string name, byte[] content) =>
        Await(_run.AttachAsync(member, "d", name, content));

    private T Await<T>(Task<T> task)
    {
        long end = _cluster.Now + 100_000_000;
        while (!task.IsCompleted)
        {
            Assert.True(_cluster.Now < end, $"expected an answer. {_cluster.DescribeMembers()}");
            Step();
        }

        return task.GetAwaiter().GetResult();
    }

    private void AwaitAcknowledged()
    {
        var put = Leader.Propose(SteppedCluster.PutOf("decided", 1));
        Assert.Null(Await(put).Rejection);
    }

    private void RunFor(double milliseconds)
    {
        long end = _cluster.Now + (long)(milliseconds * 1000);
        while (_cluster.Now < end)
        {
            Step();
        }
    }

    private void Step()
    {
        _cluster.Step();
        _run.CheckJournals();
    }

    private void AwaitQuiet()
    {
        _cluster.AwaitEqual();
        RunFor(200_000); // leases end, and garbage is deleted
    }
}
