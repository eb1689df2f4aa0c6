using Rookery.Histories;

namespace Rookery.Raft.Tests.Simulation;

/// <summary>What a client wants done. Its number is the payload of the entry that brings it.</summary>
/// <param name="Client">Who.</param>
/// <param name="Sequence">The client's number for it: the same when it is sent again, so that it is done once (thesis
/// 6.3).</param>
/// <param name="Kind">What.</param>
/// <param name="Documents">The documents or, for a transaction, the lists.</param>
/// <param name="Value">The value to write, or the element to append to each of the lists; 0 for a transaction that only
/// reads.</param>
/// <param name="Expected">What a compare-and-set expects.</param>
internal sealed record ClientCommand(
    int Client,
    int Sequence,
    OperationKind Kind,
    int[] Documents,
    long Value,
    long Expected
)
{
    public bool Writes =>
        Kind is OperationKind.Put or OperationKind.CompareAndSet || (Kind == OperationKind.Transaction && Value != 0);
}

/// <summary>What became of a command.</summary>
/// <param name="Outcome">Done or refused; unknown when the node that was asked did nothing, and somebody else may be
/// asked.</param>
/// <param name="Etag">Of what was written, read, or found instead of the expected.</param>
/// <param name="Value">The value read.</param>
/// <param name="Lists">The lists read.</param>
internal sealed record CommandResult(Outcome Outcome, long Etag = 0, long Value = 0, long[][]? Lists = null)
{
    /// <summary>The node does not lead and knows nobody who does.</summary>
    public static CommandResult NotLed { get; } = new(Outcome.Unknown);
}
