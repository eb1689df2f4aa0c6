using Rookery.Documents.Consensus;
using Rookery.Platform;

namespace Rookery.Cluster.Peers;

/// <summary>A forwarded command whose outcome is awaited.</summary>
/// <param name="room">The room that the command holds until it is answered, even if its caller has gone, because it
/// takes memory at the other end until then.</param>
/// <param name="charge">The bytes of room.</param>
internal sealed class PendingForward(Admission room, long charge)
{
    // The caller continues on another thread: on the connection's thread it would delay later packets.
    private readonly TaskCompletionSource<CommandOutcome> _outcome = new(
        TaskCreationOptions.RunContinuationsAsynchronously
    );

    /// <summary>Waits for the outcome.</summary>
    public async ValueTask<CommandOutcome> WaitAsync(CancellationToken cancellationToken)
    {
        // All commands sent to a silent leader are abandoned at once; an exception for each would be costly.
        using var ending = cancellationToken.UnsafeRegister(
            static forward => ((PendingForward)forward!)._outcome.TrySetResult(PeerRefusals.GivenUpAfterSent),
            this
        );
        return await _outcome.Task;
    }

    /// <summary>Answers once. If the caller has given up, disposes the outcome's documents.</summary>
    public void Complete(in CommandOutcome result)
    {
        room.Leave(charge);
        if (!_outcome.TrySetResult(result))
        {
            OutcomeCodec.DisposeDocuments(result);
        }
    }
}
