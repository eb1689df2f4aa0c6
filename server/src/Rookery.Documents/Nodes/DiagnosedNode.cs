using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Records;

namespace Rookery.Documents.Nodes;

/// <summary>A node whose data could not be opened. It reports the reason and refuses every read and write.</summary>
internal sealed class DiagnosedNode(string diagnosis, string nodeTag)
    : Node(
        new DatabaseCatalog(),
        new ClusterRecords(),
        new RefusingConsensus(new Rejection(RejectionKind.Diagnosis, diagnosis), nodeTag)
    )
{
    /// <inheritdoc/>
    public override string Diagnosis => diagnosis;

    /// <inheritdoc/>
    public override string NodeId => string.Empty;

    /// <inheritdoc/>
    public override string ClusterId => string.Empty;

    /// <inheritdoc/>
    public override FormatLevel FormatLevel => FormatLevel.First;

    /// <inheritdoc/>
    public override bool HasRoom => false;

    /// <inheritdoc/>
    public override NodeStatistics? ReadStatistics() => null;

    /// <inheritdoc/>
    public override void Dispose()
    {
        // Nothing to release.
    }
}
