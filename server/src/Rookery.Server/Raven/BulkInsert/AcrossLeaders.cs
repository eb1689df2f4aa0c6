using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Server.Raven.BulkInsert;

/// <summary>
/// Proposes a command again when its leader is lost, so that a stream goes on at the node that it lies at while another
/// member comes to lead. Its idempotency key sees to it that it is carried out once.
/// </summary>
internal static class AcrossLeaders
{
    // Some elections one after the other, each of a few seconds.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    /// <summary>What became of a command; one without a key is proposed once.</summary>
    /// <param name="consensus">The way of every write.</param>
    /// <param name="command">The command, which passes on.</param>
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
        long begun = time.GetTimestamp();
        using var kept = CopyOf(command);
        while (true)
        {
            var outcome = await consensus.ProposeAsync(command, cancellation);
            bool isLeaderLost =
                outcome.Rejection is { Kind: RejectionKind.NoLeader or RejectionKind.OutcomeUnknown }
                && consensus.Refusal is null;
            if (!isLeaderLost || cancellation.IsCancellationRequested || time.GetElapsedTime(begun) > Patience)
            {
                return outcome;
            }

            await Task.Delay(Pause, time, CancellationToken.None);
            command = CopyOf(kept);
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
