using Rookery.Cluster;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>
/// A node without threads: the test decides when entries are committed and when background work is done.
/// </summary>
internal sealed class SteppedNode : IDisposable
{
    public const string Directory = "/data/node";

    /// <summary>The directory of the journal if that is on a device of its own.</summary>
    public const string OtherDevice = "/journal";

    private SteppedNode(NodeStore core)
    {
        Core = core;
        try
        {
            Consensus = RaftConsensus.Open(core, new ConsensusOptions { AnswersInline = true });
        }
        catch
        {
            core.Dispose();
            throw;
        }
    }

    public NodeStore Core { get; }

    public RaftConsensus Consensus { get; }

    public static SteppedNode Open(IDisk disk, TimeProvider time, bool journalElsewhere = false) =>
        new(
            NodeStore.Open(
                new NodeOptions
                {
                    DataDirectory = Directory,
                    JournalDirectory = journalElsewhere ? OtherDevice : null,
                    SegmentBytes = 64 << 10,
                    MemtableBytes = 48 << 10,
                    RunBytes = 32 << 10,
                    Reserve = new ReserveRule(Bytes: 0, Fraction: 0),
                },
                disk,
                new MemoryBudget(16 << 20),
                NoRecorder.Instance,
                time
            )
        );

    public Task<CommandOutcome> Propose(CommandBuffer command) =>
        Consensus.ProposeAsync(command, CancellationToken.None).AsTask();

    /// <summary>
    /// Commits everything that was proposed. After each step, <paramref name="committed"/> gets the number of applied
    /// commands, if there are any.
    /// </summary>
    public void Commit(Action<int>? committed = null)
    {
        while (Step(committed)) { }
    }

    private bool Step(Action<int>? committed)
    {
        long before = Consensus.ReadStatistics().Commands;
        bool didWork = Consensus.Writes.WriteOnce() | Consensus.Applies.ApplyOnce();
        int count = (int)(Consensus.ReadStatistics().Commands - before);
        if (count > 0)
        {
            committed?.Invoke(count);
        }

        return didWork;
    }

    public void Dispose()
    {
        Consensus.Dispose();
        Core.Dispose();
    }
}
