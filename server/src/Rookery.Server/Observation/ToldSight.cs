using Rookery.Documents.Consensus;

namespace Rookery.Server.Observation;

/// <summary>
/// How the leader sees the members, as it told a member that does not lead: of the others only it knows.
/// </summary>
/// <param name="Sight">What it said; what it counts from a moment goes on since.</param>
/// <param name="SecondsAgo">How long ago that was.</param>
internal sealed record ToldSight(ClusterSight Sight, double SecondsAgo)
{
    /// <summary>The newest word of who leads; null when this node leads itself, or hears of no leader.</summary>
    /// <param name="own">This node's own view.</param>
    /// <param name="observation">What it heard.</param>
    public static ToldSight? Of(ConsensusStatistics own, NodeObservation observation)
    {
        if (own.Members.Any(static one => one.Member is { IsSelf: true, IsLeader: true }))
        {
            return null;
        }

        var watchedFor = observation.WatchedFor;
        var newest = observation
            .Others.Where(other =>
                other.IsHeard(watchedFor) is true
                && other.Word?.Sight is { IsLeader: true } theirs
                && theirs.Term >= own.Term
            )
            .MaxBy(static other => other.Word!.Sight!.Term);
        if (newest?.Word?.Sight is not { } sight || newest.SeenSeconds is not { } ago)
        {
            return null;
        }

        return new ToldSight(
            sight with
            {
                Members = [.. sight.Members.Select(one => one with { HeardSeconds = one.HeardSeconds + ago })],
            },
            ago
        );
    }
}
