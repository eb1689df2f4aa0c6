using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Redis.Tests;

/// <summary>
/// A consensus that can lose the outcomes of commands, as a leader does that fails after a proposal, and that may lag
/// until a read barrier.
/// </summary>
internal sealed class ForgetfulConsensus(IConsensusHost inner) : IConsensusHost
{
    /// <summary>Whether the outcomes of further commands are unknown.</summary>
    public bool Forgets { get; set; }

    /// <summary>Runs before each read barrier, as the leader's update.</summary>
    public Func<IConsensus, Task> AtBarrier { get; set; } = static _ => Task.CompletedTask;

    public Action<string>? DiagnosisModeEntered
    {
        get => inner.DiagnosisModeEntered;
        set => inner.DiagnosisModeEntered = value;
    }

    public Action? JournalWritten
    {
        get => inner.JournalWritten;
        set => inner.JournalWritten = value;
    }

    public Rejection? Refusal => inner.Refusal;

    public bool IsLeader => inner.IsLeader;

    public string NodeTag => inner.NodeTag;

    public string? LeaderTag => inner.LeaderTag;

    public ClusterView View => inner.View;

    public long Term => inner.Term;

    public ClusterTime Time => inner.Time;

    public long AppliedIndex => inner.AppliedIndex;

    public async ValueTask<CommandOutcome> ProposeAsync(CommandBuffer command, CancellationToken cancellationToken)
    {
        var outcome = await inner.ProposeAsync(command, cancellationToken);
        return Forgets
            ? new CommandOutcome(new Rejection(RejectionKind.OutcomeUnknown, "The leader failed."))
            : outcome;
    }

    public async ValueTask<bool> ReadBarrierAsync()
    {
        await AtBarrier(inner);
        return await inner.ReadBarrierAsync();
    }

    public void EndWaitingReads() => inner.EndWaitingReads();

    public void Start() => inner.Start();

    public void Stop() => inner.Stop();

    public CommitStatistics ReadStatistics() => inner.ReadStatistics();

    public ConsensusStatistics ReadCluster() => inner.ReadCluster();

    public void Dispose() => inner.Dispose();
}
