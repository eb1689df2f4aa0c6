using System.Buffers;
using System.Globalization;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Documents.Tests.Nodes;
using Rookery.Documents.Transfer;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Transfer;

/// <summary>
/// A member that stopped at a random entry receives the changes. Then it has every row of the sender in every table,
/// and the same outcome hash.
/// </summary>
public sealed class StateChangesTests
{
    private const int Seeds = 24;
    private const byte FirstTableOfEngine = 240;

    [Trait("Effort", "Whole")]
    [Fact]
    public void A_lagging_member_has_every_row_of_its_sender_after_installing_the_changes()
    {
        int changes = 0;
        int snapshots = 0;
        for (int seed = 0; seed < Seeds; seed++)
        {
            var offer = FollowAndInstall(seed);
            changes += offer.Since is null ? 0 : 1;
            snapshots += offer.Since is null ? 1 : 0;
        }

        // Both occur: changes where the sender retains enough tombstones, snapshots where it does not.
        Assert.InRange(changes, Seeds / 3, Seeds);
        Assert.InRange(snapshots, 1, Seeds);
    }

    [Fact]
    public void Changes_are_offered_again_on_request_and_otherwise_a_full_snapshot_with_the_reason()
    {
        var disk = new SimulatedDisk("/data");
        var time = new SimulatedTimeProvider();
        using var sender = SteppedNode.Open(disk, Transferred.Sender, time);
        long since = Transferred.FillWithLittleChanged(sender);
        var offers = sender.Core.Offers;

        Assert.Null(offers.MakeSince(since, out var write));
        Assert.Null(offers.MakeSince(since, out var second));
        Assert.Null(second);
        write!();
        var offer = offers.MakeSince(since + 5, out _)!;
        Assert.Equal((since, null), (offer.Since, offer.Why));
        Assert.InRange(offer.Bytes, 1, offer.WholeBytes / 2);

        var whole = offers.MakeSince(since: 1, out var noWrite)!;
        Assert.Equal((null, "the changes are about as large", null), (whole.Since, whole.Why, noWrite));
        Assert.NotEqual(offer.Id, whole.Id);
        Assert.NotNull(offers.Open(offer.Id, offer.Files[0].Name));
        time.Advance(SnapshotOffers.IdleTimeout);
        offers.WithdrawDue();
        Assert.Null(offers.Open(offer.Id, offer.Files[0].Name));
        Assert.DoesNotContain(disk.Files, static path => path.Contains("changes", StringComparison.Ordinal));
    }

    [Fact]
    public void A_full_snapshot_is_offered_if_changes_cannot_be_written()
    {
        var disk = new SimulatedDisk("/data");
        using var sender = SteppedNode.Open(disk, Transferred.Sender);
        long since = Transferred.FillWithLittleChanged(sender);
        Assert.Null(sender.Core.Offers.MakeSince(since, out var write));
        disk.Inject(new DiskFault(AtCall: 1, Errno.InputOutput) { Calls = DiskCalls.Write });
        write!();
        disk.ClearFaults();
        var offer = sender.Core.Offers.MakeSince(since, out _)!;
        Assert.Null(offer.Since);
        Assert.StartsWith("the changes could not be written (", offer.Why, StringComparison.Ordinal);

        // The refusal for one etag does not count for a later one, after which something else changed.
        Assert.Null(sender.Core.Offers.MakeSince(since + 1, out var writeLater));
        writeLater!();
        Assert.Equal(since + 1, sender.Core.Offers.MakeSince(since + 1, out _)!.Since);
        Assert.Null(sender.Core.Offers.MakeSince(since, out _)!.Since);
    }

    /// <summary>
    /// The node has the old state or the new one, its vote, and a journal that continues after the state.
    /// </summary>
    [Fact]
    public void After_any_power_cut_a_node_has_its_old_state_with_or_without_the_changes()
    {
        int within = 0;
        new CrashSearch { Points = 600, Runs = 4 }.Verify(
            RecordInstall,
            (image, story, operation) =>
            {
                if (operation < story.Began)
                {
                    return;
                }

                within += operation < story.Acknowledged ? 1 : 0;
                using (var store = Transferred.Open(image, SteppedNode.Options(Transferred.Receiver)))
                {
                    bool isNew = store.AppliedIndex >= story.Index;
                    Assert.True(isNew || operation < story.Installed, "installed changes are there after a power cut");
                    Assert.Equal(isNew ? story.After : story.Before, Transferred.Documents(store, "both"));
                    Assert.True(
                        operation < story.Acknowledged || store.Journal.LastIndex > story.Index,
                        "an acknowledged entry after the installed state is there after a power cut"
                    );
                    Assert.Null(
                        store.CommitAlone(CommandEncoder.CreateDatabase("after", HistoryId.Create())).Rejection
                    );
                }

                using var again = Transferred.Open(image, SteppedNode.Options(Transferred.Receiver));
                Assert.True(again.Databases.TryGet("after", out _));
            }
        );
        Assert.True(CrashSearch.IsReplay || within >= 100, $"only {within} cuts fell into the fetch and the install");
    }

    // Records an install of changes on the receiver's disk; CrashSearch cuts the power at each of its operations. The
    // sender puts 175 documents; the receiver lacks up to four of these entries, and 25 more documents.
    private static (SimulatedDisk Disk, Story Run) RecordInstall(int seed)
    {
        var disk = new SimulatedDisk("/data");
        using var sender = SteppedNode.Open(new SimulatedDisk("/data"), Transferred.Sender);
        using var pin = sender.Core.Journal.PinAbove(0);
        sender.CreateDatabase("both");
        FillMore(sender, 100 + seed);
        for (int i = 0; i < 6; i++)
        {
            FillMore(sender, 200 + i);
        }

        using var receiver = Transferred.Open(disk, SteppedNode.Options(Transferred.Receiver));
        CopyEntries(sender.Core, receiver, sender.Core.AppliedIndex - (seed % 5), new Random(seed));
        FillMore(sender, seed);
        var before = Transferred.Documents(receiver, "both");
        int began = disk.OperationCount;
        var offer = RequestOffer(sender.Core, receiver.Installation.ChangesNeededSince);
        Transferred.Copy(sender.Core.Offers, offer, receiver.Inbox);
        var fetched = receiver.Inbox.Check(offer);
        Assert.NotNull(offer.Since);
        receiver.Installation.Prepare(fetched);
        receiver.Installation.Install(fetched, tailIsKept: false);
        int installed = disk.OperationCount;
        receiver.Journal.Write([
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
        while (receiver.Background.DoStep()) { }

        return (
            disk,
            new Story(before, Transferred.Documents(sender.Core, "both"), offer.Index, began, installed, acknowledged)
        );
    }

    private static void FillMore(SteppedNode node, int seed)
    {
        var random = new Random(seed);
        byte[] text = new byte[300];
        for (int i = 0; i < 25; i++)
        {
            random.NextBytes(text);
            node.Put("both", $"users/{random.Next(400)}", $$"""{"Text":"{{Convert.ToHexString(text)}}"}""");
        }

        node.Flush();
    }

    /// <summary>
    /// What the receiver has before and after the install, and the numbers of its disk operations when the fetch began,
    /// when the changes were installed, and when the next entry was acknowledged.
    /// </summary>
    private sealed record Story(
        Dictionary<string, string> Before,
        Dictionary<string, string> After,
        long Index,
        int Began,
        int Installed,
        int Acknowledged
    );

    // A receiver copies entries of the sender, stops, and installs what the sender offers after more commands. Returns
    // the offer.
    private static SnapshotOffer FollowAndInstall(int seed)
    {
        var random = new Random(seed);
        var disk = new SimulatedDisk("/data");
        var time = new SimulatedTimeProvider();
        var options = SteppedNode.Options(Transferred.Sender) with
        {
            RetainedTombstones = random.Next(3) switch
            {
                0 => 5,
                1 => 100,
                _ => 100_000,
            },
        };
        using var sender = SteppedNode.Open(disk, options, time);
        sender.Core.RetainsTombstones = true;
        using var pin = sender.Core.Journal.PinAbove(0);
        var commands = new RandomStateCommands(sender, random, time);
        commands.Run(random.Next(100, 300));
        options = options with { DataDirectory = Transferred.Receiver };
        SnapshotOffer offer;
        using (var receiver = NodeStore.Open(options, disk, new MemoryBudget(16 << 20), NoRecorder.Instance, time))
        {
            receiver.RetainsTombstones = true;
            CopyEntries(sender.Core, receiver, sender.Core.AppliedIndex - random.Next(5), random);
            commands.Run(random.Next(5, 150));
            sender.Flush();
            offer = RequestOffer(sender.Core, receiver.Installation.ChangesNeededSince);
            Transferred.Copy(sender.Core.Offers, offer, receiver.Inbox);
            var fetched = receiver.Inbox.Check(offer);
            receiver.Installation.Prepare(fetched);
            receiver.Installation.Install(fetched, tailIsKept: false);
            Assert.Equal(
                offer.Bytes,
                receiver.Transfers.ReceivedBytesOf(
                    offer.Since is null ? StateTransferKind.Files : StateTransferKind.Changes
                )
            );
            AssertEqual(sender.Core, receiver, $"seed {seed}, {offer.Since}");
            commands.Run(40);
            CopyEntries(sender.Core, receiver, sender.Core.AppliedIndex, random);
            AssertEqual(sender.Core, receiver, $"seed {seed}, {offer.Since}, after more commands");
        }

        using var again = Transferred.Open(disk, options);
        AssertEqual(sender.Core, again, $"seed {seed}, {offer.Since}, opened again");
        return offer;
    }

    private static SnapshotOffer RequestOffer(NodeStore sender, long? since)
    {
        var offer = sender.Offers.MakeSince(since!.Value, out var write);
        write?.Invoke();
        return offer ?? sender.Offers.MakeSince(since.Value, out _)!;
    }

    // Copies the sender's journal entries to the receiver and applies them.
    private static void CopyEntries(NodeStore sender, NodeStore receiver, long through, Random random)
    {
        var frames = new List<JournalFrame>();
        using (var reader = sender.Journal.Read(receiver.AppliedIndex + 1))
        {
            while (reader.Next(out var read) && read.Index <= through)
            {
                frames.Add(read with { Payload = read.Payload.ToArray() });
            }
        }

        foreach (var frameChunk in frames.Chunk(32))
        {
            receiver.Journal.Write(frameChunk);
        }

        foreach (var frame in frames)
        {
            Replay.Apply(frame, receiver.Applier);
            for (int i = random.Next(20) == 0 ? 5 : 0; i > 0; i--)
            {
                receiver.Storage.Memtables.RequestFlush();
                receiver.Background.DoStep();
            }
        }
    }

    private static void AssertEqual(NodeStore expected, NodeStore actual, string context)
    {
        Assert.Equal(
            (context, expected.AppliedIndex, expected.Applier.OutcomeHash, expected.Applier.LastLogTicks),
            (context, actual.AppliedIndex, actual.Applier.OutcomeHash, actual.Applier.LastLogTicks)
        );
        Transferred.AssertEqual(expected, actual);
        var (expectedRows, actualRows) = (RowsOf(expected), RowsOf(actual));
        Assert.True(
            expectedRows.SequenceEqual(actualRows),
            $"{context}: {string.Join(", ", expectedRows.Except(actualRows).Take(3))} instead of "
                + $"{string.Join(", ", actualRows.Except(expectedRows).Take(3))}"
        );
    }

    // Omits the storage engine's own tables. It also omits stale rows by etag, which readers skip, because each node
    // drops them in merges at another time.
    private static List<string> RowsOf(NodeStore store)
    {
        var filter = new StaleRowFilter();
        var described = new List<string>();
        var value = new ArrayBufferWriter<byte>();
        using var snapshot = store.Storage.OpenSnapshot();
        using var rows = snapshot.Seek([0], []);
        while (rows.MoveNext())
        {
            byte table = rows.Key[4];
            if (
                table >= FirstTableOfEngine
                || (filter.Concerns(table) && filter.IsStale(rows.Key, rows.Sequence, rows.Value, snapshot))
            )
            {
                continue;
            }

            value.ResetWrittenCount();
            rows.CopyTo(value, 0, rows.Length);
            described.Add(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{Convert.ToHexString(rows.Key)} {rows.Sequence} "
                        + $"{Checksum.Finish(Checksum.Append(Checksum.Start, value.WrittenSpan))}"
                )
            );
        }

        return described;
    }
}
