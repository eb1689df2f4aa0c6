using Rookery.Documents.Consensus;

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
    public void A_slow_follower_that_is_needed_has_the_content_before_the_entry()
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
    public void Contents_that_nobody_offered_are_asked_for_when_their_entry_arrives()
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
    public void A_member_reads_and_votes_while_its_appends_wait()
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
    public void A_released_content_that_is_gone_everywhere_is_no_obstacle()
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
    public void A_damaged_content_is_taken_from_another_member()
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
    public void An_upload_that_reaches_no_majority_is_refused_and_leaves_nothing()
    {
        _cluster.Wire.LosesOffers = true;
        Assert.Equal(RejectionKind.ContentMissing, Attach(Leader, "a", [1])?.Kind);
        RunFor(60_000);
        Assert.All(_cluster.Members, static member => Assert.Empty(AttachmentRun.FilesOf(member)));
        _cluster.Wire.LosesOffers = false;
        Assert.Null(Attach(Leader, "a", [1]));
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
