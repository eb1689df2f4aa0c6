using Rookery.Disk;
using Rookery.Documents;
using Rookery.Documents.Commands;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>A node without threads: the test decides when a frame is committed and when background work is done.</summary>
internal sealed class SteppedNode : IDisposable
{
    public const string Directory = "/data/node";

    private readonly CommitFrame _frame = new();

    private SteppedNode(NodeCore core)
    {
        Core = core;
    }

    public NodeCore Core { get; }

    public static SteppedNode Open(IDisk disk, TimeProvider? time = null) => new(NodeCore.Open(
        new NodeOptions
        {
            DataDirectory = Directory,
            SegmentBytes = 64 << 10,
            MemtableBytes = 48 << 10,
            RunBytes = 32 << 10,
            Reserve = new ReserveRule(0, 0),
        },
        disk,
        new MemoryBudget(16 << 20),
        NoRecorder.Instance,
        time ?? new SimulatedTimeProvider(),
        answersInline: true));

    public Task<CommandOutcome> Propose(CommandBuffer command) => Core.Consensus.ProposeAsync(command, CancellationToken.None).AsTask();

    /// <summary>Commits everything that was proposed.</summary>
    public void Commit()
    {
        while (Core.Consensus.Write(_frame))
        {
            Core.Consensus.Apply(_frame);
        }
    }

    public CommandOutcome Run(CommandBuffer command)
    {
        var outcome = Propose(command);
        Commit();
        return outcome.IsCompletedSuccessfully ? outcome.Result : throw new InvalidOperationException("a committed command is answered");
    }

    public void Dispose() => Core.Dispose();

    private sealed class NoRecorder : IIoRecorder
    {
        public static NoRecorder Instance { get; } = new();

        public long Begin() => 0;

        public void Record(IoKind kind, long begun, long bytes)
        {
        }
    }
}
