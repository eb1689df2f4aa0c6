namespace Rookery.Cluster.Joining;

/// <summary>A node could not join. The message says why and what to do.</summary>
/// <param name="message">One or two sentences.</param>
public sealed class JoinException(string message) : IOException(message)
{
    /// <summary>
    /// Whether no member has admitted the node by a request of this join: the first request that reached a member was
    /// refused.
    /// </summary>
    internal bool IsNotAdmitted { get; init; }
}
