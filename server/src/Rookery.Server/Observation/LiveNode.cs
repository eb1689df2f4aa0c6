using Rookery.Documents.Consensus;

namespace Rookery.Server.Observation;

/// <summary>Whether a node answers.</summary>
internal enum NodeState
{
    /// <summary>No member has reported on it.</summary>
    Unknown,

    /// <summary>It answers this node or the leader.</summary>
    Up,

    /// <summary>It does not answer.</summary>
    Down,
}

/// <summary>One node as the dashboard shows it. Null means unknown.</summary>
/// <param name="Tag">Its tag.</param>
/// <param name="Name">Its name; empty for a single node.</param>
/// <param name="IsVoter">Whether it is a voter.</param>
/// <param name="IsLeader">Whether it is leader.</param>
/// <param name="IsSelf">Whether it is the node that answers this request.</param>
internal sealed record LiveNode(string Tag, string Name, bool IsVoter, bool IsLeader, bool IsSelf)
{
    /// <summary>URL for clients; null if unknown.</summary>
    public string? Url { get; init; }

    /// <summary>Whether it answers.</summary>
    public NodeState State { get; init; }

    /// <summary>Seconds since the node answered the leader, or this node if the leader does not report it.</summary>
    public double? SeenSeconds { get; init; }

    /// <summary>Number of log entries that it lacks; null if unknown.</summary>
    public long? LagEntries { get; init; }

    /// <summary>99th percentile of its recent journal syncs; null if unknown.</summary>
    public double? SyncP99Milliseconds { get; init; }

    /// <summary>Free bytes beyond its reserve; negative below it; null if unknown.</summary>
    public long? SpareBytes { get; init; }

    /// <summary>
    /// The directory of the node's journal if only the file system of the journal is full; known of this node only.
    /// </summary>
    public string? FullJournalDirectory { get; init; }

    /// <summary>Why it does not serve documents; null if it does, or if the reason is unknown.</summary>
    public string? Reason { get; init; }

    /// <summary>The node's last sample, in the JSON that it sent; null without one, and for this node itself.</summary>
    public byte[]? Sample { get; init; }

    /// <summary>Name for display.</summary>
    public string DisplayName => Name.Length > 0 ? Name : $"node {Tag}";

    /// <summary>Whether the node lacks no more entries than are usually in flight; null if unknown.</summary>
    public bool? HasCaughtUp
    {
        get
        {
            if (IsLeader)
            {
                return true;
            }

            if (LagEntries is { } lag)
            {
                return lag <= EntriesInFlight;
            }

            return null;
        }
    }

    // The same number as consensus uses to decide whether a member is still catching up.
    private const int EntriesInFlight = 4096;
}

/// <summary>
/// The cluster as the dashboard shows it: the leader's view if it is known, completed by this node's own view.
/// </summary>
/// <param name="Nodes">The nodes.</param>
/// <param name="LeaderTag">Tag of the leader; null if none is known.</param>
/// <param name="SuccessorTag">Tag of the member that would become leader next; null if it is not known or there is
/// none.</param>
/// <param name="LimitedBy">Tag of the member that limits the cluster's capacity; null if it is not known.</param>
/// <param name="IsLeadersView">Whether the view is the leader's.</param>
/// <param name="Trouble">Why this node cannot write; null if it can.</param>
internal sealed record LiveCluster(
    IReadOnlyList<LiveNode> Nodes,
    string? LeaderTag,
    string? SuccessorTag,
    string? LimitedBy,
    bool IsLeadersView,
    string? Trouble
)
{
    /// <summary>Number of votes that a majority needs.</summary>
    public int Majority => (Voters / 2) + 1;

    /// <summary>Number of voters.</summary>
    public int Voters => Nodes.Count(static node => node.IsVoter);

    /// <summary>Whether there is only one node.</summary>
    public bool IsAlone => Nodes.Count == 1;

    /// <summary>Combines this node's own view with the reports of other members.</summary>
    /// <param name="own">This node's own view of its cluster; null while its data are not open.</param>
    /// <param name="observation">What other members reported.</param>
    /// <param name="self">Tag of this node.</param>
    /// <param name="reason">Why it does not serve documents; null if it does.</param>
    /// <param name="name">Name of this node.</param>
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
                LeaderTag: null,
                SuccessorTag: null,
                LimitedBy: null,
                IsLeadersView: false,
                reason
            );
        }

        var watchedFor = observation.WatchedFor;
        var view = ClusterReport.Of(own);
        var leaderReport = LeaderReport.Of(own, observation);
        bool isLeadersView = view.IsLeader || leaderReport is not null;
        view = leaderReport?.View ?? view;
        return new LiveCluster(
            [.. own.Members.Select(statistics => NodeOf(statistics, view, observation, watchedFor, self, reason))],
            view.LeaderTag,
            view.SuccessorTag,
            view.LimitedBy,
            isLeadersView,
            own.Trouble
        );
    }

    private static LiveNode NodeOf(
        MemberStatistics statistics,
        ClusterReport view,
        NodeObservation observation,
        TimeSpan watchedFor,
        string self,
        string? reason
    )
    {
        var member = statistics.Member;
        var reported = view.Members.FirstOrDefault(known =>
            string.Equals(known.Tag, member.Tag, StringComparison.Ordinal)
        );
        var node = new LiveNode(
            member.Tag,
            member.Name,
            member.IsVoter,
            string.Equals(view.LeaderTag, member.Tag, StringComparison.Ordinal),
            member.IsSelf
        )
        {
            Url = member.Url,
            LagEntries = reported?.LagEntries ?? statistics.LagEntries,
            SyncP99Milliseconds = reported?.SyncP99Milliseconds ?? statistics.SyncMicroseconds / 1000.0,
            SpareBytes = reported?.SpareBytes ?? statistics.SpareBytes,
            FullJournalDirectory = statistics.FullJournalDirectory,
        };
        if (string.Equals(member.Tag, self, StringComparison.Ordinal))
        {
            return node with { State = NodeState.Up, SeenSeconds = 0, Reason = reason };
        }

        var observed = observation.Find(member.Tag);
        bool? isHeard = observed?.IsAnswering(watchedFor);
        return node with
        {
            // If this node and the leader disagree, a member that one of them reaches counts as up.
            State =
                isHeard is true || reported?.IsReachable is true ? NodeState.Up
                : isHeard is false || reported?.IsReachable is false ? NodeState.Down
                : NodeState.Unknown,
            SeenSeconds = reported?.HeardSeconds ?? observed?.SeenSeconds,
            Reason = observed?.LastAnswer?.Reason,
            Sample = observed?.LastAnswer?.Sample,
        };
    }
}
