namespace Rookery.Cluster.Identity;

/// <summary>Another member and its last known addresses.</summary>
/// <param name="NodeId">The member's random id.</param>
/// <param name="Addresses">The addresses of its peer port, <c>host:port</c>, the likeliest to answer first.</param>
public sealed record KnownPeer(string NodeId, IReadOnlyList<string> Addresses)
{
    /// <inheritdoc/>
    public bool Equals(KnownPeer? other) =>
        other is not null
        && string.Equals(NodeId, other.NodeId, StringComparison.Ordinal)
        && Addresses.SequenceEqual(other.Addresses, StringComparer.Ordinal);

    /// <inheritdoc/>
    public override int GetHashCode() => NodeId.GetHashCode(StringComparison.Ordinal);
}
