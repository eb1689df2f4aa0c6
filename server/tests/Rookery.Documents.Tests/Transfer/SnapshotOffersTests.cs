using Rookery.Documents.Tests.Nodes;
using Rookery.Documents.Transfer;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Transfer;

/// <summary>
/// Offers of a node's state to lagging members. An offer pins files and journal entries until it is withdrawn.
/// </summary>
public sealed class SnapshotOffersTests
{
    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new();

    [Fact]
    public void An_offer_stays_unchanged_while_the_node_accepts_writes()
    {
        using var node = OpenSender();
        var offers = node.Core.Offers;
        var offer = offers.Make();
        for (int round = 0; round < 8; round++)
        {
            Transferred.FillLater(node, round);
            _time.Advance(SnapshotOffers.IdleTimeout / 2);
            Assert.Equal(offer.Id, offers.Make().Id);
            offers.WithdrawDue();
            Assert.True(node.Core.Journal.FirstIndex <= offer.Index + 1, "the journal has the entries after the offer");
        }

        using IDiskFile file = offers.Open(offer.Id, offer.Files[0].Name)!;
        Assert.Equal(offer.Files[0].Bytes, file.Length);
    }

    [Fact]
    public void An_unused_offer_is_dropped_and_releases_its_files_and_journal_entries()
    {
        using var node = OpenSender();
        var offers = node.Core.Offers;
        var offer = offers.Make();
        using IDiskFile open = offers.Open(offer.Id, offer.Files[0].Name)!;
        _time.Advance(SnapshotOffers.IdleTimeout);
        offers.WithdrawDue();
        Assert.Null(offers.Open(offer.Id, offer.Files[0].Name));
        Assert.False(_disk.Exists($"{Transferred.Sender}/offer"));
        Assert.Equal(open.Length, open.Read(new byte[open.Length], 0));
        Transferred.FillLater(node, round: 1);
        Assert.True(node.Core.Journal.FirstIndex > offer.Index + 1);
        Assert.NotEqual(offer.Id, offers.Make().Id);
        Assert.Equal((2L, 1L), (node.Core.Transfers.Offers, node.Core.Transfers.Dropped));
    }

    /// <summary>A member that never catches up must not fill the journal's device.</summary>
    [Fact]
    public void An_offer_that_pins_too_much_of_the_journal_is_dropped()
    {
        using var node = OpenSender();
        using var offers = new SnapshotOffers(
            node.Core.Storage,
            node.Core.Journal,
            _disk,
            "/data/other",
            new StateTransferStatistics(),
            _time
        )
        {
            MaxKeptBytes = 128 << 10,
        };
        var offer = offers.Make();
        for (int round = 0; round < 12; round++)
        {
            Transferred.FillLater(node, round);
            offers.CountSent(offer.Id, bytes: 1);
        }

        offers.WithdrawDue();
        Assert.Null(offers.Open(offer.Id, offer.Files[0].Name));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void An_offer_that_is_made_while_the_offers_are_disposed_releases_its_files_and_journal_entries(
        bool isChanges
    )
    {
        using var node = OpenSender();
        Transferred.FillLater(node, round: 1);
        long since = node.Core.Storage.Sequence;
        node.Put("both", "changed", "{}");
        node.Flush();
        long durable = node.Core.DurablePosition.Index;
        var time = new DisposingTime();
        using var offers = new SnapshotOffers(
            node.Core.Storage,
            node.Core.Journal,
            _disk,
            "/data/other",
            new StateTransferStatistics(),
            time
        );
        time.Disposed = offers;
        Assert.Throws<ObjectDisposedException>(() => isChanges ? offers.MakeSince(since, out _) : offers.Make());
        Assert.True(time.IsDisposed);
        Assert.DoesNotContain(_disk.Files, static path => path.Contains("other", StringComparison.Ordinal));
        Transferred.FillLater(node, round: 2);
        Assert.True(node.Core.Journal.FirstIndex > durable + 1, "no offer pins the journal");
    }

    /// <summary>A member that cannot apply any more needs a snapshot that reaches its applied index.</summary>
    [Fact]
    public void An_offer_older_than_the_applied_state_of_a_member_is_replaced()
    {
        using var node = OpenSender();
        var offers = node.Core.Offers;
        var earlier = offers.Make();
        for (int round = 0; node.Core.DurablePosition.Index == earlier.Index; round++)
        {
            Transferred.FillLater(node, round);
        }

        Assert.Equal(earlier.Id, offers.Make(earlier.Index).Id);
        var later = offers.Make(earlier.Index + 1);
        Assert.True(later.Index > earlier.Index);
        Assert.Null(offers.Open(earlier.Id, earlier.Files[0].Name));
        using IDiskFile file = offers.Open(later.Id, later.Files[0].Name)!;
        Assert.Equal(later.Files[0].Bytes, file.Length);
    }

    /// <summary>The offer ended before a thread was free to write it, and a newer one has its directory.</summary>
    [Fact]
    public void An_offer_that_is_written_after_its_end_leaves_the_newer_ones_files()
    {
        using var node = SteppedNode.Open(_disk, Transferred.Sender, _time);
        var offers = node.Core.Offers;
        long since = Transferred.FillWithLittleChanged(node);
        Assert.Null(offers.MakeSince(since, out var lateWrite));
        _time.Advance(SnapshotOffers.IdleTimeout);
        Assert.Null(offers.MakeSince(since, out var write));
        write!();
        lateWrite!();
        var offer = offers.MakeSince(since, out _)!;
        Assert.Equal(since, offer.Since);
        Assert.All(
            offer.Files,
            each =>
            {
                using IDiskFile file = offers.Open(offer.Id, each.Name)!;
                Assert.Equal(each.Bytes, file.Length);
            }
        );
    }

    [Fact]
    public void Changes_that_cannot_be_offered_keep_no_files_that_merges_replace() =>
        Assert.Equal(CountRunsAfterMerges(offersChanges: false), CountRunsAfterMerges(offersChanges: true));

    private static int CountRunsAfterMerges(bool offersChanges)
    {
        var disk = new SimulatedDisk("/data");
        using var node = SteppedNode.Open(disk, Transferred.Sender);
        long since = Transferred.FillWithLittleChanged(node);
        if (offersChanges)
        {
            disk.CreateDirectory($"{Transferred.Sender}/offer-changes-1");
            disk.Inject(new DiskFault(AtCall: 1, Errno.InputOutput) { Calls = DiskCalls.List });
            Assert.Throws<DiskException>(() => node.Core.Offers.MakeSince(since, out _));
        }

        for (int round = 0; round < 8; round++)
        {
            Transferred.FillWithLittleChanged(node);
            while (node.Core.Storage.MergeOnce()) { }
        }

        return disk.List($"{Transferred.Sender}/storage")
            .Count(static name => name.EndsWith(".run", StringComparison.Ordinal));
    }

    [Fact]
    public void A_node_with_damage_offers_nothing_and_states_the_reason()
    {
        OpenSender().Dispose();

        string run = _disk
            .List($"{Transferred.Sender}/storage")
            .First(static name => name.EndsWith(".run", StringComparison.Ordinal));
        _disk.Rot($"{Transferred.Sender}/storage/{run}", offset: 200, mask: 8);
        using var node = SteppedNode.Open(_disk, Transferred.Sender, _time);
        while (!node.Core.Storage.ScrubOnce(budgetBytes: 1 << 20)) { }

        Assert.StartsWith(
            "This node does not offer its state, because a part of it cannot be read:",
            Assert.Throws<StateTransferException>(() => node.Core.Offers.Make()).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_start_deletes_the_files_of_earlier_offers()
    {
        using (var node = OpenSender())
        {
            node.Core.Offers.Make();
            _disk.KillProcess();
        }

        using var again = SteppedNode.Open(_disk, Transferred.Sender, _time);
        Assert.False(_disk.Exists($"{Transferred.Sender}/offer"));
    }

    [Theory]
    [InlineData(
        """{"Id":"a","Index":1,"Term":1,"Operations":1,"ConfigurationIndex":0,"Configuration":"","Files":[{"Name":"../x","Bytes":1}]}"""
    )]
    [InlineData(
        """{"Id":"a","Index":1,"Term":1,"Operations":1,"ConfigurationIndex":0,"Configuration":"","Files":[{"Name":"x","Bytes":-1}]}"""
    )]
    [InlineData(
        """{"Id":"a","Index":1,"Term":1,"Operations":1,"ConfigurationIndex":0,"Configuration":"","Files":[{"Name":"x","Bytes":1},{"Name":"x","Bytes":1}]}"""
    )]
    [InlineData("""{"Id":"a"}""")]
    [InlineData("null")]
    [InlineData("[")]
    public void An_invalid_offer_is_refused(string json) =>
        Assert.Throws<StateTransferException>(() => SnapshotOffer.Decode(System.Text.Encoding.UTF8.GetBytes(json)));

    private SteppedNode OpenSender()
    {
        var node = SteppedNode.Open(_disk, Transferred.Sender, _time);
        Transferred.FillSender(node);
        return node;
    }

    /// <summary>Disposes the offers when a new offer asks for the time.</summary>
    private sealed class DisposingTime : TimeProvider
    {
        public SnapshotOffers? Disposed { get; set; }

        public bool IsDisposed { get; private set; }

        public override long GetTimestamp()
        {
            IsDisposed = true;
            Disposed?.Dispose();
            return 0;
        }
    }
}
