using Rookery.Documents.Consensus;

namespace Rookery.Server.Observation;

/// <summary>
/// The cluster as the leader reported it to this node. Only the leader knows the state of the other members.
/// </summary>
/// <param name="View">The report. Its durations are extended by the age of the report, so that they count until
/// now.</param>
/// <param name="SecondsAgo">Age of the report in seconds.</param>
internal sealed record LeaderReport(ClusterReport View, double SecondsAgo)
{
    /// <summary>Returns the newest report of a leader; null if this node is leader, or has no report.</summary>
    /// <param name="own">This node's own view.</param>
    /// <param name="observation">What other members reported.</param>
    public static LeaderReport? Of(ConsensusStatistics own, NodeObservation observation)
    {
        if (own.Members.Any(static member => member.Member is { IsSelf: true, IsLeader: true }))
        {
            return null;
        }

        var watchedFor = observation.WatchedFor;
        var newest = observation
            .Others.Where(other =>
                other.IsAnswering(watchedFor) is true
                && other.LastAnswer?.View is { IsLeader: true } theirs
                && theirs.Term >= own.Term
            )
            .MaxBy(static other => other.LastAnswer!.View!.Term);
        if (newest?.LastAnswer?.View is not { } view || newest.SeenSeconds is not { } ago)
        {
            return null;
        }

        return new LeaderReport(
            view with
            {
                Members = [.. view.Members.Select(member => member with { HeardSeconds = member.HeardSeconds + ago })],
            },
            ago
        );
    }
}
