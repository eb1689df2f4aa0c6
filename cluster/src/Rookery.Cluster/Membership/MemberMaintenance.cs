using Rookery.Cluster.Forming;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Peers;
using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>
/// The background loop of a member, once a second. It connects to the recorded members, stores their addresses,
/// announces this node's address, and renews its certificate. On the leader it completes admissions and promotes
/// caught-up learners. In an idle cluster it writes nothing.
/// </summary>
internal sealed class MemberMaintenance(
    RaftConsensus consensus,
    PeerNetwork network,
    IdentityKeeper keeper,
    IJoinRecordStore recordStore,
    AuthorityRotation rotation,
    AddressKeeper addressKeeper,
    IReadOnlyList<string> configuredPeers,
    Func<CancellationToken, Task<IReadOnlyList<AnnouncedNode>>> browse,
    Func<bool> hasDamage,
    Func<NodeId, CancellationToken, Task<int>> repairFrom,
    Action<string> log,
    Action<string> note,
    TimeProvider time
) : IAsyncDisposable
{
    // Rounds between repairs. The first repair starts as soon as damage is found.
    private const int RoundsBetweenRepairs = 30;

    // After this number of rounds without a leader, the lack of a leader is logged. It equals the time for which a
    // node needs the pre-votes of all voters after an unclean stop.
    private const int RoundsUntilLeaderless = 20;

    // Rounds between searches for members in the network: more than an election takes.
    private const int RoundsBetweenBrowses = 15;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private static readonly ILookup<string, string> NoAddresses = Array
        .Empty<string>()
        .ToLookup(static node => node, StringComparer.Ordinal);

    private readonly CancellationTokenSource _stopping = new();
    private readonly Announcement _announcement = new(() => keeper.Current, recordStore, time);
    private readonly MembershipUpkeep _upkeep = new(consensus, recordStore.AddLearner, note);
    private readonly RetriedTasks _tasks = new("This node's records of its cluster could not be updated", log, time);
    private PeerAddress[] _peers = [];
    private Task? _loop;
    private Task _proposing = Task.CompletedTask;
    private Task _repairing = Task.CompletedTask;
    private Task _browsing = Task.CompletedTask;
    private ILookup<string, string> _announcedAddresses = NoAddresses;
    private MemberFacts? _announced;
    private int _roundsWithDamage;
    private int _roundsWithoutLeader;

    public void Start() => _loop = RunAsync();

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        if (_loop is not null)
        {
            await _loop;
            await _proposing;
            await _repairing;
            await _browsing;
        }

        _stopping.Dispose();
    }

    private async Task RunAsync()
    {
        using var timer = new PeriodicTimer(Interval, time);
        try
        {
            do
            {
                DoRound();
            } while (await timer.WaitForNextTickAsync(_stopping.Token));
        }
        catch (OperationCanceledException)
        {
            // The node is stopping.
        }
    }

    private void DoRound()
    {
        _tasks.Try(UpdatePeers, _stopping.Token);
        _tasks.Try(addressKeeper.DoRound, _stopping.Token);
        if (_proposing.IsCompleted)
        {
            // Concurrently, because this waits for a leader, and an election may need connections that later rounds
            // make.
            _proposing = ProposeAsync();
        }

        _tasks.Try(_upkeep.DoRound, _stopping.Token);
        _tasks.Try(WatchForLeader, _stopping.Token);
        _roundsWithDamage = hasDamage() ? _roundsWithDamage + 1 : 0;
        if (_roundsWithDamage % RoundsBetweenRepairs == 1 && _repairing.IsCompleted)
        {
            // Concurrently, because the duration depends on the other members.
            _repairing = RepairAsync();
        }
    }

    /// <summary>
    /// Sets the peers to connect to. A node that has just joined has no records, and uses the peers that its join
    /// returned. A restarted node's records may be old, so it also uses the last known peers.
    /// </summary>
    private void UpdatePeers()
    {
        KnownPeer[] recorded =
        [
            .. consensus
                .Roster.Entries.Where(entry => entry.Member != consensus.Self)
                .Select(static entry => new KnownPeer(entry.NodeId, entry.Record.Addresses)),
        ];
        bool isKnown = consensus.Roster.Of(consensus.Self) is not null;
        var configuration = consensus.ReadState().Configuration;
        KnownPeer[] known =
        [
            .. recorded,
            .. keeper.Current.Peers.Where(peer =>
                configuration.IsMember(Members.IdOf(peer.NodeId))
                && consensus.Roster.Of(Members.IdOf(peer.NodeId)) is null
            ),
        ];

        // The only member of a cluster has no peers. If it kept removed peers, its next start would wait for them.
        if (
            isKnown
            && (
                known.Length > 0
                || (consensus.IsLeader && configuration.Voters.Length == 1 && configuration.Learners.IsEmpty)
            )
        )
        {
            keeper.KeepPeers(known);
        }

        // Configured and announced addresses come last, because they may belong to other nodes.
        var configured = configuredPeers.Except(addressKeeper.Facts.Addresses, StringComparer.Ordinal);
        var announced = Volatile.Read(ref _announcedAddresses);
        PeerAddress WithAllAddresses(KnownPeer peer)
        {
            var addresses = peer
                .Addresses.Union(configured, StringComparer.Ordinal)
                .Union(announced[peer.NodeId], StringComparer.Ordinal);
            return new PeerAddress(Members.IdOf(peer.NodeId), [.. addresses]);
        }

        IReadOnlyList<KnownPeer> used = isKnown ? known : keeper.Current.Peers;
        PeerAddress[] peers = WithCallers([.. used.Select(WithAllAddresses)], network.Callers());
        if (!AreSame(peers, _peers))
        {
            _peers = peers;
            network.SetPeers(peers);
        }
    }

    /// <summary>
    /// Adds nodes that are connected to this node and are not among the known peers. This node may lack their records,
    /// and needs a connection to answer them.
    /// </summary>
    internal static PeerAddress[] WithCallers(PeerAddress[] known, IReadOnlyList<PeerAddress> callers) =>
        [.. known, .. callers.Where(caller => !Array.Exists(known, peer => peer.Node == caller.Node))];

    /// <summary>
    /// Logs once that no leader is known, and browses the network for the members' addresses until a leader is known.
    /// </summary>
    private void WatchForLeader()
    {
        _roundsWithoutLeader = consensus.Leader.IsNone ? _roundsWithoutLeader + 1 : 0;
        if (
            _roundsWithoutLeader == RoundsUntilLeaderless
            && consensus.ReadCluster() is { Trouble: { } trouble, Unreached: var unreached }
        )
        {
            log(string.Join(' ', [trouble, .. unreached]));
        }

        if (_roundsWithoutLeader == 0)
        {
            Volatile.Write(ref _announcedAddresses, NoAddresses);
        }
        else if (
            _roundsWithoutLeader % RoundsBetweenBrowses == 0
            && _browsing.IsCompleted
            && keeper.Current.Peers.Count > 0
        )
        {
            _browsing = _tasks.TryAsync(BrowseAsync, _stopping.Token);
        }
    }

    /// <summary>
    /// Collects announced addresses of the members, because all of them may have new addresses. Certificates prove
    /// which member answers at an address.
    /// </summary>
    private async Task BrowseAsync()
    {
        var nodes = await browse(_stopping.Token);
        var ours = nodes.Where(node =>
            string.Equals(node.ClusterId, keeper.Current.ClusterId, StringComparison.Ordinal)
            && MemberAddress.IsValid(node.Address)
        );

        // Announcements are unauthenticated, so limit the addresses for each node.
        var limited = ours.GroupBy(static node => node.NodeId, StringComparer.Ordinal)
            .SelectMany(static node => node.Take(MemberAddress.MaxAddresses));
        Volatile.Write(
            ref _announcedAddresses,
            limited.ToLookup(static node => node.NodeId, static node => node.Address, StringComparer.Ordinal)
        );
    }

    private async Task ProposeAsync()
    {
        await _tasks.TryAsync(AnnounceAsync, _stopping.Token);
        await _tasks.TryAsync(async () => await rotation.StepAsync(_stopping.Token), _stopping.Token);
    }

    private async Task AnnounceAsync()
    {
        var facts = addressKeeper.Facts;

        // A member that just joined waits until its own record has arrived.
        bool isKnown = consensus.Roster.Of(consensus.Self) is not null;
        if (
            facts != _announced
            && (isKnown || consensus.IsLeader)
            && await _announcement.AnnounceAsync(facts, _stopping.Token) is null
        )
        {
            _announced = facts;
        }
    }

    /// <summary>Repairs damaged runs of this node with rows of the other members, trying each in turn.</summary>
    private async Task RepairAsync()
    {
        bool isRepaired = false;
        foreach (var peer in _peers)
        {
            await _tasks.TryAsync(
                async () =>
                {
                    int repaired = isRepaired ? 0 : await repairFrom(peer.Node, _stopping.Token);
                    if (repaired > 0)
                    {
                        isRepaired = true;
                        log(
                            $"{repaired} damaged part(s) of this node's data were repaired from "
                                + $"{consensus.Roster.NameAndTagOf(peer.Node)}. Check this node's card."
                        );
                    }
                },
                _stopping.Token
            );
        }
    }

    private static bool AreSame(PeerAddress[] one, PeerAddress[] other) =>
        one.Length == other.Length
        && one.Zip(other)
            .All(static pair =>
                pair.First.Node == pair.Second.Node
                && pair.First.Addresses.SequenceEqual(pair.Second.Addresses, StringComparer.Ordinal)
            );
}
