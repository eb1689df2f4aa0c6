using Rookery.Documents.Nodes;
using Rookery.Indexing.Indexes;

namespace Rookery.Server;

/// <summary>
/// Whether this node serves documents. It is "opening" at first, serves documents once <see cref="MarkOpen"/> was
/// called with a node without a diagnosis, and is "stopping" at the end. While it does not serve, every route without
/// <see cref="WithoutData"/> answers 503 with <see cref="Reason"/>. Thread-safe.
/// </summary>
public sealed class Readiness
{
    /// <summary>
    /// Header of an error from a node that takes no part in its cluster: a repetition would be refused again.
    /// </summary>
    public const string TakesNoPart = "Takes-No-Part";

    /// <summary>Reason of a node that stops.</summary>
    internal const string NodeStops = "The node is stopping.";

    private volatile string? _announced = "The node is opening its data.";
    private volatile Node? _node;
    private volatile IndexHost? _indexes;

    /// <summary>The opened node, also in diagnosis mode; null before.</summary>
    public Node? Node => _node;

    /// <summary>The indexes of the opened node; null before.</summary>
    public IndexHost? Indexes => _indexes;

    /// <summary>Why documents are not served, in one sentence; null if they are.</summary>
    public string? Reason => _announced ?? _node?.Diagnosis;

    /// <summary>Whether the node is opening or stopping, as opposed to diagnosis mode.</summary>
    public bool IsPassing => _announced is not null;

    /// <summary>Records that the data is open. Documents are served unless the node has a diagnosis.</summary>
    /// <param name="opened">The node.</param>
    /// <param name="indexed">Its indexes.</param>
    public void MarkOpen(Node opened, IndexHost indexed)
    {
        _indexes = indexed;
        _node = opened;
        _announced = null;
    }

    /// <summary>Records that the process ends. Documents are no longer served.</summary>
    public void MarkStopping() => _announced = NodeStops;
}
