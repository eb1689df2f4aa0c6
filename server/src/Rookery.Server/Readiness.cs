using Rookery.Documents.Nodes;
using Rookery.Indexing.Indexes;

namespace Rookery.Server;

/// <summary>
/// Whether this node serves documents. It begins as "opening", serves once it was given an opened <see cref="Node"/>
/// without a diagnosis, and ends as "stopping". While it does not, everything but the routes marked
/// <see cref="WithoutData"/> answers 503 with the sentence. Any thread may ask or tell.
/// </summary>
public sealed class Readiness
{
    /// <summary>
    /// The header of a refusal by a node that takes no part in its cluster: sent again, the request is refused again.
    /// </summary>
    public const string TakesNoPart = "Takes-No-Part";

    /// <summary>Why a node that stops answers nothing more.</summary>
    internal const string NodeStops = "The node is stopping.";

    private volatile string? _announced = "The node is opening its data.";
    private volatile Node? _node;
    private volatile IndexHost? _indexes;

    /// <summary>The node, once it was opened; in diagnosis mode too.</summary>
    public Node? Node => _node;

    /// <summary>The indexes of the node, once it was opened.</summary>
    public IndexHost? Indexes => _indexes;

    /// <summary>Why documents are not served, in one sentence; null when they are.</summary>
    public string? Reason => _announced ?? _node?.Diagnosis;

    /// <summary>Whether the node is on its way up or down, rather than in diagnosis mode.</summary>
    public bool IsPassing => _announced is not null;

    /// <summary>The data is open: documents are served as long as the node has no diagnosis.</summary>
    /// <param name="opened">The node.</param>
    /// <param name="indexed">Its indexes.</param>
    public void Opened(Node opened, IndexHost indexed)
    {
        _indexes = indexed;
        _node = opened;
        _announced = null;
    }

    /// <summary>Documents are not served from now on: the process ends.</summary>
    public void Stopping() => _announced = NodeStops;
}
