using Rookery.Histories;

namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// A client's command. The payload of a write's entry is the number under which <see cref="SimulatedCluster.Keep"/>
/// stored the command.
/// </summary>
/// <param name="Client">The client's number.</param>
/// <param name="Sequence">The number of the write among the writes of its client, from 1; 0 for a command that only
/// reads. A repeated write has the same number, so that it is applied once (Ongaro's thesis, 6.3).</param>
/// <param name="Kind">The kind of the operation.</param>
/// <param name="Documents">The documents or, for a transaction, the lists.</param>
/// <param name="Value">The value to write, or the element to append to each list; 0 for a transaction that only
/// reads.</param>
/// <param name="Expected">The value that a compare-and-set expects.</param>
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

/// <summary>The result of a command.</summary>
/// <param name="Outcome">Done or refused. Unknown if the client gave up, or, in <see cref="NotLed"/>, if the node did
/// nothing, so that the client asks another.</param>
/// <param name="Etag">The etag of the written or read version, or of the version found instead of the expected
/// one.</param>
/// <param name="Value">The value read.</param>
/// <param name="Lists">The lists read.</param>
internal sealed record CommandResult(Outcome Outcome, long Etag = 0, long Value = 0, long[][]? Lists = null)
{
    /// <summary>The node does not lead and knows no leader.</summary>
    public static CommandResult NotLed { get; } = new(Outcome.Unknown);
}
