namespace Rookery.Cluster.Commit;

/// <summary>The commands that are to be committed: where they wait, and how their callers are answered.</summary>
/// <param name="Queue">Those that wait for a place in the log here.</param>
/// <param name="Forwarder">Those that went to the leader; null on a node without a network.</param>
/// <param name="Answers">Answers their callers.</param>
/// <param name="Receipts">Who has made which entry durable, for callers that asked for it.</param>
internal sealed record Proposals(
    ProposalQueue Queue,
    ProposalForwarder? Forwarder,
    ProposalAnswers Answers,
    ReceiptKeeper Receipts
);
