namespace Rookery.Documents.Consensus;

/// <summary>Who belongs to the cluster and who leads, as the members agreed to tell clients.</summary>
/// <param name="Etag">Grows with every change of leader, members, their addresses, starts or health. Nodes with the
/// same etag say the same: clients take a topology when it grew.</param>
/// <param name="Members">The members, the leader first, then by tag.</param>
public sealed record ClusterView(long Etag, IReadOnlyList<ClusterViewMember> Members);

/// <summary>One member, as clients and owners see it.</summary>
/// <param name="Tag">Its letter.</param>
/// <param name="NodeId">Its random id.</param>
/// <param name="Name">What it is called.</param>
/// <param name="Urls">Where it listens for clients, by address, the likeliest first; empty when it has not said so
/// yet.</param>
/// <param name="PublicUrl">Where clients reach it, as its owner says; null when he did not.</param>
/// <param name="IsVoter">Whether it is counted in majorities; else it receives everything and is not.</param>
/// <param name="IsLeader">Whether it leads.</param>
/// <param name="IsSelf">Whether it is the node that says this.</param>
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
    /// <summary>Whether the leader hears it.</summary>
    public bool IsUp { get; init; } = true;

    /// <summary>Where clients reach it; null when that is not known.</summary>
    public string? Url => PublicUrl ?? (Urls.Count > 0 ? Urls[0] : null);
}
