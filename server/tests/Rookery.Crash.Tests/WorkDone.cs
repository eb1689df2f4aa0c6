using Rookery.Documents.Nodes;

namespace Rookery.Crash.Tests;

/// <summary>Amounts of work, to show that a crash search covers enough.</summary>
/// <param name="Flushes">Memtables that became runs.</param>
/// <param name="Compactions">Files that compaction wrote.</param>
/// <param name="ReleasedFrames">Frames whose journal segments were released.</param>
/// <param name="Restarts">Kills and clean stops.</param>
internal readonly record struct WorkDone(long Flushes, long Compactions, long ReleasedFrames, int Restarts)
{
    /// <summary>Adds the work of a node since it was opened.</summary>
    public WorkDone With(NodeStore core)
    {
        var statistics = core.Storage.Statistics();
        return new WorkDone(
            Flushes + statistics.Flushes,
            Compactions + statistics.Compactions,
            Math.Max(ReleasedFrames, core.Journal.FirstIndex - 1),
            Restarts + 1
        );
    }

    public static WorkDone operator +(WorkDone left, WorkDone right) =>
        new(
            left.Flushes + right.Flushes,
            left.Compactions + right.Compactions,
            left.ReleasedFrames + right.ReleasedFrames,
            left.Restarts + right.Restarts
        );
}
