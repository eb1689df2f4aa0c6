using Rookery.Disk;
using Rookery.Documents;
using Rookery.Documents.Commands;

namespace Rookery.Crash.Tests;

/// <summary>A node without threads: the test decides when a frame is committed and when background work is done.</summary>
internal sealed class SteppedNode : IDisposable
{
    public const string Directory = "/data/node";
    public const string OtherDevice = "/journal";

    private readonly CommitFrame _frame = new();

    private SteppedNode(NodeCore core)
    {
        Core = core;
    }

    public NodeCore Core { get; }

    public static SteppedNode Open(IDisk disk, TimeProvider time, bool journalElsewhere = false) => new(NodeCore.Open(
        new NodeOptions
        {
            DataDirectory = Directory,
            JournalDirectory = journalElsewhere ? OtherDevice : null,
            SegmentBytes = 64 << 10,
            MemtableBytes = 48 << 10,
            RunBytes = 32 << 10,
            Reserve = new ReserveRule(0, 0),
        },
        disk,
        new MemoryBudget(16 << 20),
        NoRecorder.Instance,
        time,
        answersInline: true));

    public Task<CommandOutcome> Propose(CommandBuffer command) => Core.Consensus.ProposeAsync(command, CancellationToken.None).AsTask();

    /// <summary>Commits everything that was proposed, and tells how many commands each frame held that was applied.</summary>
    public void Commit(Action<int>? committed = null)
    {
        while (Core.Consensus.Write(_frame))
        {
            int count = _frame.Count;
            Core.Consensus.Apply(_frame);
            if (Core.Consensus.Refusal is null)
            {
                committed?.Invoke(count);
            }
        }
    }

    public void Dispose() => Core.Dispose();

    internal sealed class NoRecorder : IIoRecorder
    {
        public static NoRecorder Instance { get; } = new();

        public long Begin() => 0;

        public void Record(IoKind kind, long begun, long bytes)
        {
        }
    }
}
