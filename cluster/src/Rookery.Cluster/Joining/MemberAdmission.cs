using Rookery.Cluster.Peers;
using Rookery.Documents;

namespace Rookery.Cluster.Joining;

/// <summary>Who may have a connection with this member, by the members' records as applied here. Thread-safe.</summary>
/// <param name="self">This node's random id.</param>
/// <param name="records">The records.</param>
public sealed class MemberAdmission(string self, ClusterRecords records) : IPeerAdmission
{
    private volatile Known? _known;

    /// <inheritdoc/>
    public string? Refuse(PeerHello hello) => Judge(hello, Current().Members, self);

    /// <summary>Why a member is refused, or null.</summary>
    /// <param name="hello">What it says of itself.</param>
    /// <param name="members">The members' records by node id.</param>
    /// <param name="self">The node that asks: while it has no record, it has just joined and knows nobody yet, and whoever has a certificate may tell it of the others.</param>
    internal static string? Judge(PeerHello hello, IReadOnlyDictionary<string, MemberRecord> members, string self)
    {
        if (!members.TryGetValue(hello.NodeId, out var member))
        {
            return members.ContainsKey(self)
                ? $"Node {hello.NodeId} is no member of this cluster (any more). Let it join anew, with an empty data directory and a token of `rookery cluster token create`."
                : null;
        }

        if (member.StoreId is { } store && store != hello.StoreId)
        {
            return $"The store of node {member.Name} ({hello.NodeId}) is not the one that the cluster knows: its card was replaced or formatted, and what the old one acknowledged is not on it. "
                + $"Remove it with `rookery cluster node rm {member.Name}`, and let it join anew with an empty data directory.";
        }

        // Counted as often, and not the start that the cluster has met: the copy was started once, as the original was since it was made.
        bool isCopy = hello.BootCounter == member.BootCounter && member.Run != 0 && hello.Run != member.Run;
        return isCopy || hello.BootCounter < member.BootCounter
            ? $"This is an old copy of node {member.Name} ({hello.NodeId}): its store was started {hello.BootCounter} times, and the cluster has met it after {member.BootCounter}{(isCopy ? ", in another run" : "")}. "
                + $"An old card must not vote: take it out, remove the node with `rookery cluster node rm {member.Name}`, and let an empty card join."
            : null;
    }

    private Known Current()
    {
        long revision = records.Revision;
        if (_known is { } known && known.Revision == revision)
        {
            return known;
        }

        var members = new Dictionary<string, MemberRecord>(StringComparer.Ordinal);
        foreach (var record in records.List(ClusterRecordPrefix.Member))
        {
            if (MemberRecord.Parse(record.Value.Span) is { } member)
            {
                members.Add(record.Key[ClusterRecordPrefix.Member.Length..], member);
            }
        }

        return _known = new Known(revision, members);
    }

    private sealed record Known(long Revision, IReadOnlyDictionary<string, MemberRecord> Members);
}
