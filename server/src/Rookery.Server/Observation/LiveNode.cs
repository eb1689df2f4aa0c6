using Rookery.Documents.Consensus;

namespace Rookery.Server.Observation;

/// <summary>Whether a node can be heard.</summary>
internal enum NodeState
{
    /// <summary>Nobody has said.</summary>
    Unknown,

    /// <summary>This node hears it, or the leader does.</summary>
    Up,

    /// <summary>It does not answer.</summary>
    Down,
}

/// <summary>One node as the page shows it. Null is "not known".</summary>
/// <param name="Tag">Its letter.</param>
/// <param name="Name">What it is called; empty for a node alone.</param>
/// <param name="IsVoter">Whether it votes.</param>
/// <param name="IsLeader">Whether it leads.</param>
/// <param name="IsSelf">Whether it is the one that says this.</param>
internal sealed record LiveNode(string Tag, string Name, bool IsVoter, bool IsLeader, bool IsSelf)
{
    /// <summary>Where clients reach it.</summary>
    public string? Url { get; init; }

    /// <summary>Whether it can be heard.</summary>
    public NodeState State { get; init; }

    /// <summary>
    /// Seconds since the leader heard it, as its alerts and its list of members say; since this node did where the
    /// leader does not tell.
    /// </summary>
    public double? SeenSeconds { get; init; }

    /// <summary>Entries of the log that it lacks.</summary>
    public long? LagEntries { get; init; }

    /// <summary>What 99 % of its recent journal writes did not exceed.</summary>
    public double? SyncP99Milliseconds { get; init; }

    /// <summary>Bytes free there beyond its reserve.</summary>
    public long? SpareBytes { get; init; }

    /// <summary>Why it does not serve; null when it does, or is not known to.</summary>
    public string? Reason { get; init; }

    /// <summary>Its last sample as it wrote it; null when there is none, and for the node itself.</summary>
    public byte[]? Sample { get; init; }

    /// <summary>What people call it.</summary>
    public string Called => Name.Length > 0 ? Name : $"node {Tag}";

    /// <summary>Whether it has, or will have in a moment, all that is committed: what is on its way counts.</summary>
    public bool? HasCaughtUp =>
        IsLeader ? true
        : LagEntries is { } lag ? lag <= EntriesInFlight
        : null;

    // As consensus counts who catches up.
    private const int EntriesInFlight = 4096;
}

/// <summary>
/// The cluster as the page shows it: the sight of the leader where that is known, and what this node hears itself.
/// </summary>
/// <param name="Nodes">The nodes, the leader first.</param>
/// <param name="LeaderTag">Who leads; null when nobody is known to.</param>
/// <param name="SuccessorTag">Who would lead next; null when nobody could, or that is not known.</param>
/// <param name="LimitedBy">Who limits what the cluster takes; null when that is not known.</param>
/// <param name="IsLeadersSight">Whether the leader said how the others are.</param>
/// <param name="Trouble">Why writes do not go through the node that is asked; null when they do.</param>
internal sealed record LiveCluster(
    IReadOnlyList<LiveNode> Nodes,
    string? LeaderTag,
    string? SuccessorTag,
    string? LimitedBy,
    bool IsLeadersSight,
    string? Trouble
)
{
    /// <summary>Votes that are needed.</summary>
    public int Majority => (Voters / 2) + 1;

    /// <summary>Nodes that vote.</summary>
    public int Voters => Nodes.Count(static node => node.IsVoter);

    /// <summary>Whether there is one node only.</summary>
    public bool IsAlone => Nodes.Count == 1;

    /// <summary>Puts together what is known.</summary>
    /// <param name="own">This node's own view of its cluster; null when it has no data open.</param>
    /// <param name="observation">What it heard.</param>
    /// <param name="self">Its letter.</param>
    /// <param name="reason">Why it does not serve; null when it does.</param>
    /// <param name="name">What it is called.</param>
    public static LiveCluster Of(
        ConsensusStatistics? own,
        NodeObservation observation,
        string self,
        string? reason,
        string name
    )
    {
        if (own is null)
        {
            return new LiveCluster(
                [
                    new LiveNode(self, name, IsVoter: false, IsLeader: false, IsSelf: true)
                    {
                        State = NodeState.Up,
                        SeenSeconds = 0,
                        Reason = reason,
                    },
                ],
                null,
                null,
                null,
                IsLeadersSight: false,
                reason
            );
        }

        var watchedFor = observation.WatchedFor;
        var sight = ClusterSight.Of(own);
        var told = ToldSight.Of(own, observation);
        bool isLeadersSight = sight.IsLeader || told is not null;
        sight = told?.Sight ?? sight;
        return new LiveCluster(
            [.. own.Members.Select(one => NodeOf(one, sight, observation, watchedFor, self, reason))],
            sight.LeaderTag,
            sight.SuccessorTag,
            sight.LimitedBy,
            isLeadersSight,
            own.Trouble
        );
    }

    private static LiveNode NodeOf(
        MemberStatistics one,
        ClusterSight sight,
        NodeObservation observation,
        TimeSpan watchedFor,
        string self,
        string? reason
    )
    {
        var member = one.Member;
        var seen = sight.Members.FirstOrDefault(known =>
            string.Equals(known.Tag, member.Tag, StringComparison.Ordinal)
        );
        var node = new LiveNode(
            member.Tag,
            member.Name,
            member.IsVoter,
            string.Equals(sight.LeaderTag, member.Tag, StringComparison.Ordinal),
            member.IsSelf
        )
        {
            Url = member.Url,
            LagEntries = seen?.LagEntries ?? one.LagEntries,
            SyncP99Milliseconds = seen?.SyncP99Milliseconds ?? one.SyncMicroseconds / 1000.0,
            SpareBytes = seen?.SpareBytes ?? one.SpareBytes,
        };
        if (string.Equals(member.Tag, self, StringComparison.Ordinal))
        {
            return node with { State = NodeState.Up, SeenSeconds = 0, Reason = reason };
        }

        var heard = observation.Find(member.Tag);
        bool? isHeard = heard?.IsHeard(watchedFor);
        return node with
        {
            // Of two that do not hear each other the leader's word counts: it is on it that writes depend.
            State =
                isHeard is true || seen?.IsReachable is true ? NodeState.Up
                : isHeard is false || seen?.IsReachable is false ? NodeState.Down
                : NodeState.Unknown,
            SeenSeconds = seen?.HeardSeconds ?? heard?.SeenSeconds,
            Reason = heard?.Word?.Reason,
            Sample = heard?.Word?.Sample,
        };
    }
}
