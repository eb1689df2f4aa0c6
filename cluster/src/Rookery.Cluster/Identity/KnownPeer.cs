namespace Rookery.Cluster.Identity;

/// <summary>Another member with its last known addresses.</summary>
/// <param name="NodeId">The member's random id.</param>
/// <param name="Addresses"><c>host:port</c> of its port for members, most likely first.</param>
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
