using Rookery.Cluster.Commit;
using Rookery.Cluster.Peers;
using Rookery.Documents.Transfer;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>How consensus runs on a store.</summary>
public sealed record ConsensusOptions
{
    /// <summary>The connections to other members; null for a node that has none.</summary>
    public IPeerNetwork? Network { get; init; }

    /// <summary>
    /// Fetches the state of another member, when the entries that this one misses are gone; null where nobody has any.
    /// </summary>
    public Func<NodeId, CancellationToken, Task<FetchedState>>? FetchState { get; init; }

    /// <summary>
    /// Whether a store that was never told of a cluster becomes one of itself. Not for a node that joins another: it
    /// waits to be told.
    /// </summary>
    public bool MayBegin { get; init; } = true;

    /// <summary>Election timeouts and the like.</summary>
    public CoreOptions Core { get; init; } = new();

    /// <summary>Seeds the draws of election timeouts; null for chance.</summary>
    public int? Seed { get; init; }

    /// <summary>
    /// Whether the machine's clock follows a source of time. Asked once a second; must return at once.
    /// </summary>
    public Func<bool> IsClockSynchronised { get; init; } = static () => true;

    /// <summary>
    /// How little this machine should lead: 0 for a cool, well-powered board, the higher the worse. Asked once a
    /// second; must return at once.
    /// </summary>
    public Func<int> BoardPenalty { get; init; } = static () => 0;

    /// <summary>Bytes of applied entries that stay in memory for members who lag a little.</summary>
    public long CachedBytes { get; init; } = 4 << 20;

    /// <summary>Bytes of journal that stay for members who were away for a while.</summary>
    public long KeptJournalBytes { get; init; } = 256 << 20;

    /// <summary>
    /// Told in one sentence of what an owner should hear: members whose cards lost entries, stalled disks, old copies.
    /// </summary>
    public Action<string>? TroubleFound { get; init; }

    /// <summary>
    /// Told in a sentence that a rule of consensus was found broken, here or at a member: the node takes no part any
    /// more, and must not after a restart. Says what its owner is to hear, with what helps. Under consensus's lock, so
    /// it must return at once.
    /// </summary>
    public Func<string, string> Halted { get; init; } = static found => found;

    /// <summary>
    /// Whether callers go on on the thread that answers them: for tests that drive consensus step by step.
    /// </summary>
    internal bool AnswersInline { get; init; }

    /// <summary>
    /// Ends the process, because what is in memory may be half of a step: what the journal has is whole.
    /// </summary>
    internal Action<Exception> Broken { get; init; } = CommitThreads.EndProcess;

    /// <summary>Runs long work, a read of the journal or the fetch of a state, beside what asks for it.</summary>
    internal Action<Action> RunBeside { get; init; } =
        static work => ThreadPool.UnsafeQueueUserWorkItem(static work => work(), work, preferLocal: false);
}
