namespace Rookery.Cluster.Peers;

/// <summary>Why the other end of a connection is refused.</summary>
/// <param name="Sentence">The reason, and what the operator of the other end must do.</param>
/// <param name="Kind">The consequence for the other end.</param>
public sealed record PeerRefusal(string Sentence, PeerRefusalKind Kind = PeerRefusalKind.Passing);

/// <summary>The consequence of a refusal for the refused node.</summary>
public enum PeerRefusalKind
{
    /// <summary>The node may be accepted later.</summary>
    Passing,

    /// <summary>The node was removed, according to the refusing node's records.</summary>
    NoMember,

    /// <summary>
    /// The node's data is a copy, or older than the cluster has seen. It must never participate again, even if the
    /// original is off.
    /// </summary>
    ForGood,
}
