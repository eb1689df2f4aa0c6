namespace Rookery.Cluster.Identity;

/// <summary>Another member, and where it was last seen.</summary>
/// <param name="NodeId">Its random id.</param>
/// <param name="Addresses"><c>host:port</c> of its peer port, the likeliest first.</param>
public sealed record KnownPeer(string NodeId, IReadOnlyList<string> Addresses);
