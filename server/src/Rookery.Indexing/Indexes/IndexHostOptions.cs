using Rookery.Platform;

namespace Rookery.Indexing.Indexes;

/// <summary>How a node keeps its indexes.</summary>
public sealed record IndexHostOptions
{
    /// <summary>The data directory, absolute.</summary>
    public required string DataDirectory { get; init; }

    /// <summary>
    /// How much of one core indexing may take now, 0 to 1; at 0 nothing is indexed that nobody waits for. Asked again
    /// and again.
    /// </summary>
    public required Func<double> ShareOfCore { get; init; }

    /// <summary>
    /// Knows how long requests wait for a thread, to which indexing gives way; null where it gives way to nothing but
    /// the board.
    /// </summary>
    public ForegroundDelay? Foreground { get; init; }

    /// <summary>Whether the disk has room for what grows; asked before something is indexed.</summary>
    public required Func<bool> HasRoom { get; init; }

    /// <summary>Told in a sentence what the owner should know. From the thread that indexes.</summary>
    public required Action<string> TroubleFound { get; init; }

    /// <summary>Where the memory is drawn that indexing takes.</summary>
    public required MemoryBudget Memory { get; init; }

    /// <summary>Is told of all disk work.</summary>
    public required IIoRecorder Io { get; init; }

    /// <summary>Sizes of the work.</summary>
    public IndexFeederOptions Feeder { get; init; } = new();
}
