using Rookery.Cluster.Commit;
using Rookery.Cluster.Contents;
using Rookery.Cluster.Peers;
using Rookery.Documents.Transfer;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>The options of consensus on a store.</summary>
public sealed record ConsensusOptions
{
    /// <summary>The connections to the other members; null for a node without peers.</summary>
    public IPeerNetwork? Network { get; init; }

    /// <summary>
    /// Fetches another member's state when the entries that this node misses are compacted; null for a node that cannot
    /// fetch.
    /// </summary>
    public Func<NodeId, CancellationToken, Task<FetchedState>>? FetchState { get; init; }

    /// <summary>
    /// Asks other members about contents of attachments; null for a node without peers, and for one that has no
    /// attachments.
    /// </summary>
    public IContentPeers? ContentPeers { get; init; }

    /// <summary>
    /// Whether a store that has never been in a cluster founds a new cluster. False for a joining node, which waits for
    /// the cluster's entries.
    /// </summary>
    public bool MayFoundCluster { get; init; } = true;

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

    /// <summary>The maximum number of bytes of applied entries to cache for slightly lagging members.</summary>
    public long CachedBytes { get; init; } = 4 << 20;

    /// <summary>
    /// A released journal segment is retained while the segments after it total less than this many bytes, so that
    /// members can catch up after an absence.
    /// </summary>
    public long RetainedJournalBytes { get; init; } = 256 << 20;

    /// <summary>
    /// Receives sentences that need the operator's attention: disks that lost entries, stalled disks, copies of an old
    /// card.
    /// </summary>
    public Action<string>? TroubleFound { get; init; }

    /// <summary>
    /// Called when a rule of consensus is broken, here or at another member. The node halts, and the callee must ensure
    /// that it does not participate after a restart. Receives the fault; returns a sentence for the operator, with what
    /// to do. Called under the consensus lock, so it must return at once.
    /// </summary>
    public Func<string, string> RecordHaltAndExplain { get; init; } = static fault => fault;

    /// <summary>
    /// Whether callers continue on the thread that answers them. For tests that drive consensus step by step.
    /// </summary>
    internal bool AnswersInline { get; init; }

    /// <summary>
    /// Ends the process after an unexpected exception, because a step may be half done in memory. The journal stays
    /// consistent.
    /// </summary>
    internal Action<Exception> EndProcess { get; init; } = CommitThreads.EndProcess;

    /// <summary>Runs long work, such as a read of the journal or a fetch of a state, on another thread.</summary>
    internal Action<Action> RunInBackground { get; init; } =
        static work =>
            ThreadPool.UnsafeQueueUserWorkItem(
                static work =>
                {
                    SocketThreads.StayOnPool();
                    work();
                },
                work,
                preferLocal: false
            );
}
