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

    /// <summary>
    /// Proposes a command and returns its outcome. A command without a key is proposed once. If the outcome of an
    /// attempt is unknown, and no later attempt is decided, the outcome is unknown.
    /// </summary>
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

    /// <summary>
    /// Proposes a command as <see cref="ProposeAsync"/> does, and encodes and proposes it anew while the node is
    /// overloaded, for half a minute at most: for an operation that continues after its request.
    /// </summary>
    /// <param name="consensus">The node's consensus.</param>
    /// <param name="encode">Encodes the command, in a cluster with an idempotency key.</param>
    /// <param name="time">The clock.</param>
    /// <param name="ending">Ends the operation.</param>
    public static async Task<CommandOutcome> ProposePatientlyAsync(
        IConsensus consensus,
        Func<CommandBuffer> encode,
        TimeProvider time,
        CancellationToken ending
    )
    {
        long firstAttempt = time.GetTimestamp();
        while (true)
        {
            var outcome = await ProposeAsync(consensus, encode(), time, ending);
            if (
                outcome.Rejection is not { Kind: RejectionKind.Overloaded }
                || time.GetElapsedTime(firstAttempt) > RetryTimeout
            )
            {
                return outcome;
            }

            await Task.Delay(Pause, time, ending);
        }
    }

    private static async ValueTask<CommandOutcome> RepeatAsync(
        IConsensus consensus,
        CommandBuffer command,
        TimeProvider time,
        CancellationToken cancellation
    )
    {
        long firstAttempt = time.GetTimestamp();
        using var original = CopyOf(command);
        CommandOutcome? unknown = null;
        while (true)
        {
            var outcome = await consensus.ProposeAsync(command, cancellation);
            if (outcome.Rejection is not { } rejection || !IsMadeBeforeLog(rejection.Kind))
            {
                return outcome;
            }

            unknown = rejection.Kind == RejectionKind.OutcomeUnknown ? outcome : unknown;

            // A new leader may be overloaded by the clients that return to it. The caller would take that refusal for
            // one of all attempts, and might send the same changes under another key.
            bool mayRepeat =
                rejection.Kind is RejectionKind.NoLeader or RejectionKind.OutcomeUnknown
                || (rejection.Kind == RejectionKind.Overloaded && unknown is not null);
            if (
                !mayRepeat
                || consensus.Refusal is not null
                || cancellation.IsCancellationRequested
                || time.GetElapsedTime(firstAttempt) > RetryTimeout
            )
            {
                return unknown ?? outcome;
            }

            await Task.Delay(Pause, time, CancellationToken.None);
            command = CopyOf(original);
        }
    }

    /// <summary>
    /// Whether a rejection may be made before the command is in the log, so that it says nothing of earlier attempts.
    /// All others are made when the command is applied, which is after an earlier attempt that was stored.
    /// </summary>
    private static bool IsMadeBeforeLog(RejectionKind kind) =>
        kind
            is RejectionKind.OutcomeUnknown
                or RejectionKind.NoLeader
                or RejectionKind.Overloaded
                or RejectionKind.Canceled
                or RejectionKind.Stopping
                or RejectionKind.Diagnosis
                or RejectionKind.InsufficientSpace
                or RejectionKind.Damaged;

    private static CommandBuffer CopyOf(CommandBuffer command)
    {
        var copy = CommandBuffer.Rent(command.Length);
        var written = command.Written.Span;
        written.CopyTo(copy.GetSpan(written.Length));
        copy.Advance(written.Length);
        return copy;
    }
}
