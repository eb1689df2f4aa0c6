namespace Rookery.Cluster.Identity;

/// <summary>Another member, and where it was last seen.</summary>
/// <param name="NodeId">Its random id.</param>
/// <param name="Addresses"><c>host:port</c> of its peer port, the likeliest first.</param>
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
