using System.Text;
using Rookery.Cluster;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>A node without threads on a simulated disk. Each write is committed when its call returns.</summary>
internal sealed class SteppedNode : IDisposable
{
    private SteppedNode(NodeStore core, Func<bool>? isClockSynchronised)
    {
        Core = core;
        try
        {
            Consensus = RaftConsensus.Open(
                core,
                new ConsensusOptions
                {
                    AnswersInline = true,
                    IsClockSynchronised = isClockSynchronised ?? (static () => true),
                }
            );
        }
        catch
        {
            core.Dispose();
            throw;
        }
    }

    public NodeStore Core { get; }

    public RaftConsensus Consensus { get; }

    /// <summary>Options so small that flushes and merges happen in short tests.</summary>
    public static NodeOptions Options(string directory) =>
        new()
        {
            DataDirectory = directory,
            SegmentBytes = 64 << 10,
            MemtableBytes = 48 << 10,
            RunBytes = 32 << 10,
            Reserve = new ReserveRule(Bytes: 0, Fraction: 0),
        };

    public static SteppedNode Open(IDisk disk, string directory, TimeProvider? time = null, IIoRecorder? io = null) =>
        Open(disk, Options(directory), time, io);

    public static SteppedNode Open(
        IDisk disk,
        NodeOptions options,
        TimeProvider? time = null,
        IIoRecorder? io = null,
        Func<bool>? isClockSynchronised = null
    ) =>
        new(
            NodeStore.Open(
                options,
                disk,
                new MemoryBudget(16 << 20),
                io ?? NoRecorder.Instance,
                time ?? new SimulatedTimeProvider()
            ),
            isClockSynchronised
        );

    public void CreateDatabase(string name) => Run(CommandEncoder.CreateDatabase(name, HistoryId.Create()));

    public void Put(string database, string id, string json) => Run(PutCommand(database, id, json));

    /// <summary>Encodes a write of a document.</summary>
    public CommandBuffer PutCommand(string database, string id, string json)
    {
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(Encoding.UTF8.GetBytes(json), out var document, out _));
        return CommandEncoder.Put(
            Database(database).Number,
            Encoding.UTF8.GetBytes(id),
            ExpectedChangeVector.None,
            document,
            key: default
        );
    }

    public Database Database(string name) =>
        Core.Databases.TryGet(name, out var database) ? database : throw new InvalidOperationException(name);

    /// <summary>Returns the bodies of all documents, by id.</summary>
    public Dictionary<string, string> Documents(string database)
    {
        var documents = new Dictionary<string, string>(StringComparer.Ordinal);
        using var reader = Database(database).OpenReader();
        using var cursor = reader.SeekByIdPrefix(prefix: []);
        while (cursor.MoveNext())
        {
            documents.Add(Encoding.UTF8.GetString(cursor.View.Id), Encoding.UTF8.GetString(cursor.View.Body));
        }

        return documents;
    }

    /// <summary>Flushes all applied rows into runs.</summary>
    public void Flush()
    {
        Core.Storage.Memtables.RequestFlush();
        while (Core.Background.DoStep()) { }
    }

    /// <summary>Commits all proposed commands, of the test and of the node itself.</summary>
    public void Commit() => Consensus.RunUntilIdle();

    public void Dispose()
    {
        Consensus.Dispose();
        Core.Dispose();
    }

    /// <summary>Commits a command and returns its outcome.</summary>
    public CommandOutcome Propose(CommandBuffer command)
    {
        var outcome = Consensus.ProposeAsync(command, CancellationToken.None).AsTask();
        Commit();
        Assert.True(outcome.IsCompleted);
        return outcome.Result;
    }

    /// <summary>Commits a command, and asserts that it is not refused.</summary>
    public void Run(CommandBuffer command) => Assert.Null(Propose(command).Rejection);
}
