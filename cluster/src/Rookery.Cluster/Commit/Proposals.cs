namespace Rookery.Cluster.Commit;

/// <summary>Groups the parts that process proposals, to pass them together.</summary>
/// <param name="Queue">The proposals that wait to be placed in this node's log.</param>
/// <param name="Forwarder">Sends proposals to the leader; null on a node without a network.</param>
/// <param name="Answers">Answers the proposals' callers.</param>
/// <param name="Receipts">Records when each member synced an entry, for callers that asked for a receipt.</param>
internal sealed record Proposals(
    ProposalQueue Queue,
    ProposalForwarder? Forwarder,
    ProposalAnswers Answers,
    ReceiptKeeper Receipts
);
