using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Documents.Tests.Nodes;
using Rookery.Documents.Transfer;
using Rookery.Journal;
using Rookery.Simulation;
using Rookery.Storage;

namespace Rookery.Documents.Tests.Transfer;

/// <summary>The installation of a fetched state, which replaces a member's tables and resets its journal.</summary>
public sealed class StateInstallationTests
{
    private readonly SimulatedDisk _disk = new("/data");

    [Fact]
    public async Task A_member_with_an_installed_snapshot_equals_its_sender_even_after_a_restart()
    {
        var offer = Transferred.Offer(_disk, out var sender);
        byte[] vote;
        using (sender)
        {
            using (var receiver = SteppedNode.Open(_disk, Transferred.Receiver))
            {
                // The receiver has other data, and readers who must learn of the change.
                Transferred.FillReceiver(receiver);
                vote = receiver.Core.Journal.Vote.ToArray();
                var subscription = receiver.Database("both").Subscribe();
                long revision = receiver.Core.ClusterRecords.Revision;
                var position = Install(sender, offer, receiver);

                Assert.Equal(new ManifestPosition(offer.Index, offer.Term, offer.Operations), position);
                Transferred.AssertEqual(sender.Core, receiver.Core);
                Assert.False(await subscription.WaitAsync(CancellationToken.None));
                Assert.Equal(["both", "new"], receiver.Core.Databases.All.Select(static database => database.Name));
                Assert.NotEqual(revision, receiver.Core.ClusterRecords.Revision);
                Assert.Equal(
                    (offer.Index + 1, offer.Index, offer.Term, offer.Operations),
                    LogOf(receiver.Core.Journal)
                );
                Assert.Equal(1, receiver.Core.Transfers.InstalledOf(StateTransferKind.Files));
                Assert.Equal(offer.Bytes, receiver.Core.Transfers.ReceivedBytes);
                Assert.Equal(offer.Bytes, sender.Core.Transfers.SentBytes);
            }

            using var again = Transferred.Open(_disk, SteppedNode.Options(Transferred.Receiver));
            Transferred.AssertEqual(sender.Core, again);
            Assert.Equal(vote, again.Journal.Vote.ToArray());
            Assert.Equal(
                offer.Configuration,
                again.Journal.ConfigurationAt(again.Journal.Base.Index).Payload.ToArray()
            );
            Assert.NotEmpty(offer.Configuration);
            Assert.Empty(again.Journal.TakeRecovered());
            Assert.Null(again.CommitAlone(CommandEncoder.CreateDatabase("after", HistoryId.Create())).Rejection);
            Assert.DoesNotContain(_disk.List($"{Transferred.Receiver}/storage"), static name => name is "incoming");
        }
    }

    /// <summary>
    /// Commands remove old idempotency keys. Both members must remove the same keys, or their states would differ.
    /// </summary>
    [Fact]
    public void A_member_with_an_installed_snapshot_removes_the_same_idempotency_keys_as_its_sender()
    {
        using var sender = SteppedNode.Open(_disk, Transferred.Sender);
        using var receiver = SteppedNode.Open(_disk, Transferred.Receiver);
        sender.CreateDatabase("db");
        receiver.CreateDatabase("db");
        for (ulong key = 1; key <= 40; key++)
        {
            sender.Run(PutWithKey(sender, key));
        }

        for (ulong key = 901; key <= 910; key++)
        {
            receiver.Run(PutWithKey(receiver, key));
        }

        sender.Flush();
        Install(sender, sender.Core.Offers.Make(), receiver);
        long laterTicks = sender.Core.Applier.LastLogTicks + (25 * TimeSpan.TicksPerHour);
        for (ulong key = 41; key <= 50; key++)
        {
            // Each of these commands removes two keys.
            Apply(sender.Core, laterTicks + (long)key, PutWithKey(sender, key));
            Apply(receiver.Core, laterTicks + (long)key, PutWithKey(receiver, key));
        }

        // The ten commands removed the sender's first 20 of 50 keys. The receiver's own keys are gone.
        ulong[] expected = [.. Enumerable.Range(21, 30).Select(static key => (ulong)key)];
        foreach (var node in new[] { sender, receiver })
        {
            Assert.Equal(expected, IdempotencyRows.KeysOf(node.Core, "db"));
            Assert.Equal(expected, IdempotencyRows.OrderOf(node.Core, "db"));
        }
    }

    /// <summary>Encodes a write of document a with an idempotency key.</summary>
    private static CommandBuffer PutWithKey(SteppedNode node, ulong key) =>
        CommandEncoder.Put(
            node.Database("db").Number,
            "a"u8,
            ExpectedChangeVector.None,
            new ParsedDocument { BodyHead = "\"a\":1"u8 },
            new IdempotencyKey(key, key)
        );

    // Applies a command as the next entry, at a log time that the test chooses.
    private static void Apply(NodeStore store, long logTicks, CommandBuffer command)
    {
        var position = new LogEntryPosition(
            store.Storage.AppliedIndex + 1,
            Math.Max(store.Journal.LastTerm, 1),
            store.Storage.Sequence,
            OperationCount: 1
        );
        var outcomes = new CommandOutcome[1];
        store.Applier.Apply(position, EntryContent.Of(logTicks, command.Written.Span), outcomes);
        command.Dispose();
        Assert.Null(outcomes[0].Rejection);
    }

    /// <summary>
    /// A member whose journal has the state's last entry lacks only the runs. Later entries of its journal stay.
    /// </summary>
    [Fact]
    public void A_journal_with_the_last_entry_of_the_snapshot_keeps_its_tail()
    {
        var offer = Transferred.Offer(_disk, out var sender);
        using (sender)
        using (var receiver = SteppedNode.Open(_disk, Transferred.Receiver))
        {
            var journal = receiver.Core.Journal;
            long first = journal.LastIndex + 1;
            long operations = journal.OperationsBeforeNext;
            for (long index = first; index <= offer.Index + 3; index++)
            {
                long before = operations;
                operations = index <= offer.Index ? offer.Operations : offer.Operations + index - offer.Index;
                journal.Write([
                    new JournalFrame(
                        FrameType.NoOp,
                        index,
                        offer.Term,
                        before,
                        (int)(operations - before),
                        Payload: default
                    ),
                ]);
            }

            Transferred.Copy(sender.Core.Offers, offer, receiver.Core.Inbox);
            receiver.Core.Installation.Install(receiver.Core.Inbox.Check(offer), tailIsKept: true);
            Assert.Equal(offer.Index + 3, receiver.Core.Journal.LastIndex);
            Assert.Equal(offer.Index, receiver.Core.Storage.AppliedIndex);
            Transferred.AssertEqual(sender.Core, receiver.Core);
        }
    }

    /// <summary>
    /// Power is cut at any moment from before the fetch to after the installation. The node opens with the old or the
    /// new state and with its vote, and continues.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void After_any_power_cut_a_node_has_its_old_or_the_installed_state_and_its_vote(bool journalElsewhere)
    {
        NodeOptions options = SteppedNode.Options(Transferred.Receiver) with
        {
            JournalDirectory = journalElsewhere ? "/journal" : null,
        };
        int within = 0;
        new CrashSearch { Points = 400, Runs = 4 }.Verify(
            seed => InstallInSteps(seed, options),
            (image, story, operation) =>
            {
                within += operation >= story.Began && operation < story.Acknowledged ? 1 : 0;
                Check(image, story, operation, options);
            }
        );
        Assert.True(
            CrashSearch.IsReplay || within >= 200,
            $"{within} power cuts fell into the fetch and the installation; at least 200 must"
        );
    }

    /// <summary>
    /// Installs a state and writes one entry more, and records after how many disk operations each step ended.
    /// </summary>
    private static (SimulatedDisk Disk, Story Run) InstallInSteps(int seed, NodeOptions options)
    {
        var disk = options.JournalDirectory is null
            ? new SimulatedDisk("/data")
            : SimulatedDisk.WithSecondDevice("/data", "/journal");
        var senderDisk = new SimulatedDisk("/data");
        var offer = Transferred.Offer(senderDisk, out var sender);
        using var receiver = SteppedNode.Open(disk, options);
        Transferred.FillReceiver(receiver, 12 + seed);
        if (seed % 2 == 0)
        {
            receiver.Flush();
        }

        byte[] vote = receiver.Core.Journal.Vote.ToArray();
        var before = receiver.Documents("both");
        int began = disk.OperationCount;
        Install(sender, offer, receiver);
        int installed = disk.OperationCount;
        receiver.Core.Journal.Write([
            new JournalFrame(
                FrameType.NoOp,
                offer.Index + 1,
                offer.Term,
                offer.Operations,
                OperationCount: 0,
                Payload: default
            ),
        ]);
        int acknowledged = disk.OperationCount;
        while (receiver.Core.Background.DoStep()) { }

        var after = sender.Documents("both");
        sender.Dispose();
        return (disk, new Story(vote, before, after, offer.Index, began, installed, acknowledged));
    }

    /// <summary>Checks what a power cut after a number of disk operations left.</summary>
    private static void Check(SimulatedDisk image, Story story, int operation, NodeOptions options)
    {
        if (operation < story.Began)
        {
            return;
        }

        using (var store = Transferred.Open(image, options))
        {
            bool isNew = store.Databases.TryGet("new", out _);
            Assert.True(isNew || operation < story.Installed, "an installed state stays installed");
            Assert.Equal(isNew ? story.After : story.Before, Transferred.Documents(store, "both"));
            Assert.True(
                operation < story.Acknowledged || store.Journal.LastIndex > story.Index,
                "an acknowledged entry after the installed state is not lost"
            );
            Assert.Equal(story.Vote, store.Journal.Vote.ToArray());
            Assert.Null(store.CommitAlone(CommandEncoder.CreateDatabase("after", HistoryId.Create())).Rejection);
        }

        using var again = Transferred.Open(image, options);
        Assert.True(again.Databases.TryGet("after", out _));
        Assert.Equal(story.Vote, again.Journal.Vote.ToArray());
    }

    /// <summary>Copies an offer to the receiver, and installs it.</summary>
    private static ManifestPosition Install(SteppedNode sender, SnapshotOffer offer, SteppedNode receiver)
    {
        Transferred.Copy(sender.Core.Offers, offer, receiver.Core.Inbox);
        return receiver.Core.Installation.Install(receiver.Core.Inbox.Check(offer), tailIsKept: false);
    }

    private static (long First, long Last, long Term, long Operations) LogOf(NodeJournal journal) =>
        (journal.FirstIndex, journal.LastIndex, journal.LastTerm, journal.OperationsBeforeNext);

    /// <summary>What a receiver had and did.</summary>
    /// <param name="Vote">Its vote, which it keeps.</param>
    /// <param name="Before">Its documents of the database "both" before the installation.</param>
    /// <param name="After">The sender's documents of that database.</param>
    /// <param name="Index">The index of the installed state.</param>
    /// <param name="Began">The number of disk operations when the fetch began.</param>
    /// <param name="Installed">The number of disk operations when the state was installed.</param>
    /// <param name="Acknowledged">The number of disk operations when the next entry was written.</param>
    private sealed record Story(
        byte[] Vote,
        Dictionary<string, string> Before,
        Dictionary<string, string> After,
        long Index,
        int Began,
        int Installed,
        int Acknowledged
    );
}
