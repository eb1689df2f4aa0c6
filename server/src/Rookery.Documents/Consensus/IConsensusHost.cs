using Rookery.Documents.Nodes;

namespace Rookery.Documents.Consensus;

/// <summary>
/// Consensus with the methods by which its node controls it. An <see cref="OpenConsensus"/> creates it,
/// <see cref="Start"/> starts and <see cref="Stop"/> ends it.
/// </summary>
public interface IConsensusHost : IConsensus, IDisposable
{
    /// <summary>
    /// Called at most once, with a sentence, when the journal or apply fails. No write is acknowledged afterwards. Set
    /// it before <see cref="Start"/>.
    /// </summary>
    Action<string>? DiagnosisModeEntered { get; set; }

    /// <summary>Called after each journal write, on the thread that wrote. Set it before <see cref="Start"/>.</summary>
    Action? JournalWritten { get; set; }

    /// <summary>Starts the threads; commands are accepted from now on.</summary>
    void Start();

    /// <summary>Finishes queued commands, refuses new ones and ends the threads.</summary>
    void Stop();

    /// <summary>Returns counters. Callable at any time, from any thread.</summary>
    CommitStatistics ReadStatistics();

    /// <summary>Returns the node's state in its cluster. Callable at any time, from any thread.</summary>
    ConsensusStatistics ReadCluster();
}

/// <summary>
/// Creates consensus on an open store. On return, a single node has durably become leader and applied its whole
/// journal. A member of a cluster is ready to follow a leader.
/// </summary>
/// <param name="store">The store. The caller keeps ownership and disposes it after the consensus.</param>
/// <exception cref="UnappliedDamageException">A committed entry needs a row that is damaged.</exception>
/// <exception cref="IOException">The journal cannot be written or read.</exception>
public delegate IConsensusHost OpenConsensus(NodeStore store);

/// <summary>Counters of consensus since the start.</summary>
/// <param name="Frames">Applied entries that contain commands.</param>
/// <param name="Commands">Applied commands that this node proposed.</param>
/// <param name="Queued">Commands that this node admitted and has not answered.</param>
public readonly record struct CommitStatistics(long Frames, long Commands, long Queued);
