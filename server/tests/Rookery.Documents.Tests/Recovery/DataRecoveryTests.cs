using Rookery.Documents.Nodes;
using Rookery.Documents.Recovery;
using Rookery.Documents.Tests.Backups;
using Rookery.Documents.Tests.Nodes;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Recovery;

/// <summary>
/// Recovery builds new data beside the old, from a stopped node's tables and journal. Then it decides: the new data
/// replace the old, which are kept under other names. A start after an interruption completes or undoes this.
/// </summary>
public class DataRecoveryTests
{
    private static readonly NodeIds NewIds = new("recovered-node-1234567", "recovered-cluster-1234");

    private readonly SimulatedDisk _disk = new("/data", "/backups");

    [Fact]
    public void A_recovered_node_has_all_data_under_new_ids_and_histories()
    {
        NodeIds old;
        Dictionary<string, string> shop;
        string history;
        using (var node = BackedUp.NewNode(_disk))
        {
            (old, shop, history) = (
                new NodeIds(node.Core.NodeId, node.Core.ClusterId),
                node.Documents("Shop"),
                node.Database("Shop").HistoryId
            );
        }

        Assert.Equal([("Other", 2), ("Shop", 300)], Recover(_disk).Databases);

        using var recovered = SteppedNode.Open(_disk, BackedUp.Node);
        Assert.Equal(NewIds, new NodeIds(recovered.Core.NodeId, recovered.Core.ClusterId));
        Assert.Equal(shop, recovered.Documents("Shop"));
        Assert.NotEqual(history, recovered.Database("Shop").HistoryId);
        Assert.True(recovered.Core.Storage.Sequence >= 300, "etags continue from the old data's");
        recovered.Put("Shop", "d/new", """{"b":2}""");

        // The old data is complete, under names that contain the old cluster's id.
        string suffix = ".before-" + old.ClusterId;
        Assert.True(
            _disk.Exists($"{BackedUp.Node}/storage{suffix}/manifest-0")
                && _disk.Exists($"{BackedUp.Node}/format{suffix}")
        );
        Assert.Contains(
            _disk.List(BackedUp.Node + "/journal"),
            name => name.EndsWith(suffix, StringComparison.Ordinal)
        );
        Assert.DoesNotContain(
            _disk.List(BackedUp.Node),
            static name => name.Contains("recovered", StringComparison.Ordinal)
        );
        Assert.DoesNotContain(
            _disk.List(BackedUp.Node + "/journal"),
            static name => name.Contains("recovered", StringComparison.Ordinal)
        );
    }

    [Fact]
    public void Inspecting_a_stopped_store_changes_nothing()
    {
        BackedUp.NewNode(_disk, documents: 20).Dispose();
        var before = _disk
            .Files.Where(static file => !file.EndsWith("/lock", StringComparison.Ordinal))
            .ToDictionary(static file => file, file => Convert.ToHexString(_disk.ReadAll(file)));
        using (var old = Open(_disk))
        {
            Assert.Null(old.Damage);
            Assert.NotNull(old.LastWritten);
            Assert.True(old.Last.Operations >= 22);
        }

        Assert.Equal(
            before,
            _disk
                .Files.Where(static file => !file.EndsWith("/lock", StringComparison.Ordinal))
                .ToDictionary(static file => file, file => Convert.ToHexString(_disk.ReadAll(file)))
        );
    }

    [Fact]
    public void A_node_can_be_recovered_more_than_once()
    {
        BackedUp.NewNode(_disk, documents: 20).Dispose();
        Recover(_disk);
        SteppedNode.Open(_disk, BackedUp.Node).Dispose();
        Recover(_disk, new NodeIds("again-node-12345678901", "again-cluster-12345678"));
        using var recovered = SteppedNode.Open(_disk, BackedUp.Node);
        Assert.Equal(20, recovered.Documents("Shop").Count);
        Assert.Equal(
            2,
            _disk.List(BackedUp.Node).Count(static name => name.StartsWith("storage.before-", StringComparison.Ordinal))
        );
    }

    [Trait("Effort", "Whole")]
    [Fact]
    public void A_power_cut_leaves_the_old_data_or_the_new()
    {
        int cutsWithin = 0,
            newFound = 0;
        NodeIds? old = null;
        new CrashSearch { Points = 600, Runs = 2 }.Verify(
            seed =>
            {
                var first = new SimulatedDisk("/data");
                using (var node = BackedUp.NewNode(first, 40 + (40 * seed)))
                {
                    old = new NodeIds(node.Core.NodeId, node.Core.ClusterId);
                }

                var work = first.AfterPowerLoss(seed: 0);
                Recover(work);
                return (work, new Story(work.OperationCount, 40 + (40 * seed)));
            },
            (image, story, operation) =>
            {
                cutsWithin += operation < story.Recovered ? 1 : 0;
                bool wasNew = AssertOldOrNew(image, old!, story.Documents);
                Assert.True(wasNew || operation < story.Recovered, "a completed recovery stays");
                newFound += wasNew && operation < story.Recovered ? 1 : 0;
            }
        );
        Assert.True(
            CrashSearch.IsReplay || (cutsWithin >= 300 && newFound >= 5),
            $"{cutsWithin} cuts came before the recovery ended and {newFound} of them left the new data; 300 and 5 must"
        );
    }

    [Fact]
    public void The_search_catches_a_recovery_without_a_sync_of_the_journal_directory()
    {
        // Nothing else syncs the journal's directory. Without this sync, the new tables could be valid while their
        // journal is missing.
        BackedUp.NewNode(_disk, documents: 20).Dispose();
        Assert.NotNull(
            new CrashSearch { Points = 300, Runs = 1 }.Find(
                _ =>
                {
                    var work = _disk.AfterPowerLoss(seed: 0);
                    Recover(
                        work,
                        faultyDisk: new SyncSkippingDisk(
                            work,
                            static path =>
                                path.EndsWith("/journal", StringComparison.Ordinal)
                                && !path.Contains("recovered", StringComparison.Ordinal)
                        )
                    );
                    return (work, 0);
                },
                (image, _, _) => SteppedNode.Open(image, BackedUp.Node).Dispose()
            )
        );
    }

    [Fact]
    public void A_failing_disk_leaves_the_old_data_or_the_new()
    {
        NodeIds old;
        using (var node = BackedUp.NewNode(_disk, documents: 40))
        {
            old = new NodeIds(node.Core.NodeId, node.Core.ClusterId);
        }

        var complete = _disk.AfterPowerLoss(seed: 0);
        Recover(complete);
        long calls = complete.CallCount(DiskCalls.Changing);
        for (long call = 1; call <= calls; call += 1 + (call / 40))
        {
            var image = _disk.AfterPowerLoss(seed: 0);
            image.Inject(new DiskFault(call, Errno.InputOutput) { Calls = DiskCalls.Changing, Sticky = true });
            var failure = Record.Exception(() => Recover(image));
            image.ClearFaults();
            image.KillProcess();
            Assert.True(failure is null or IOException, $"call {call}: {failure}");
            Assert.True(AssertOldOrNew(image, old, documents: 40) || failure is not null);
        }
    }

    [Fact]
    public void The_readable_part_of_a_damaged_journal_is_recovered_and_the_loss_reported()
    {
        int first;
        using (var node = BackedUp.NewNode(_disk, documents: 20))
        {
            first = (int)node.Core.Journal.LastIndex;
            for (int i = 0; i < 5; i++)
            {
                node.Put("Shop", $"late/{i}", "{}");
            }
        }

        // The third entry cannot be read, and later ones can.
        string segment = _disk.Files.First(file => _disk.ReadAll(file).AsSpan().IndexOf("late/2"u8) >= 0);
        _disk.Rot(segment, _disk.ReadAll(segment).AsSpan().IndexOf("late/2"u8), mask: 4);
        using (var old = Open(_disk))
        {
            Assert.Equal(first + 2, old.Last.Index);
            Assert.Contains($"entries {first + 3} to {first + 5}", old.Damage, StringComparison.Ordinal);
        }

        Assert.Equal([("Other", 2), ("Shop", 22)], Recover(_disk).Databases);
        SteppedNode.Open(_disk, BackedUp.Node).Dispose();
    }

    [Fact]
    public void Without_a_journal_the_tables_are_recovered()
    {
        long lastIndex;
        using (var node = BackedUp.NewNode(_disk, documents: 40))
        {
            node.Flush();
            lastIndex = node.Core.DurablePosition.Index;
            node.Put("Shop", "late", "{}");
        }

        foreach (
            string file in _disk
                .Files.Where(static file => file.EndsWith(".segment", StringComparison.Ordinal))
                .ToArray()
        )
        {
            _disk.Delete(file);
        }

        using (var old = Open(_disk))
        {
            Assert.Equal(lastIndex, old.Last.Index);
            Assert.Contains(
                $"all entries after {lastIndex}, the last one in the tables",
                old.Damage,
                StringComparison.Ordinal
            );
        }

        Assert.Equal([("Other", 2), ("Shop", 40)], Recover(_disk).Databases);
        SteppedNode.Open(_disk, BackedUp.Node).Dispose();
    }

    [Fact]
    public void A_recovery_without_an_old_journal_is_completed_after_a_kill()
    {
        using (var node = BackedUp.NewNode(_disk, documents: 40))
        {
            node.Flush();
        }

        foreach (
            string file in _disk
                .Files.Where(static file => file.EndsWith(".segment", StringComparison.Ordinal))
                .ToArray()
        )
        {
            _disk.Delete(file);
        }

        using (var old = Open(_disk))
        {
            CreateRecovery(_disk).Build(old, NewIds);
            DirectoryReplacement.Decide(_disk, BackedUp.Node, NewIds);

            // The state that a kill leaves after the journal was replaced.
            JournalReplacement.Complete(_disk, BackedUp.Node + "/journal", DirectoryReplacement.KeptSuffixOf(old.Ids));
        }

        using var recovered = SteppedNode.Open(_disk, BackedUp.Node);
        Assert.Equal(NewIds.ClusterId, recovered.Core.ClusterId);
        Assert.Equal(40, recovered.Documents("Shop").Count);
    }

    [Fact]
    public void A_journal_in_its_own_directory_is_replaced_there()
    {
        var options = SteppedNode.Options(BackedUp.Node) with { JournalDirectory = "/journal" };
        var disk = new SimulatedDisk("/data", "/journal");
        using (var node = SteppedNode.Open(disk, options))
        {
            node.CreateDatabase("Shop");
            node.Put("Shop", "a", "{}");
        }

        using (var old = Open(disk, options))
        {
            var recovery = CreateRecovery(disk, options);
            recovery.Build(old, NewIds);

            // The state that a kill after the decision leaves.
            DirectoryReplacement.Decide(disk, BackedUp.Node, NewIds);
        }

        Assert.Contains(
            "--journal",
            Assert.Throws<DataFormatException>(() => SteppedNode.Open(disk, BackedUp.Node)).Message,
            StringComparison.Ordinal
        );
        DataRecovery.Settle(disk, options);
        using var recovered = SteppedNode.Open(disk, options);
        Assert.Equal(NewIds.ClusterId, recovered.Core.ClusterId);
        Assert.Single(recovered.Documents("Shop"));
    }

    [Fact]
    public void A_running_node_is_not_recovered()
    {
        using var node = BackedUp.NewNode(_disk, documents: 4);
        Assert.Throws<DataDirectoryInUseException>(() => Open(_disk));
        Assert.Contains(
            "no data directory",
            Assert.Throws<DataFormatException>(() => Open(_disk, SteppedNode.Options("/data/none"))).Message,
            StringComparison.Ordinal
        );
    }

    /// <summary>
    /// Opens the node, and asserts that it has the old or the new ids and all documents. Returns whether they are the
    /// new ids.
    /// </summary>
    private static bool AssertOldOrNew(SimulatedDisk image, NodeIds old, int documents)
    {
        DataRecovery.Settle(image, SteppedNode.Options(BackedUp.Node));
        using var node = SteppedNode.Open(image, BackedUp.Node);
        var ids = new NodeIds(node.Core.NodeId, node.Core.ClusterId);
        Assert.True(ids == old || ids == NewIds, $"the node has the old or the new ids, not {ids}");
        Assert.Equal((documents, 2), (node.Documents("Shop").Count, node.Documents("Other").Count));
        Assert.DoesNotContain(
            image.List(BackedUp.Node),
            static name => name.Contains("recovered", StringComparison.Ordinal)
        );
        return ids == NewIds;
    }

    /// <summary>Recovers the data of a stopped node.</summary>
    private static RecoveredData Recover(IDisk disk, NodeIds? ids = null, IDisk? faultyDisk = null)
    {
        using var old = Open(disk);
        var recovery = CreateRecovery(faultyDisk ?? disk);
        var data = recovery.Build(old, ids ?? NewIds);
        recovery.Decide();
        return data;
    }

    private static StoppedStore Open(IDisk disk, NodeOptions? options = null) =>
        StoppedStore.Open(
            options ?? SteppedNode.Options(BackedUp.Node),
            disk,
            new MemoryBudget(16 << 20),
            NoRecorder.Instance,
            new SimulatedTimeProvider()
        );

    private static DataRecovery CreateRecovery(IDisk disk, NodeOptions? options = null) =>
        new(
            disk,
            options ?? SteppedNode.Options(BackedUp.Node),
            new MemoryBudget(16 << 20),
            NoRecorder.Instance,
            new SimulatedTimeProvider()
        );

    /// <summary>One run of a recovery.</summary>
    /// <param name="Recovered">Number of disk operations when the recovery ended.</param>
    /// <param name="Documents">Number of documents of the database Shop.</param>
    private sealed record Story(int Recovered, int Documents);
}
