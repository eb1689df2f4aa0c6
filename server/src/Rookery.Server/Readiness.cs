using Rookery.Documents;
using Rookery.Indexing.Indexes;

namespace Rookery.Server;

/// <summary>
/// Whether this node serves documents. It begins as "opening", serves once it was given an opened <see cref="Node"/> without a diagnosis, and ends as "stopping".
/// While it does not, everything but the routes marked <see cref="WithoutData"/> answers 503 with the sentence. Any thread may ask or tell.
/// </summary>
public sealed class Readiness
{
    private volatile string? announced = "The node is opening its data.";
    private volatile Node? node;
    private volatile IndexHost? indexes;

    /// <summary>The node, once it was opened; in diagnosis mode too.</summary>
    public Node? Node => node;

    /// <summary>The indexes of the node, once it was opened.</summary>
    public IndexHost? Indexes => indexes;

    /// <summary>Why documents are not served, in one sentence; null when they are.</summary>
    public string? Reason => announced ?? node?.Diagnosis;

    /// <summary>Whether the node is on its way up or down, rather than in diagnosis mode.</summary>
    public bool IsPassing => announced is not null;

    /// <summary>The data is open: documents are served as long as the node has no diagnosis.</summary>
    /// <param name="opened">The node.</param>
    /// <param name="indexed">Its indexes.</param>
    public void Opened(Node opened, IndexHost indexed)
    {
        indexes = indexed;
        node = opened;
        announced = null;
    }

    /// <summary>Documents are not served from now on: the process ends.</summary>
    public void Stopping() => announced = "The node is stopping.";
}
