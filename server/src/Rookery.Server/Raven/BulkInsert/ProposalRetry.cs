using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Server.Raven.BulkInsert;

/// <summary>
/// Proposes a command again when the leader is lost, so that a stream at this node continues under the next leader. The
/// command's idempotency key prevents it from being applied twice.
/// </summary>
internal static class ProposalRetry
{
    // Enough for several elections in a row, each of a few seconds.
    private static readonly TimeSpan RetryTimeout = TimeSpan.FromSeconds(30);

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    /// <summary>Proposes a command and returns its outcome. A command without a key is proposed once.</summary>
    /// <param name="consensus">The node's consensus.</param>
    /// <param name="command">The command; consensus disposes it.</param>
    /// <param name="time">The clock.</param>
    /// <param name="cancellation">Ends the wait for a leader.</param>
    public static ValueTask<CommandOutcome> ProposeAsync(
        IConsensus consensus,
        CommandBuffer command,
        TimeProvider time,
        CancellationToken cancellation
    ) =>
        new CommandReader(command.Written.Span).Key.IsPresent
            ? RepeatAsync(consensus, command, time, cancellation)
            : consensus.ProposeAsync(command, cancellation);

    private static async ValueTask<CommandOutcome> RepeatAsync(
        IConsensus consensus,
        CommandBuffer command,
        TimeProvider time,
        CancellationToken cancellation
    )
    {
        long firstAttempt = time.GetTimestamp();
        using var original = CopyOf(command);
        while (true)
        {
            var outcome = await consensus.ProposeAsync(command, cancellation);
            bool isLeaderLost =
                outcome.Rejection is { Kind: RejectionKind.NoLeader or RejectionKind.OutcomeUnknown }
                && consensus.Refusal is null;
            if (
                !isLeaderLost
                || cancellation.IsCancellationRequested
                || time.GetElapsedTime(firstAttempt) > RetryTimeout
            )
            {
                return outcome;
            }

            await Task.Delay(Pause, time, CancellationToken.None);
            command = CopyOf(original);
        }
    }

    private static CommandBuffer CopyOf(CommandBuffer command)
    {
        var copy = CommandBuffer.Rent(command.Length);
        var written = command.Written.Span;
        written.CopyTo(copy.GetSpan(written.Length));
        copy.Advance(written.Length);
        return copy;
    }
}
