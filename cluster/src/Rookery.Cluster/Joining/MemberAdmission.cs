using Rookery.Cluster.Peers;
using Rookery.Raft;

namespace Rookery.Cluster.Joining;

/// <summary>
/// Decides, by the members' records that this node has applied, which nodes may connect. Thread-safe.
/// </summary>
/// <param name="self">This node's random id.</param>
/// <param name="recordOf">Returns a member's record by its random id; null when there is none.</param>
/// <param name="isConfigured">Whether the newest configuration contains a member. The configuration may be newer than
/// the records, because it is read from the whole log, and the records from applied entries.</param>
/// <param name="hasCaughtUp">Whether this node has caught up, so that its records are as new as the leader's. Until
/// then, every node with a certificate may connect. Otherwise a node that was off while all other members were replaced
/// could not learn of the new members.</param>
internal sealed class MemberAdmission(
    string self,
    Func<string, MemberRecord?> recordOf,
    Func<NodeId, bool> isConfigured,
    Func<bool> hasCaughtUp
) : IPeerAdmission
{
    /// <inheritdoc/>
    public PeerRefusal? Refuse(PeerHello hello) =>
        Judge(
            hello,
            recordOf(hello.NodeId),
            mustBeRecorded: hasCaughtUp() && recordOf(self) is not null && !isConfigured(Members.IdOf(hello.NodeId))
        );

    /// <summary>Returns why a member is refused, or null.</summary>
    /// <param name="hello">The member's hello.</param>
    /// <param name="member">The member's record; null when there is none.</param>
    /// <param name="mustBeRecorded">Whether a node without a record here is refused. False while this node itself has
    /// no record: it has just joined and must learn of the other members from them.</param>
    internal static PeerRefusal? Judge(PeerHello hello, MemberRecord? member, bool mustBeRecorded)
    {
        if (member is null)
        {
            return mustBeRecorded
                ? new PeerRefusal(
                    $"Node {hello.NodeId} is not a member of this cluster (any more), according to the records of "
                        + $"the member that refuses it. `rookery status` on the refused node says whether most members "
                        + $"refuse it, and what to do then.",
                    PeerRefusalKind.NoMember
                )
                : null;
        }

        if (member.StoreId is { } store && store != hello.StoreId)
        {
            return new PeerRefusal(
                $"The store of node {member.Name} ({member.Tag}) is not the one that the cluster knows: its "
                    + $"card was replaced or formatted, and what the old one acknowledged is not on it. "
                    + $"Remove it with `rookery cluster node rm {member.Name}`, and let it join anew with an "
                    + $"empty data directory."
            );
        }

        if (hello.StartNumber == member.StartNumber && member.StartId != 0 && hello.StartId != member.StartId)
        {
            // The copy has been started as often as the original.
            return new PeerRefusal(
                $"There are two copies of node {member.Name} ({member.Tag}), and this is not the one that "
                    + $"the cluster knows: stop it for good. It may join again with an empty card. "
                    + "If there is no second card, this card reported a sync that did not happen, and lost its last "
                    + "start when the power failed: the node may have forgotten a vote, so replace it.",
                PeerRefusalKind.ForGood
            );
        }

        return hello.StartNumber < member.StartNumber
            ? new PeerRefusal(
                $"This is an old copy of node {member.Name} ({member.Tag}): its store was started "
                    + $"{hello.StartNumber} times, but the cluster has already seen start {member.StartNumber}. "
                    + $"An old card must not vote: take it out, remove the node with `rookery cluster node rm "
                    + $"{member.Name}`, and let an empty card join.",
                PeerRefusalKind.ForGood
            )
            : null;
    }
}
