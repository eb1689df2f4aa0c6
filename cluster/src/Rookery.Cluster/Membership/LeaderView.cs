using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>The leader's view of the cluster at one moment.</summary>
/// <param name="Self">The leader.</param>
/// <param name="Term">The leader's term.</param>
/// <param name="EtagBefore">A topology etag at least as high as any that a node computed while it was the only
/// member.</param>
/// <param name="Configuration">The newest configuration.</param>
/// <param name="Members">The members' records.</param>
/// <param name="Reachable">The other members that answered within the last election timeout.</param>
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
    /// <summary>Returns the topology for clients, with etag 0.</summary>
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
                        Starts = entry.Record.StartNumber,
                        IsVoter = Configuration.IsVoter(entry.Member),
                        IsLeader = entry.Member == Self,
                        IsUp = entry.Member == Self || Reachable.Contains(entry.Member),
                    })
                    .OrderByDescending(static member => member.IsLeader)
                    .ThenBy(static member => member.Tag, StringComparer.Ordinal),
            ],
        };
}
