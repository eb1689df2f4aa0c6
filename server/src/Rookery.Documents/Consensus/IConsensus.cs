using Rookery.Documents.Commands;

namespace Rookery.Documents.Consensus;

/// <summary>
/// Decides the sequence of writes, commits them, and provides read barriers. A single node commits with its own
/// journal; a cluster uses Raft. Thread-safe.
/// </summary>
public interface IConsensus
{
    /// <summary>Proposes a command and waits until it is durable, committed and applied.</summary>
    /// <param name="command">The encoded command. The call takes ownership, whatever the outcome: the caller must not
    /// use it afterwards.</param>
    /// <param name="cancellationToken">Cancels only the wait for admission. A queued command is always carried
    /// out.</param>
    /// <returns>The results per operation, or a <see cref="Rejection"/>. A refusal is a value, never an
    /// exception.</returns>
    ValueTask<CommandOutcome> ProposeAsync(CommandBuffer command, CancellationToken cancellationToken);

    /// <summary>
    /// Waits until this node has applied every write that was acknowledged before the call. Returns true if snapshots
    /// opened afterwards contain those writes. Returns false if this node cannot guarantee that now (see
    /// <see cref="Refusal"/>).
    /// </summary>
    ValueTask<bool> ReadBarrierAsync();

    /// <summary>
    /// Whether <see cref="ReadBarrierAsync"/> and <see cref="View"/> answer at once now, without a lock, the disk or
    /// another member.
    /// </summary>
    bool AnswersAtOnce => false;

    /// <summary>
    /// Ends all waits of <see cref="ReadBarrierAsync"/>. From now on it returns false instead of waiting. Called when
    /// the node stops.
    /// </summary>
    void EndWaitingReads();

    /// <summary>Why this node refuses writes now; null if it accepts them.</summary>
    Rejection? Refusal { get; }

    /// <summary>Whether this node is the leader.</summary>
    bool IsLeader { get; }

    /// <summary>This node's tag ("A").</summary>
    string NodeTag { get; }

    /// <summary>Tag of the leader, as far as this node knows; null if no leader is known.</summary>
    string? LeaderTag { get; }

    /// <summary>Whether this node knows a leader: itself or another node. Answers at once.</summary>
    bool HasLeader => LeaderTag is not null;

    /// <summary>The members of the cluster and its leader.</summary>
    ClusterView View { get; }

    /// <summary>The current Raft term.</summary>
    long Term { get; }

    /// <summary>
    /// The cluster's time, as far as this node knows it. Documents expire by this time only, never by a local clock.
    /// </summary>
    ClusterTime Time { get; }

    /// <summary>Index of the last entry applied on this node.</summary>
    long AppliedIndex { get; }
}
