using Rookery.Cluster.Membership;
using Rookery.Cluster.Peers;

namespace Rookery.Cluster.Joining;

/// <summary>Who may have a connection with this member, by the members' records as applied here. Thread-safe.</summary>
/// <param name="self">This node's random id.</param>
/// <param name="roster">The records.</param>
internal sealed class MemberAdmission(string self, MemberRoster roster) : IPeerAdmission
{
    /// <inheritdoc/>
    public string? Refuse(PeerHello hello)
    {
        return Judge(hello, RecordOf(hello.NodeId), RecordOf(self) is not null);

        MemberRecord? RecordOf(string node) => roster.Entries.FirstOrDefault(entry => string.Equals(entry.NodeId, node, StringComparison.Ordinal))?.Record;
    }

    /// <summary>Why a member is refused, or null.</summary>
    /// <param name="hello">What it says of itself.</param>
    /// <param name="member">Its record, if there is one.</param>
    /// <param name="knowsItself">Whether the node that asks has a record: while it has none, it has just joined and knows nobody yet, and whoever has a certificate may tell it of the others.</param>
    internal static string? Judge(PeerHello hello, MemberRecord? member, bool knowsItself)
    {
        if (member is null)
        {
            return knowsItself
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
}
