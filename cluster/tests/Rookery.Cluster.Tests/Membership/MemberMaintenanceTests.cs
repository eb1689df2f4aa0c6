using Rookery.Cluster.Forming;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Tests.Identity;
using Rookery.Cluster.Tests.Joining;
using Rookery.Cluster.Tests.Peers;
using Rookery.Cluster.Tests.Simulation;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Membership;

public sealed class MemberMaintenanceTests : IDisposable
{
    private const string Data = "/data";

    // Nothing listens at these addresses. Port 1 is the other member's last known one, 2 and 3 are this node's own, 4
    // is configured for every peer, and the ports from 5 on are announced.
    private static readonly KnownPeer Moved = new("pi-2", ["127.0.0.1:1"]);

    private static readonly Guid Store = Guid.Parse("00000000-0000-0000-0000-000000000001");

    private readonly SimulatedDisk _disk = new(Data);
    private readonly SimulatedTimeProvider _time = new(TestAuthority.Now);
    private readonly ClusterAuthority _authority = TestAuthority.Create();
    private readonly IdentityKeeper _keeper;

    public MemberMaintenanceTests()
    {
        var identity = TestAuthority.CreateIdentity(_authority);
        IdentityDirectory.Create(_disk, Data, identity);
        _keeper = new IdentityKeeper(_disk, Data, identity);
        _keeper.KeepPeers([]);
    }

    public void Dispose()
    {
        _keeper.Current.Dispose();
        _authority.Dispose();
    }

    [Fact]
    public async Task A_member_that_waits_for_a_leader_connects_to_newly_known_members()
    {
        using var store = NodeStore.Open(
            new NodeOptions
            {
                DataDirectory = Data,
                SegmentBytes = 64 << 10,
                MemtableBytes = 48 << 10,
                Reserve = new ReserveRule(Bytes: 0, Fraction: 0),
            },
            _disk,
            new MemoryBudget(16 << 20),
            new SilentRecorder(),
            _time
        );
        await using var network = new PeerNetwork(
            TestMember.Hello(TestAuthority.NodeId),
            TestMember.TrustOf(_authority, TestAuthority.NodeId),
            new TestAdmission(),
            _time,
            static _ => { }
        );
        using var consensus = RaftConsensus.Open(
            store,
            new ConsensusOptions { Network = network, MayFoundCluster = true }
        );
        network.Start(consensus);
        var recordStore = new MemoryRecordStore { CaughtUp = new TaskCompletionSource<bool>() };
        await using var maintenance = MaintenanceOf(consensus, network, recordStore);
        maintenance.Start();
        await RoundsUntilAsync(() => recordStore.Waiting > 0, "the member waits for a leader");

        _keeper.KeepPeers([Moved]);
        await RoundsUntilAsync(
            () => network.Status().Any(static peer => peer.Node == Members.IdOf(Moved.NodeId)),
            "the member connects to the new peer"
        );

        // The configured addresses are dialled too, except this node's own.
        Assert.Equal([.. Moved.Addresses, "127.0.0.1:4"], network.AddressesOf(Members.IdOf(Moved.NodeId)));
        Assert.Equal((1, 0), (recordStore.Waiting, recordStore.Changes));

        recordStore.CaughtUp.SetResult(true);
        await RoundsUntilAsync(() => recordStore.Changes > 0, "the member has announced itself");
    }

    [Fact]
    public async Task A_member_without_a_leader_dials_announced_addresses()
    {
        using var store = NodeStore.Open(
            new NodeOptions
            {
                DataDirectory = Data,
                SegmentBytes = 64 << 10,
                MemtableBytes = 48 << 10,
                Reserve = new ReserveRule(Bytes: 0, Fraction: 0),
            },
            _disk,
            new MemoryBudget(16 << 20),
            new SilentRecorder(),
            _time
        );
        await using var network = new PeerNetwork(
            TestMember.Hello(TestAuthority.NodeId),
            TestMember.TrustOf(_authority, TestAuthority.NodeId),
            new TestAdmission(),
            _time,
            static _ => { }
        );
        using var consensus = RaftConsensus.Open(
            store,
            new ConsensusOptions { Network = network, MayFoundCluster = false }
        );
        network.Start(consensus);
        _keeper.KeepPeers([Moved]);
        int browses = 0;
        await using var maintenance = MaintenanceOf(
            consensus,
            network,
            new MemoryRecordStore { CaughtUp = new TaskCompletionSource<bool>() },
            _ =>
            {
                browses++;
                return Task.FromResult<IReadOnlyList<AnnouncedNode>>([
                    new(Moved.NodeId, "pi-2", TestAuthority.ClusterId, "127.0.0.1:5", null),
                    new(Moved.NodeId, "pi-2", TestAuthority.ClusterId, "nowhere", null),
                    new(Moved.NodeId, "pi-2", "strangerclusterstrange", "127.0.0.1:6", null),
                    new("anothernodeanothernode", "pi-3", TestAuthority.ClusterId, "127.0.0.1:7", null),
                ]);
            }
        );
        maintenance.Start();
        await RoundsUntilAsync(() => browses > 1, "the member browses a second time");
        await RoundsUntilAsync(
            () => network.AddressesOf(Members.IdOf(Moved.NodeId)) is [.., "127.0.0.1:5"],
            "the announced address of the moved member is known"
        );
        Assert.Equal(
            [.. Moved.Addresses, "127.0.0.1:4", "127.0.0.1:5"],
            network.AddressesOf(Members.IdOf(Moved.NodeId))
        );
    }

    private MemberMaintenance MaintenanceOf(
        RaftConsensus consensus,
        PeerNetwork network,
        MemoryRecordStore recordStore,
        Func<CancellationToken, Task<IReadOnlyList<AnnouncedNode>>>? browse = null
    ) =>
        new(
            consensus,
            network,
            _keeper,
            recordStore,
            new AuthorityRotation(() => _keeper.Current, _keeper.Change, recordStore, _time),
            new AddressKeeper(
                _keeper,
                () =>
                    new MemberFacts(
                        Store,
                        StartNumber: 1,
                        StartId: 1,
                        Addresses: ["127.0.0.1:2"],
                        ClientUrls: ["https://127.0.0.1:3"],
                        PublicUrl: null
                    ),
                () => new SigningClock(_time.GetUtcNow(), IsSure: true),
                static _ => { }
            ),
            configuredPeers: ["127.0.0.1:2", "127.0.0.1:4"],
            browse ?? (static _ => Task.FromResult<IReadOnlyList<AnnouncedNode>>([])),
            hasDamage: static () => false,
            repairFrom: static (_, _) => Task.FromResult(0),
            log: static _ => { },
            note: static _ => { },
            _time
        );

    /// <summary>Lets a second pass, and so a round of the maintenance run, until a condition holds.</summary>
    private Task RoundsUntilAsync(Func<bool> holds, string claim) =>
        Eventually.HoldsAsync(
            () =>
            {
                _time.Advance(TimeSpan.FromSeconds(1));
                return holds();
            },
            claim
        );
}
