using Rookery.Documents.Consensus;
using Rookery.Documents.Subscriptions;

namespace Rookery.Server.Subscriptions;

/// <summary>
/// Finds the member that serves a subscription: its mentor while that is up, always the mentor if the subscription is
/// pinned, otherwise the leader. All members with the same view of the cluster find the same one.
/// </summary>
internal static class ServingMember
{
    /// <summary>Returns the member; null if there is none now.</summary>
    public static ClusterViewMember? Of(SubscriptionRecord record, ClusterView view)
    {
        var mentor = record.MentorNode is { } tag
            ? view.Members.FirstOrDefault(member => string.Equals(member.Tag, tag, StringComparison.Ordinal))
            : null;
        if (mentor is not null && (record.IsPinned || mentor.IsUp))
        {
            return mentor;
        }

        return record is { IsPinned: true, MentorNode: not null }
            ? null
            : view.Members.FirstOrDefault(static member => member.IsLeader);
    }
}
