using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Parsing;
using Rookery.Documents.Revisions;
using Rookery.Documents.Tests.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Consensus;

/// <summary>
/// The rows that a write replaces. The caller's thread reads them from disk before it proposes, so that the apply
/// thread finds them in memory.
/// </summary>
public sealed class PreviousVersionsTests
{
    private readonly SimulatedDisk _disk = new();
    private readonly ReadCounter _reads = new();

    [Fact]
    public async Task The_caller_preloads_the_rows_that_apply_needs()
    {
        using var node = OpenWithDocumentsInRuns(documents: 200);
        foreach (string id in (string[])["d/7", "D/150"])
        {
            long before = _reads.Count;
            var outcome = node.Consensus.ProposeAsync(EncodePut(node, id), CancellationToken.None).AsTask();
            Assert.True(_reads.Count > before, $"the caller read nothing for {id}");
            before = _reads.Count;
            node.Commit();
            Assert.Equal(before, _reads.Count);
            Assert.Null((await outcome).Rejection);
        }
    }

    [Fact]
    public void New_documents_and_documents_in_the_memtable_cost_no_read()
    {
        using var node = OpenWithDocumentsInRuns(documents: 1);
        node.Run(EncodePut(node, "new"));
        node.Run(EncodePut(node, "new"));
        node.Run(EncodePut(node, "users/"));
        node.Run(EncodePut(node, ""));
        Assert.Equal(0, _reads.Count);
    }

    [Fact]
    public void Preloaded_blocks_are_held_only_up_to_a_limit()
    {
        // The 300 loaded rows, of 60 kB each, would take more than the limit of 4 MiB.
        using var node = OpenWithDocumentsInRuns(documents: 10, bodyBytes: 60_000);
        var previous = new PreviousVersions(node.Core.Storage, node.Core.Databases, TimeProvider.System);
        using var command = EncodePut(node, "d/3");
        LoadedVersion[] loaded =
        [
            .. Enumerable.Range(0, 300).Select(_ => previous.Load(new CommandReader(command.Written.Span))),
        ];
        Assert.InRange(previous.HeldBytes, 3 << 20, 4 << 20);
        foreach (var version in loaded)
        {
            version.Dispose();
        }

        Assert.Equal(0, previous.HeldBytes);
    }

    [Fact]
    public async Task A_write_that_reads_its_previous_version_while_the_node_stops_is_rejected()
    {
        using var node = OpenWithDocumentsInRuns(documents: 200);
        _reads.Reading = () =>
        {
            node.Consensus.Host.BeginShutdown();
            node.Consensus.Threads.RefuseWaiting();
        };
        var outcome = node.Consensus.ProposeAsync(EncodePut(node, "d/7"), CancellationToken.None).AsTask();
        Assert.True(outcome.IsCompleted);
        Assert.Equal(RejectionKind.Stopping, (await outcome).Rejection?.Kind);
        Assert.Equal(0, node.Core.Admission.Bytes);
        Assert.Equal(0, node.Consensus.ReadStatistics().Queued);
    }

    [Fact]
    public async Task Preloading_without_memory_refuses_the_write_and_releases_its_admission()
    {
        using var node = OpenWithDocumentsInRuns(documents: 200);
        _reads.Reading = static () => GC.KeepAlive(new byte[int.MaxValue]);
        var outcome = await node.Consensus.ProposeAsync(EncodePut(node, "d/7"), CancellationToken.None);
        Assert.Equal(RejectionKind.Overloaded, outcome.Rejection?.Kind);
        Assert.Equal(0, node.Core.Admission.Bytes);
        _reads.Reading = static () => throw new InvalidOperationException("unexpected");
        await Assert.ThrowsAsync<InvalidOperationException>(() =>
            node.Consensus.ProposeAsync(EncodePut(node, "d/7"), CancellationToken.None).AsTask()
        );
        Assert.Equal(0, node.Core.Admission.Bytes);
        _reads.Reading = null;
        node.Run(EncodePut(node, "d/7"));
    }

    /// <summary>Formerly, a write with revisions looked its document up twice before it was proposed.</summary>
    [Theory]
    [InlineData("d/7", true, true)]
    [InlineData("none", true, false)]
    [InlineData("d/7", false, null)]
    public void The_check_for_revisions_returns_the_document_that_it_looked_up(string id, bool keeps, bool? exists)
    {
        using var node = OpenWithDocumentsInRuns(documents: 10);
        var database = node.Database("db");
        var rules = new RevisionsConfiguration(keeps ? new RevisionRule() : null, []);
        node.Run(CommandEncoder.ConfigureRevisions(database.Number, rules));
        using var command = EncodePut(node, id);
        var reader = new CommandReader(command.Written.Span);
        Assert.True(reader.TryReadOperation(out var operation));
        using var snapshot = node.Core.Storage.OpenSnapshot();
        var check = new ChangeCheck(snapshot, database.Number, database, nowTicks: 1);
        Assert.Equal(exists, check.Run(Encoding.UTF8.GetBytes(id), operation, out var row));
        if (exists == true)
        {
            using var document = new Rookery.Documents.Databases.Document(row);
            Assert.Equal(id, Encoding.UTF8.GetString(document.Head.Id));
        }
    }

    private SteppedNode OpenWithDocumentsInRuns(int documents, int bodyBytes = 200)
    {
        using (var node = SteppedNode.Open(_disk, "/data"))
        {
            node.CreateDatabase("db");
            for (int i = 0; i < documents; i++)
            {
                node.Put(
                    "db",
                    $"d/{i}",
                    $"{{\"n\":\"{Convert.ToHexString(BitConverter.GetBytes((ulong)i * 0x9E3779B97F4A7C15))}"
                        + $"{new string('x', bodyBytes)}\"}}"
                );
            }

            node.Flush();
        }

        // A restarted node has no blocks in its cache.
        var cold = SteppedNode.Open(_disk, "/data", io: _reads);
        _reads.Count = 0;
        return cold;
    }

    /// <summary>Encodes a write of an empty document.</summary>
    private static CommandBuffer EncodePut(SteppedNode node, string id)
    {
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse("{}"u8, out var document, out _));
        return CommandEncoder.Put(
            node.Database("db").Number,
            Encoding.UTF8.GetBytes(id),
            ExpectedChangeVector.None,
            document,
            key: default
        );
    }

    /// <summary>Counts reads from disk.</summary>
    private sealed class ReadCounter : IIoRecorder
    {
        public long Count { get; set; }

        /// <summary>Called at the end of each read.</summary>
        public Action? Reading { get; set; }

        public long Begin() => 0;

        public void Record(IoKind kind, long begun, long bytes)
        {
            if (kind == IoKind.Read)
            {
                Count++;
                Reading?.Invoke();
            }
        }
    }
}
