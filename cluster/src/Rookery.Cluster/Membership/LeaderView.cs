using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>The cluster at one moment, seen by who leads it.</summary>
/// <param name="Self">Who that is.</param>
/// <param name="Term">Its term.</param>
/// <param name="EtagBefore">Above every etag that a node handed out while it was alone.</param>
/// <param name="Configuration">Who belongs to the cluster.</param>
/// <param name="Members">The members' records.</param>
/// <param name="Reachable">Who of the others answered within the last election timeout.</param>
/// <param name="ElectionTimeout">The election timeout.</param>
internal sealed record LeaderView(
    NodeId Self,
    long Term,
    long EtagBefore,
    Configuration Configuration,
    IReadOnlyList<RosterEntry> Members,
    IReadOnlySet<NodeId> Reachable,
    TimeSpan ElectionTimeout
)
{
    /// <summary>What clients are to be told, under an etag of none yet.</summary>
    public TopologyRecord ToTopology() =>
        new()
        {
            Etag = 0,
            Members =
            [
                .. Members
                    .Where(entry => Configuration.IsMember(entry.Member))
                    .Select(entry => new TopologyMember
                    {
                        NodeId = entry.NodeId,
                        Tag = entry.Record.Tag,
                        Name = entry.Record.Name,
                        Urls = entry.Record.ClientUrls,
                        PublicUrl = entry.Record.PublicUrl,
                        Starts = entry.Record.BootCounter,
                        IsVoter = Configuration.IsVoter(entry.Member),
                        IsLeader = entry.Member == Self,
                        IsUp = entry.Member == Self || Reachable.Contains(entry.Member),
                    })
                    .OrderByDescending(static member => member.IsLeader)
                    .ThenBy(static member => member.Tag, StringComparer.Ordinal),
            ],
        };
}
