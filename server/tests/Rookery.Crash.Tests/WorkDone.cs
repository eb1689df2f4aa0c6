using Rookery.Documents.Nodes;

namespace Rookery.Crash.Tests;

/// <summary>What work came to on disk, to show that a search reaches what it is about.</summary>
/// <param name="Flushes">Memtables that became runs.</param>
/// <param name="Compactions">Files that compaction wrote.</param>
/// <param name="ReleasedFrames">Frames whose journal segments were given back.</param>
/// <param name="Restarts">Kills and clean stops.</param>
internal readonly record struct WorkDone(long Flushes, long Compactions, long ReleasedFrames, int Restarts)
{
    /// <summary>The work of one more life of a node.</summary>
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
