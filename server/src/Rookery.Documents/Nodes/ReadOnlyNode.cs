using Rookery.Documents.Consensus;

namespace Rookery.Documents.Nodes;

/// <summary>
/// A stopped node with damage, opened to read whatever is readable. Opening changes nothing that the next start would
/// see.
/// </summary>
internal sealed class ReadOnlyNode(NodeStore store, string nodeTag)
    : Node(store.Databases, store.ClusterRecords, new RefusingConsensus(Refusal, nodeTag))
{
    private static Rejection Refusal { get; } =
        new(RejectionKind.Stopping, "The data is damaged, and this node was opened to read what can be read.");

    /// <inheritdoc/>
    public override string NodeId => store.NodeId;

    /// <inheritdoc/>
    public override string ClusterId => store.ClusterId;

    /// <inheritdoc/>
    public override FormatLevel FormatLevel => store.FormatLevel;

    /// <inheritdoc/>
    public override bool HasRoom => store.Space.Data.AllowsGrowth;

    /// <inheritdoc/>
    public override bool HasReapplied(long sequence) => store.HasReapplied(sequence);

    /// <inheritdoc/>
    public override NodeStatistics ReadStatistics() => ReadStatistics(store, consensus: null);

    /// <inheritdoc/>
    public override void Dispose() => store.Dispose();
}
