namespace Rookery.Documents;

/// <summary>Who belongs to the cluster and who leads, as this node knows it.</summary>
/// <param name="Etag">Grows with every change of leader, members or their addresses, and is the same on nodes that know the same: clients take a topology when it grew.</param>
/// <param name="Members">The members, the leader first, then by tag.</param>
public sealed record ClusterView(long Etag, IReadOnlyList<ClusterViewMember> Members);

/// <summary>One member, as clients and owners see it.</summary>
/// <param name="Tag">Its letter.</param>
/// <param name="NodeId">Its random id.</param>
/// <param name="Name">What it is called.</param>
/// <param name="Url">Where clients reach it; null for a node that was never told: then it is where the client asked.</param>
/// <param name="IsVoter">Whether it is counted in majorities; else it receives everything and is not.</param>
/// <param name="IsLeader">Whether it leads.</param>
/// <param name="IsSelf">Whether it is the node that says this.</param>
public sealed record ClusterViewMember(string Tag, string NodeId, string Name, string? Url, bool IsVoter, bool IsLeader, bool IsSelf);
