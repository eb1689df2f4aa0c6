using Rookery.Documents.Consensus;
using Rookery.Platform;

namespace Rookery.Cluster.Peers;

/// <summary>A forwarded command whose outcome is awaited.</summary>
/// <param name="room">The admission that the command's bytes leave when the command is answered. The bytes stay
/// admitted even if the caller has left, because the command takes memory at the other end until then.</param>
/// <param name="charge">The number of bytes that the command takes.</param>
internal sealed class PendingForward(Admission room, long charge)
{
    // The caller continues on another thread, because it would delay later packets on the connection's thread.
    private readonly TaskCompletionSource<CommandOutcome> _outcome = new(
        TaskCreationOptions.RunContinuationsAsynchronously
    );

    /// <summary>Waits for the outcome.</summary>
    public async ValueTask<CommandOutcome> WaitAsync(CancellationToken cancellationToken)
    {
        // All commands sent to a silent leader are abandoned at the same time, and an exception for each would be
        // costly.
        using var ending = cancellationToken.UnsafeRegister(
            static forward => ((PendingForward)forward!)._outcome.TrySetResult(PeerRefusals.CanceledAfterSent),
            this
        );
        return await _outcome.Task;
    }

    /// <summary>Completes the forward. If the caller has cancelled, disposes the outcome's documents.</summary>
    public void Complete(in CommandOutcome result)
    {
        room.Leave(charge);
        if (!_outcome.TrySetResult(result))
        {
            OutcomeCodec.DisposeDocuments(result);
        }
    }
}
