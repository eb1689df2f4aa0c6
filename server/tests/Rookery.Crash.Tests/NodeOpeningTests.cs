using Rookery.Cluster;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>The directories and journals that a node opens, and its messages about those that it refuses.</summary>
public sealed class NodeOpeningTests
{
    /// <summary>If a directory's name is not durable, a power cut loses all files that were synced in it.</summary>
    [Fact]
    public void A_new_data_directory_survives_a_power_cut_with_the_directories_above_it()
    {
        var disk = SimulatedDisk.WithSecondDevice("/", SteppedNode.OtherDevice);
        SteppedNode.Open(disk, new SimulatedTimeProvider(), journalElsewhere: true).Dispose();
        for (int seed = 0; seed < 30; seed++)
        {
            var image = disk.AfterPowerLoss(seed);
            Assert.True(
                image.Exists(SteppedNode.Directory + "/format"),
                $"seed {seed}: the format file did not survive the power cut"
            );
            SteppedNode.Open(image, new SimulatedTimeProvider(), journalElsewhere: true).Dispose();
        }
    }

    [Fact]
    public void A_directory_that_another_node_uses_is_refused_by_name_and_not_changed()
    {
        var disk = new SimulatedDisk("/data");
        using var first = Open(disk, SteppedNode.Directory, "/data/journal");
        var diskOfSecond = new ChangeCountingDisk(disk);
        Assert.Equal(
            "/data/node is in use by another process: stop that first.",
            Assert
                .Throws<DataDirectoryInUseException>(() => Open(diskOfSecond, SteppedNode.Directory, "/data/other"))
                .Message
        );
        Assert.Equal(0, diskOfSecond.Changes);
        Assert.Equal(
            "/data/journal is in use by another process: stop that first.",
            Assert.Throws<DataDirectoryInUseException>(() => Open(disk, "/data/second", "/data/journal")).Message
        );
    }

    [Fact]
    public async Task A_node_whose_journal_is_missing_runs_reports_it_and_refuses_all_requests()
    {
        var disk = new SimulatedDisk("/data");
        Open(disk, SteppedNode.Directory, "/data/journal").Dispose();
        using var node = Open(disk, SteppedNode.Directory, "/data/elsewhere");
        Assert.Contains("there is no journal in /data/elsewhere", node.Diagnosis, StringComparison.Ordinal);
        var refused = await node.Consensus.ProposeAsync(
            CommandEncoder.CreateDatabase("db", historyId: "0123456789012345678901"),
            CancellationToken.None
        );
        Assert.Equal((RejectionKind.Diagnosis, node.Diagnosis), (refused.Rejection!.Kind, refused.Rejection.Message));
        Assert.False(await node.Consensus.ReadBarrierAsync());
        Assert.Empty(node.Databases.All);
    }

    [Fact]
    public void The_journal_of_another_stopped_node_is_refused_and_not_changed()
    {
        var disk = new SimulatedDisk("/data");
        foreach (string name in (string[])["one", "two"])
        {
            using var node = Open(disk, $"/data/{name}", $"/data/journal-{name}");
            Assert.Null(node.Diagnosis);
            node.StopCleanly();
        }

        var refused = Assert.Throws<ForeignJournalException>(() => Open(disk, "/data/one", "/data/journal-two"));
        Assert.StartsWith("/data/journal-two/", refused.Message, StringComparison.Ordinal);
        Assert.Throws<ForeignJournalException>(() => Open(disk, "/data/three", "/data/journal-two"));
        Assert.DoesNotContain(
            disk.Files,
            static path => path.StartsWith("/data/three/format", StringComparison.Ordinal)
        );
        foreach (string name in (string[])["one", "two"])
        {
            using var node = Open(disk, $"/data/{name}", $"/data/journal-{name}");
            Assert.Null(node.Diagnosis);
        }
    }

    /// <summary>A member's format file is compared with the identity beside it.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void The_format_file_of_another_node_is_refused_by_name(bool isOffline)
    {
        var disk = new SimulatedDisk("/data");
        foreach (string name in (string[])["one", "two"])
        {
            using var node = Open(disk, $"/data/{name}", null);
            node.StopCleanly();
        }

        byte[] own = disk.ReadAll("/data/one/format");
        Replace(disk, "/data/one/format", disk.ReadAll("/data/two/format"));
        using (var node = isOffline ? Open(disk, "/data/one", null) : OpenAlone(disk, "/data/one"))
        {
            Assert.Contains("/data/one/format is that of another node", node.Diagnosis, StringComparison.Ordinal);
        }

        Replace(disk, "/data/one/format", own);
        using var again = OpenAlone(disk, "/data/one");
        Assert.Null(again.Diagnosis);
    }

    [Fact]
    public void A_missing_format_file_is_reported_with_what_to_do()
    {
        var disk = new SimulatedDisk("/data");
        Open(disk, SteppedNode.Directory, null).Dispose();
        disk.Delete("/data/node/format");
        using var node = Open(disk, SteppedNode.Directory, null);
        Assert.Equal(
            "/data/node was in use before, as /data/node/format-level shows, but /data/node/format, which contains the "
                + "ids of node and cluster, is missing. Nothing was changed. Put the file back from a copy of the "
                + "directory; where there is none, restore a backup, or on a member of a cluster replace the member, "
                + "with `rookery cluster node replace NAME` on another one.",
            node.Diagnosis
        );
    }

    [Fact]
    public void Unusable_manifests_are_reported_each_with_its_state()
    {
        var disk = new SimulatedDisk("/data");
        Open(disk, SteppedNode.Directory, null).Dispose();
        Replace(disk, "/data/node/storage/manifest-0", bytes: []);
        disk.Delete("/data/node/storage/manifest-1");
        using var node = Open(disk, SteppedNode.Directory, null);
        Assert.Equal(
            "/data/node/storage was in use before and has no manifest that can be trusted: manifest-0 is empty and "
                + "manifest-1 is missing. Nothing was changed. Restore the last version of one of them, or restore a "
                + "backup.",
            node.Diagnosis
        );
    }

    /// <summary>A node with its real threads restarts with every write that it acknowledged.</summary>
    [Fact]
    public async Task A_node_with_its_threads_has_all_acknowledged_writes_after_a_restart()
    {
        var disk = new SimulatedDisk("/data");
        Task<CommandOutcome>[] creations;
        using (var node = Open(disk, SteppedNode.Directory, null))
        {
            creations =
            [
                .. Enumerable
                    .Range(0, 50)
                    .Select(i =>
                        node.Consensus.ProposeAsync(
                                CommandEncoder.CreateDatabase($"db{i}", historyId: "0123456789012345678901"),
                                CancellationToken.None
                            )
                            .AsTask()
                    ),
            ];
            Assert.All(await Task.WhenAll(creations), outcome => Assert.Null(outcome.Rejection));
            node.StopCleanly();
        }

        using var again = Open(disk.AfterPowerLoss(seed: 1), SteppedNode.Directory, null);
        Assert.Equal(50, again.Databases.All.Count);
        Assert.Null(again.Diagnosis);
    }

    /// <summary>Counts the changes of one of two nodes that are open on the same disk.</summary>
    private sealed class ChangeCountingDisk(IDisk disk) : WrappedDisk(disk)
    {
        private int _changes;

        public int Changes => _changes;

        public override IDiskFile Open(string path, DiskOpen mode) => new File(base.Open(path, mode), this);

        public override void Rename(string from, string to)
        {
            Interlocked.Increment(ref _changes);
            base.Rename(from, to);
        }

        public override void Delete(string path)
        {
            Interlocked.Increment(ref _changes);
            base.Delete(path);
        }

        private sealed class File(IDiskFile file, ChangeCountingDisk disk) : WrappedFile(file)
        {
            public override void Write(ReadOnlySpan<byte> data, long offset)
            {
                Interlocked.Increment(ref disk._changes);
                base.Write(data, offset);
            }
        }
    }

    private static void Replace(SimulatedDisk disk, string path, byte[] bytes)
    {
        disk.Delete(path);
        using var file = disk.Open(path, DiskOpen.CreateNew);
        file.Write(bytes, offset: 0);
        file.Sync();
    }

    private static Node Open(IDisk disk, string directory, string? journal) =>
        Open(disk, directory, journal, RaftConsensus.Alone);

    /// <summary>Opens a node like the program does, for a node that is not a member of a cluster.</summary>
    private static Node OpenAlone(IDisk disk, string directory) =>
        Open(disk, directory, null, static store => RaftConsensus.Open(store, new ConsensusOptions()));

    private static Node Open(IDisk disk, string directory, string? journal, OpenConsensus openConsensus) =>
        Node.Open(
            new NodeOptions
            {
                DataDirectory = directory,
                JournalDirectory = journal,
                SegmentBytes = 64 << 10,
                Reserve = new ReserveRule(Bytes: 0, Fraction: 0),
            },
            disk,
            new MemoryBudget(16 << 20),
            NoRecorder.Instance,
            new SimulatedTimeProvider(),
            openConsensus
        );
}
