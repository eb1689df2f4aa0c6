using Rookery.Documents.Nodes;
using Rookery.Indexing.Indexes;

namespace Rookery.Server;

/// <summary>
/// Whether this node serves documents: not while it opens, from <see cref="MarkOpen"/> on unless the node is in
/// diagnosis mode, and not while it stops. While it does not, every route without <see cref="WithoutData"/> answers 503
/// with <see cref="Reason"/>. Thread-safe.
/// </summary>
public sealed class Readiness
{
    /// <summary>
    /// Header of an error from a node that takes no part in its cluster. Clients need not retry: the node would refuse
    /// again.
    /// </summary>
    public const string TakesNoPart = "Takes-No-Part";

    /// <summary>Reason of a node that stops.</summary>
    internal const string NodeStops = "The node is stopping.";

    private volatile string? _openingOrStopping = "The node is opening its data.";
    private volatile Node? _node;
    private volatile IndexHost? _indexes;

    /// <summary>The opened node, also in diagnosis mode; null before it is opened.</summary>
    public Node? Node => _node;

    /// <summary>The indexes of the opened node; null before it is opened.</summary>
    public IndexHost? Indexes => _indexes;

    /// <summary>Why documents are not served, in one sentence; null if they are served.</summary>
    public string? Reason => _openingOrStopping ?? _node?.Diagnosis;

    /// <summary>Whether the node is opening or stopping, as opposed to diagnosis mode.</summary>
    public bool IsOpeningOrStopping => _openingOrStopping is not null;

    /// <summary>Records that the data is open. Documents are served unless the node has a diagnosis.</summary>
    /// <param name="opened">The node.</param>
    /// <param name="indexed">Its indexes.</param>
    public void MarkOpen(Node opened, IndexHost indexed)
    {
        _indexes = indexed;
        _node = opened;
        _openingOrStopping = null;
    }

    /// <summary>Records that the process ends. Documents are no longer served.</summary>
    public void MarkStopping() => _openingOrStopping = NodeStops;
}
