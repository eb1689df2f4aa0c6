namespace Rookery.Documents.Consensus;

/// <summary>The members of the cluster and its leader, as clients receive them.</summary>
/// <param name="Etag">Rises with every change of the leader, the members, their addresses, restarts or health. Equal
/// etags on two nodes mean equal views. Clients adopt a topology with a higher etag.</param>
/// <param name="Members">The members: the leader first, then by tag.</param>
public sealed record ClusterView(long Etag, IReadOnlyList<ClusterViewMember> Members);

/// <summary>One member, as clients and administrators see it.</summary>
/// <param name="Tag">The member's tag, a letter.</param>
/// <param name="NodeId">The member's random id.</param>
/// <param name="Name">The member's name.</param>
/// <param name="Urls">URLs on which the member listens for clients, best one first; empty if it has not reported them
/// yet.</param>
/// <param name="PublicUrl">URL for clients, as configured; null if none is.</param>
/// <param name="IsVoter">Whether the member counts for majorities; otherwise it is a learner.</param>
/// <param name="IsLeader">Whether the member is the leader.</param>
/// <param name="IsSelf">Whether the member is the node that returns this view.</param>
public sealed record ClusterViewMember(
    string Tag,
    string NodeId,
    string Name,
    IReadOnlyList<string> Urls,
    string? PublicUrl,
    bool IsVoter,
    bool IsLeader,
    bool IsSelf
)
{
    /// <summary>Whether the leader receives messages from the member.</summary>
    public bool IsUp { get; init; } = true;

    /// <summary>URL for clients; null if it is not known.</summary>
    public string? Url => PublicUrl ?? (Urls.Count > 0 ? Urls[0] : null);
}
