using System.Text;
using Rookery.Cluster.Transfer;
using Rookery.Documents.Apply;
using Rookery.Documents.Nodes;
using Rookery.Documents.Transfer;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Transfer;

/// <summary>The storage and journal of a node, filled with rows, without consensus.</summary>
internal sealed class StateNode : IDisposable
{
    private readonly Random _random = new(7);

    public StateNode(string directory = "/data/node")
    {
        Disk = new SimulatedDisk("/data");
        var options = new NodeOptions
        {
            DataDirectory = directory,
            SegmentBytes = 64 << 10,
            MemtableBytes = 256 << 10,
            RunBytes = 64 << 10,
            Reserve = new ReserveRule(Bytes: 0, Fraction: 0),
        };
        Core = NodeStore.Open(options, Disk, new MemoryBudget(16 << 20), NoRecorder.Instance, Time);
    }

    public SimulatedDisk Disk { get; }

    public SimulatedTimeProvider Time { get; } = new();

    public NodeStore Core { get; }

    /// <summary>The routes that offer its state.</summary>
    public StateRoutes Routes =>
        new(Core.Offers, (since, through) => Task.FromResult(MakeOffer(since, through)), TimeProvider.System);

    /// <summary>Returns the key of a row in the document table of database 9.</summary>
    public static byte[] KeyOf(int number) =>
        [0, 0, 0, 9, Table.Documents, .. Encoding.UTF8.GetBytes($"row/{number:D6}")];

    /// <summary>Adds rows of about a kilobyte that cannot be compressed, and flushes them to runs.</summary>
    public void Fill(int rows)
    {
        byte[] value = new byte[1000];
        for (int i = 0; i < rows; i++)
        {
            var journal = Core.Journal;
            long index = journal.LastIndex + 1;
            long sequence = journal.OperationsBeforeNext + 1;
            journal.Write([
                new JournalFrame(
                    FrameType.NoOp,
                    index,
                    Math.Max(1, journal.LastTerm),
                    OperationsBefore: sequence - 1,
                    OperationCount: 1,
                    Payload: default
                ),
            ]);
            var batch = Core.Storage.Begin(index, journal.LastTerm);
            _random.NextBytes(value);
            batch.Put(KeyOf((int)index), sequence, value);
            Core.Storage.Apply(batch, sequence);
        }

        Core.Storage.Memtables.RequestFlush();
        while (Core.Background.DoStep()) { }
    }

    private SnapshotOffer? MakeOffer(long? since, long through)
    {
        if (since is not { } etag)
        {
            return Core.Offers.Make(through);
        }

        var offer = Core.Offers.MakeSince(etag, out var write, through);
        write?.Invoke();
        return offer;
    }

    /// <summary>Counts the rows.</summary>
    public int Count()
    {
        using var snapshot = Core.Storage.OpenSnapshot();
        using var rows = snapshot.Seek([0, 0, 0, 9, Table.Documents], [0, 0, 0, 9, Table.Documents + 1]);
        int count = 0;
        while (rows.MoveNext())
        {
            count++;
        }

        return count;
    }

    public void Dispose() => Core.Dispose();
}
