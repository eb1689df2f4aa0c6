using Rookery.Cluster.Commit;
using Rookery.Cluster.Peers;
using Rookery.Documents.Transfer;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>The options of consensus on a store.</summary>
public sealed record ConsensusOptions
{
    /// <summary>The connections to the other members; null for a node without peers.</summary>
    public IPeerNetwork? Network { get; init; }

    /// <summary>
    /// Fetches the state of another member when the entries that this one misses are compacted; null for a node that
    /// cannot fetch.
    /// </summary>
    public Func<NodeId, CancellationToken, Task<FetchedState>>? FetchState { get; init; }

    /// <summary>
    /// Whether a store that has never been in a cluster founds one of itself. False for a joining node, which waits for
    /// the cluster's entries.
    /// </summary>
    public bool MayBegin { get; init; } = true;

    /// <summary>The options of the core, such as election timeouts.</summary>
    public CoreOptions Core { get; init; } = new();

    /// <summary>The seed of the random election timeouts; null for a random seed.</summary>
    public int? Seed { get; init; }

    /// <summary>
    /// Whether the machine's clock is synchronised with a time source. Called once a second; must return at once.
    /// </summary>
    public Func<bool> IsClockSynchronised { get; init; } = static () => true;

    /// <summary>
    /// How unsuitable this machine is to lead: 0 for a cool, well-powered board, higher values are worse. Called once a
    /// second; must return at once.
    /// </summary>
    public Func<int> BoardPenalty { get; init; } = static () => 0;

    /// <summary>The most bytes of applied entries to cache for slightly lagging members.</summary>
    public long CachedBytes { get; init; } = 4 << 20;

    /// <summary>The most bytes of released journal segments to retain for members that were away for a while.</summary>
    public long KeptJournalBytes { get; init; } = 256 << 20;

    /// <summary>
    /// Receives sentences that need the owner's attention: disks that lost entries, stalled disks, old copies.
    /// </summary>
    public Action<string>? TroubleFound { get; init; }

    /// <summary>
    /// Called when a rule of consensus is found broken, here or at another member: the node halts, and must not take
    /// part after a restart either. Receives the fault and returns the sentence for the owner, with what to do. Called
    /// under the consensus lock, so it must return at once.
    /// </summary>
    public Func<string, string> Halted { get; init; } = static found => found;

    /// <summary>
    /// Whether callers continue on the thread that answers them: for tests that drive consensus step by step.
    /// </summary>
    internal bool AnswersInline { get; init; }

    /// <summary>Ends the process, because a step may be half done in memory. The journal is consistent.</summary>
    internal Action<Exception> Broken { get; init; } = CommitThreads.EndProcess;

    /// <summary>Runs long work, such as a read of the journal or a fetch of a state, on another thread.</summary>
    internal Action<Action> RunBeside { get; init; } =
        static work => ThreadPool.UnsafeQueueUserWorkItem(static work => work(), work, preferLocal: false);
}
