using Rookery.Documents.Commands;

namespace Rookery.Documents.Consensus;

/// <summary>
/// Consensus of a node in diagnosis mode or opened only for reading. It refuses every command and every read barrier.
/// </summary>
internal sealed class RefusingConsensus(Rejection refusal, string nodeTag) : IConsensus
{
    /// <inheritdoc/>
    public Rejection? Refusal => refusal;

    /// <inheritdoc/>
    public bool IsLeader => false;

    /// <inheritdoc/>
    public string NodeTag => nodeTag;

    /// <inheritdoc/>
    public string? LeaderTag => null;

    /// <inheritdoc/>
    public ClusterView View { get; } = new(Etag: 1, []);

    /// <inheritdoc/>
    public long Term => 0;

    /// <inheritdoc/>
    public ClusterTime Time => default;

    /// <inheritdoc/>
    public long AppliedIndex => 0;

    /// <inheritdoc/>
    public ValueTask<CommandOutcome> ProposeAsync(CommandBuffer command, CancellationToken cancellationToken)
    {
        command.Dispose();
        return ValueTask.FromResult(new CommandOutcome(refusal));
    }

    /// <inheritdoc/>
    public ValueTask<bool> ReadBarrierAsync() => ValueTask.FromResult(false);

    /// <inheritdoc/>
    public void EndWaitingReads()
    {
        // No read waits.
    }
}
