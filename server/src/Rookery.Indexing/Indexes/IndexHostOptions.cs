using Rookery.Indexing.Scheduling;
using Rookery.Platform;

namespace Rookery.Indexing.Indexes;

/// <summary>Options of a node's indexes.</summary>
public sealed record IndexHostOptions
{
    /// <summary>The absolute path of the data directory.</summary>
    public required string DataDirectory { get; init; }

    /// <summary>
    /// Returns the share of one core that indexing may use now, from 0 to 1. At 0, only awaited indexes are fed. Called
    /// before each step.
    /// </summary>
    public required Func<double> ShareOfCore { get; init; }

    /// <summary>
    /// Reduces the share of indexing while requests wait for threads; null to use <see cref="ShareOfCore"/> alone.
    /// </summary>
    public ForegroundDelay? Foreground { get; init; }

    /// <summary>Whether the disk has room to grow; called before each step.</summary>
    public required Func<bool> HasRoom { get; init; }

    /// <summary>Reports a problem to the operator, in a sentence. Called from the indexing thread.</summary>
    public required Action<string> TroubleFound { get; init; }

    /// <summary>The memory budget that indexing draws from.</summary>
    public required MemoryBudget Memory { get; init; }

    /// <summary>Records all disk I/O.</summary>
    public required IIoRecorder Io { get; init; }

    /// <summary>
    /// Returns whether the documents include an operation, given by its number, and everything that the node applied
    /// before its start.
    /// </summary>
    public required Func<long, bool> HasReapplied { get; init; }

    /// <summary>Bounds of one step of indexing.</summary>
    public IndexFeederOptions Feeder { get; init; } = new();
}
