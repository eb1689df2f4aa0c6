using Rookery.Cluster.Membership;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Reports this node's role, the members and the replication lag to operators, clients and
/// <see cref="MemberMaintenance"/>.
/// </summary>
/// <remarks>
/// Callable from any thread. Values that must be consistent are read within one critical section of the lock of
/// <see cref="RaftHost"/>.
/// </remarks>
internal sealed class ClusterReport(
    RaftHost host,
    NodeStore store,
    MemberRoster roster,
    ReadIndexService reads,
    NodeMeasures measures,
    MemberDiagnosis diagnosis
)
{
    private CachedView? _view;

    /// <summary>Whether this node is the leader and accepts writes.</summary>
    public bool IsLeader => host.Refusal is null && host.Leadership.IsReady;

    /// <summary>The tag of the leader that this node knows; null if it knows none.</summary>
    public string? LeaderTag => IsLeader ? roster.TagOf(host.Self) : roster.Of(host.Leadership.Leader)?.Record.Tag;

    /// <summary>
    /// Whether this node has applied all entries that were committed when it first requested a read index in this term.
    /// </summary>
    public bool HasCaughtUp => !host.Leadership.Leader.IsNone && reads.CaughtUpTerm == host.Core.Term;

    /// <summary>The members as clients see them; recomputed only after a change.</summary>
    public ClusterView View
    {
        get
        {
            var stamp = Stamp;
            var cachedView = Volatile.Read(ref _view);
            if (cachedView is null || cachedView.Stamp != stamp)
            {
                cachedView = new CachedView(stamp, roster.View(ReadState()));
                Volatile.Write(ref _view, cachedView);
            }

            return cachedView.View;
        }
    }

    /// <summary>Whether <see cref="View"/> was computed after the last change.</summary>
    public bool IsViewCurrent => Volatile.Read(ref _view) is { } cached && cached.Stamp == Stamp;

    // Changes whenever the view must be computed again.
    private (long Leadership, long Records) Stamp => (host.Leadership.Stamp, store.ClusterRecords.Revision);

    /// <summary>Returns the current state of consensus.</summary>
    public ConsensusState ReadState()
    {
        lock (host.Gate)
        {
            return new ConsensusState(
                host.Core.Role,
                host.Core.Term,
                host.Core.Leader,
                host.Core.Configuration,
                host.Core.WasRemoved,
                host.Core.IsDamaged,
                host.Core.ConfigurationIndex,
                host.Core.ChangeIsPending,
                host.Core.Last.Index,
                host.Core.DurableIndex,
                host.Core.CommitIndex,
                host.Progress.Applied,
                host.Core.ElectionTimeoutMicroseconds,
                measures.Health.SlowWriteMicroseconds
            );
        }
    }

    /// <summary>Returns the node's view of the cluster, for statistics.</summary>
    public ConsensusStatistics ReadCluster()
    {
        ConsensusState state;
        IReadOnlyList<PeerProgress> peers;
        long lastTerm;
        ClockStatistics clock;
        NodeId successor;
        lock (host.Gate)
        {
            state = ReadState();
            peers = host.Core.ReadPeers();
            successor = host.Core.Successor;
            lastTerm = host.Core.Last.Term;
            clock = measures.Time.ReadStatistics();
        }

        bool takesPart = diagnosis.WhyNoPart(state) is null;
        if (!takesPart)
        {
            // The role, peers and clock are from before the node stopped participating, so they are not reported.
            state = state with
            {
                Role = Role.Follower,
                Leader = NodeId.None,
            };
            peers = [];
            clock = clock with { Doubt = null };
        }

        return new ConsensusStatistics(
            takesPart ? NameRole(state) : ConsensusStatistics.NoRole,
            state.Term,
            state.Leader.IsNone ? null : LeaderTag,
            state.LastIndex,
            lastTerm,
            state.CommitIndex,
            state.AppliedIndex,
            NullIfUnmeasured(state.SyncMicroseconds),
            state.ElectionTimeoutMicroseconds,
            diagnosis.TroubleIn(state),
            [.. roster.Listed(state).Select(member => DescribeMember(member, state, peers, clock, takesPart))]
        )
        {
            Unready = diagnosis.WhyUnready(state),
            Unreached =
                takesPart && state.Leader.IsNone
                    ? [.. diagnosis.UnreachedIn(state.Configuration).Select(diagnosis.DescribeSearch)]
                    : [],
            Clock = clock,
            SuccessorTag = successor.IsNone ? null : roster.Of(successor)?.Record.Tag,
            Capacity = measures.Space.Capacity,
        };
    }

    private string NameRole(ConsensusState state) =>
        state.Configuration.IsLearner(host.Self) ? "Learner" : state.Role.ToString();

    /// <summary>Returns the leader's view of the cluster; null when this node does not lead.</summary>
    public LeaderView? ReadAsLeader()
    {
        ConsensusState state;
        IReadOnlyList<PeerProgress> peers;
        lock (host.Gate)
        {
            state = ReadState();
            peers = host.Core.ReadPeers();
        }

        return state.Role != Role.Leader
            ? null
            : new LeaderView(
                host.Self,
                state.Term,
                state.Term + state.LastIndex,
                state.Configuration,
                roster.Entries,
                peers.Where(static peer => peer.IsReachable).Select(static peer => peer.Node).ToHashSet(),
                TimeSpan.FromMicroseconds(state.ElectionTimeoutMicroseconds)
            );
    }

    /// <summary>Returns the replication progress of the other members; empty unless this node leads.</summary>
    public IReadOnlyList<PeerProgress> ReadPeers()
    {
        lock (host.Gate)
        {
            return host.Core.ReadPeers();
        }
    }

    /// <summary>Replaces 0, which means that no write was measured, with null.</summary>
    private static long? NullIfUnmeasured(long microseconds) => microseconds > 0 ? microseconds : null;

    private MemberStatistics DescribeMember(
        ClusterViewMember member,
        ConsensusState state,
        IReadOnlyList<PeerProgress> peers,
        in ClockStatistics clock,
        bool takesPart
    )
    {
        long version = roster.Of(Members.IdOf(member.NodeId))?.Version ?? 0;
        if (member.IsSelf)
        {
            // This node learns the commit index only from a leader, so without one its own lag is unknown.
            bool knowsCommit = state.Role == Role.Leader || (!state.Leader.IsNone && HasCaughtUp);
            return new MemberStatistics(
                member,
                version,
                IsReachable: takesPart,
                knowsCommit ? Math.Max(0, state.CommitIndex - state.AppliedIndex) : null,
                NullIfUnmeasured(state.SyncMicroseconds)
            )
            {
                ClockAheadSeconds = clock.Time.UtcTicks == 0 ? null : clock.OwnAheadSeconds,
                IsClockSynchronised = clock.IsOwnSynchronised,
                SpareBytes = store.Space.SpareBytes,
                FullJournalDirectory = store.Space.FullJournalDirectory,
            };
        }

        var node = Members.IdOf(member.NodeId);
        foreach (var peer in peers)
        {
            if (peer.Node == node)
            {
                // A new leader knows nothing about a member until the member answers.
                if (peer.LastContact is not { } lastContact)
                {
                    return new MemberStatistics(
                        member,
                        version,
                        IsReachable: false,
                        LagEntries: null,
                        SyncMicroseconds: null
                    );
                }

                bool hasClock = peer.Clock.UtcTicks != 0;
                return new MemberStatistics(
                    member,
                    version,
                    peer.IsReachable,
                    peer.Match is { } match ? Math.Max(0, state.LastIndex - match) : null,
                    NullIfUnmeasured(peer.SyncMicroseconds)
                )
                {
                    HeardSeconds = Math.Max(0, host.Now - lastContact) / 1e6,
                    ClockAheadSeconds = hasClock
                        ? ClusterTimeSource.AheadSeconds(peer.Clock.UtcTicks, clock.Time)
                        : null,
                    IsClockSynchronised = hasClock ? peer.Clock.IsSure : null,
                    SpareBytes = peer.SpareBytes,
                };
            }
        }

        return new MemberStatistics(member, version, IsReachable: null, LagEntries: null, SyncMicroseconds: null);
    }

    /// <summary>The members as clients see them, as computed after the last change.</summary>
    /// <param name="Stamp">The revisions from which the view was computed.</param>
    /// <param name="View">The view.</param>
    private sealed record CachedView((long Leadership, long Records) Stamp, ClusterView View);
}
