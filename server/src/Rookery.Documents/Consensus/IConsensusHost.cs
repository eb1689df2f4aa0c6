using Rookery.Documents.Nodes;

namespace Rookery.Documents.Consensus;

/// <summary>
/// Consensus as the node that runs it sees it. Made by an <see cref="OpenConsensus"/>, begun by <see cref="Start"/>,
/// ended by <see cref="Stop"/>.
/// </summary>
public interface IConsensusHost : IConsensus, IDisposable
{
    /// <summary>
    /// Told once, in a sentence, when the journal or apply failed: nothing is acknowledged from then on. Set before
    /// <see cref="Start"/>.
    /// </summary>
    Action<string>? Latched { get; set; }

    /// <summary>Told after each journal write, on the thread that wrote. Set before <see cref="Start"/>.</summary>
    Action? FrameWritten { get; set; }

    /// <summary>Begins to take commands, on threads of its own.</summary>
    void Start();

    /// <summary>Finishes what is queued, refuses what comes, and ends the threads.</summary>
    void Stop();

    /// <summary>Figures, at any time and from any thread.</summary>
    CommitStatistics ReadStatistics();

    /// <summary>How the node stands in its cluster, at any time and from any thread.</summary>
    ConsensusStatistics ReadCluster();
}

/// <summary>
/// Puts consensus on an opened store. It leads durably, or is ready to hear of a leader, when this returns; a node
/// alone has applied its whole journal by then.
/// </summary>
/// <param name="store">The store. It stays the caller's, who disposes it after the consensus.</param>
/// <exception cref="UnappliedDamageException">A committed frame needs a row that cannot be read.</exception>
/// <exception cref="IOException">The journal cannot be written or read.</exception>
public delegate IConsensusHost OpenConsensus(NodeStore store);

/// <summary>What consensus has done since the start.</summary>
/// <param name="Frames">Frames applied that carried commands.</param>
/// <param name="Commands">Commands applied that were proposed here.</param>
/// <param name="Queued">Commands admitted here and not yet answered.</param>
public readonly record struct CommitStatistics(long Frames, long Commands, long Queued);
