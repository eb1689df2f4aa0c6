using Rookery.Documents.Consensus;
using Rookery.Platform;

namespace Rookery.Cluster.Peers;

/// <summary>A forwarded command whose outcome is awaited.</summary>
/// <param name="room">What it holds room of until it is answered, even when its caller has gone: until then it costs
/// the other end memory.</param>
/// <param name="charge">How many bytes.</param>
internal sealed class PendingForward(Admission room, long charge)
{
    // The caller goes on elsewhere: on the connection's own thread it would hold up what comes next.
    private readonly TaskCompletionSource<CommandOutcome> _outcome = new(
        TaskCreationOptions.RunContinuationsAsynchronously
    );

    /// <summary>Waits for the outcome.</summary>
    public async ValueTask<CommandOutcome> WaitAsync(CancellationToken cancellationToken)
    {
        // All that one leader was sent are given up at once: that must not cost each an exception.
        using var ending = cancellationToken.UnsafeRegister(
            static forward => ((PendingForward)forward!)._outcome.TrySetResult(PeerRefusals.GivenUpAfterSent),
            this
        );
        return await _outcome.Task;
    }

    /// <summary>Answers, once. If the caller has given up, the documents of the outcome are given back.</summary>
    public void Complete(in CommandOutcome result)
    {
        room.Leave(charge);
        if (!_outcome.TrySetResult(result))
        {
            OutcomeCodec.DisposeDocuments(result);
        }
    }
}
