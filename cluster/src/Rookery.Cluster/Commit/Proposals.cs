namespace Rookery.Cluster.Commit;

/// <summary>The parts that take proposals from a caller to its answer.</summary>
/// <param name="Queue">Proposals that wait for a place in this node's log.</param>
/// <param name="Forwarder">Sends proposals to the leader; null on a node without a network.</param>
/// <param name="Answers">Answers the callers.</param>
/// <param name="Receipts">Records which member synced an entry when, for callers that asked for a receipt.</param>
internal sealed record Proposals(
    ProposalQueue Queue,
    ProposalForwarder? Forwarder,
    ProposalAnswers Answers,
    ReceiptKeeper Receipts
);
