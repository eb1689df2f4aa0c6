using Rookery.Documents.Commands;

namespace Rookery.Documents.Consensus;

/// <summary>
/// The way of every write, and the fence of every read. One node alone commits by its own journal ;
/// a cluster puts Raft behind the same seam. All members may be called from several threads at once.
/// </summary>
public interface IConsensus
{
    /// <summary>
    /// Proposes a command and waits until it is durable, committed and applied.
    /// </summary>
    /// <param name="command">The encoded command. Ownership passes with the call, whatever the outcome: the caller must
    /// not touch it again.</param>
    /// <param name="cancellationToken">Stops the wait for admission only. Once a command is queued it runs to its
    /// outcome, because the journal cannot take it back.</param>
    /// <returns>What became of it: results per operation, or a <see cref="Rejection"/>. Refusals are values, never
    /// exceptions.</returns>
    ValueTask<CommandOutcome> ProposeAsync(CommandBuffer command, CancellationToken cancellationToken);

    /// <summary>
    /// When it returns true, a snapshot taken afterwards sees every write that was acknowledged before the call. False:
    /// this node cannot promise that now (see <see cref="Refusal"/>).
    /// </summary>
    ValueTask<bool> ReadBarrierAsync();

    /// <summary>
    /// Ends the waits of <see cref="ReadBarrierAsync"/>, from now on: what is not known at once is false. For a node
    /// that stops.
    /// </summary>
    void EndWaitingReads();

    /// <summary>Why this node takes no writes now, or null when it does.</summary>
    Rejection? Refusal { get; }

    /// <summary>Whether this node decides the order of writes.</summary>
    bool IsLeader { get; }

    /// <summary>This node's tag ("A").</summary>
    string NodeTag { get; }

    /// <summary>The tag of the node that leads as far as this one knows, or null.</summary>
    string? LeaderTag { get; }

    /// <summary>The members of the cluster, and who leads.</summary>
    ClusterView View { get; }

    /// <summary>The consensus term.</summary>
    long Term { get; }

    /// <summary>The cluster's time, as far as this node knows it. Documents expire by it, and by no clock.</summary>
    ClusterTime Time { get; }

    /// <summary>Index of the last frame applied here.</summary>
    long AppliedIndex { get; }
}
