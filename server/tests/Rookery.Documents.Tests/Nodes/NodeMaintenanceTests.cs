using System.Collections.Concurrent;
using System.Globalization;
using System.Text;
using Rookery.Cluster;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>The thread of a node that flushes and merges.</summary>
public sealed class NodeMaintenanceTests
{
    private const int MemtableBytes = 256 << 10;
    private static readonly byte[] Filler = Encoding.UTF8.GetBytes($$"""{"text":"{{new string('r', 4000)}}"}""");

    [Fact]
    public async Task Only_the_maintenance_thread_writes_runs()
    {
        var threads = new RunWriters();
        using var node = Open(new SimulatedDisk(), threads);
        // The thread that opens the node writes, too.
        threads.Forget();
        await FillAsync(node, documents: 2_000);
        Assert.True(node.ReadStatistics()!.Storage.Flushes > 4, "the documents fill several memtables");
        Assert.Equal(["maintenance"], threads.Names);
    }

    [Fact]
    public async Task Writes_are_answered_and_the_node_stops_while_runs_cannot_be_written()
    {
        var disk = new SimulatedDisk();
        var troubles = new ConcurrentQueue<string>();
        using var node = Open(disk, new RunWriters(), troubles.Enqueue);
        disk.Inject(
            new DiskFault(AtCall: 1, Errno.NoSpace)
            {
                Calls = DiskCalls.Create | DiskCalls.Write,
                PathContains = "/data/storage/",
                Sticky = true,
            }
        );
        // More than two memtables of 256 KiB, with documents of 4 KB.
        await FillAsync(node, documents: 160);
        Assert.Contains("will be tried again", node.ReadStatistics()!.Storage.Health, StringComparison.Ordinal);
        Assert.Contains("will be tried again", Assert.Single(troubles), StringComparison.Ordinal);
        node.StopCleanly();
    }

    [Theory]
    [InlineData(Errno.NoSpace)]
    [InlineData(Errno.InputOutput)]
    public async Task A_merge_of_all_files_ends_with_the_cause_if_it_fails_again_and_again(Errno error)
    {
        var disk = new SimulatedDisk();
        using var node = Open(disk, new RunWriters());
        await FillAsync(node, documents: 160);
        disk.Inject(
            new DiskFault(AtCall: 1, error)
            {
                Calls = DiskCalls.Create | DiskCalls.Write,
                PathContains = "/data/storage/",
                Sticky = true,
            }
        );
        var failure = await Assert.ThrowsAsync<FileMergeException>(() =>
            node.MergeFilesAsync(CancellationToken.None).WaitAsync(TimeSpan.FromMinutes(1))
        );
        Assert.Contains("Not all files were merged", failure.Message, StringComparison.Ordinal);
        Assert.Contains("/data/storage/", failure.Message, StringComparison.Ordinal);
        disk.ClearFaults();
        await node.MergeFilesAsync(CancellationToken.None).WaitAsync(TimeSpan.FromMinutes(1));
        Assert.All(node.ReadStatistics()!.Storage.Groups, static group => Assert.InRange(group.SortedRuns, 0, 1));
    }

    [Fact]
    public async Task Damage_found_at_opening_is_reported_and_the_rest_is_served()
    {
        var disk = new SimulatedDisk();
        using (var node = Open(disk, new RunWriters()))
        {
            await FillAsync(node, documents: 160);
            Assert.True(node.ReadStatistics()!.Storage.Flushes > 0, "there is a run to damage");
        }

        string run = disk.Files.First(path => path.EndsWith(".run", StringComparison.Ordinal));
        disk.Rot(run, offset: 0, mask: 1);
        var troubles = new ConcurrentQueue<string>();
        using var damaged = Open(disk, new RunWriters(), troubles.Enqueue);
        Assert.Contains(run, Assert.Single(troubles), StringComparison.Ordinal);
    }

    private static Node Open(SimulatedDisk disk, IIoRecorder io, Action<string>? troubleFound = null) =>
        Node.Open(
            new NodeOptions
            {
                DataDirectory = "/data",
                SegmentBytes = 4 << 20,
                MemtableBytes = MemtableBytes,
                Reserve = new ReserveRule(Bytes: 0, Fraction: 0),
                TroubleFound = troubleFound,
            },
            disk,
            new MemoryBudget(96 << 20),
            io,
            TimeProvider.System,
            RaftConsensus.Alone
        );

    // Creates a database, and puts documents by 16 writers at the same time.
    private static async Task FillAsync(Node node, int documents)
    {
        var created = await node.Consensus.ProposeAsync(
            CommandEncoder.CreateDatabase("fill", "abcdefghijklmnopqrstuv"),
            CancellationToken.None
        );
        Assert.Null(created.Rejection);
        Assert.True(node.Databases.TryGet("fill", out var database));
        await Task.WhenAll(
            Enumerable
                .Range(0, 16)
                .Select(async writer =>
                {
                    for (int i = writer; i < documents; i += 16)
                    {
                        var outcome = await node.Consensus.ProposeAsync(
                            Put(database!.Number, i),
                            CancellationToken.None
                        );
                        Assert.Null(outcome.Rejection);
                    }
                })
        );
    }

    private static CommandBuffer Put(uint database, int number)
    {
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(Filler, out var document, out _));
        byte[] id = Encoding.UTF8.GetBytes(string.Create(CultureInfo.InvariantCulture, $"rooks/{number}"));
        return CommandEncoder.Put(database, id, ExpectedChangeVector.None, document, key: default);
    }

    /// <summary>Records the names of the threads that write runs or manifests.</summary>
    private sealed class RunWriters : IIoRecorder
    {
        private readonly ConcurrentDictionary<string, bool> _names = new(StringComparer.Ordinal);

        public IEnumerable<string> Names => _names.Keys;

        public void Forget() => _names.Clear();

        public long Begin() => 0;

        public void Record(IoKind kind, long begun, long bytes)
        {
            if (kind is IoKind.RunWrite or IoKind.Compaction or IoKind.Manifest)
            {
                _names.TryAdd(Thread.CurrentThread.Name ?? "another", value: true);
            }
        }
    }
}
