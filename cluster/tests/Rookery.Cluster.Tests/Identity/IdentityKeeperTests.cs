using Rookery.Cluster.Identity;
using Rookery.Documents.Consensus;
using Rookery.Simulation;
using static Rookery.Cluster.Tests.Identity.TestAuthority;

namespace Rookery.Cluster.Tests.Identity;

/// <summary>The identity of a running node, which is stored whenever it changes.</summary>
public sealed class IdentityKeeperTests : IDisposable
{
    private static readonly NodeNames Home = Names("192.168.1.5");
    private static readonly NodeNames Elsewhere = Names("192.168.1.77");

    private readonly ClusterAuthority _authority = Create();
    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new(Now);
    private readonly IdentityKeeper _keeper;

    public IdentityKeeperTests()
    {
        var identity = CreateIdentity(_authority);
        IdentityDirectory.Create(_disk, "/data", identity);
        _keeper = new IdentityKeeper(_disk, "/data", identity);
    }

    public void Dispose() => _authority.Dispose();

    [Fact]
    public void A_certificate_is_signed_anew_at_two_thirds_of_its_life_and_stored()
    {
        Assert.False(_keeper.RenewIfDue(Home, Clock));

        // Two thirds of 397 days, which began the day before the signing, end after 263.7 days.
        _time.Advance(TimeSpan.FromDays(264));
        NodeIdentity? published = null;
        _keeper.Changed = identity => published = identity;
        Assert.True(_keeper.RenewIfDue(Home, Clock));
        Assert.False(_keeper.RenewIfDue(Home, Clock));
        Assert.Same(_keeper.Current, published);
        using var loaded = IdentityDirectory.TryLoad(_disk, "/data")!;
        Assert.Equal(_keeper.Current.Certificate.RawData, loaded.Certificate.RawData);
        Assert.Equal(Now.AddDays(263), CertificateLife.Of(loaded.Certificate).NotBefore);
    }

    [Fact]
    public void A_certificate_is_signed_anew_when_the_machine_has_moved()
    {
        Assert.True(_keeper.RenewIfDue(Elsewhere, Clock));
        Assert.True(_keeper.Current.Certificate.MatchesHostname("192.168.1.77"));
        Assert.Equal(NodeId, _keeper.Current.PeerRule.Judge(_keeper.Current.Certificate, PeerRole.Client).NodeId);
    }

    /// <summary>
    /// A rotation runs concurrently with the maintenance, which stores peers and renews certificates.
    /// </summary>
    [Fact]
    public void Peers_that_are_stored_while_the_identity_changes_are_not_lost()
    {
        using var next = Create();
        using var signed = next.SignNode(new(_keeper.Current.Key), NodeId, Home, Now);
        var peers = new KnownPeer[] { new("another", ["192.0.2.7:9443"]) };
        var keepingPeers = new Thread(() => _keeper.KeepPeers(peers));
        _keeper.Change(current =>
        {
            keepingPeers.Start();
            return current.With(
                [next.Certificate, _authority.Certificate],
                next.SealKeyFor(new(current.Key)),
                signed,
                current.Certificate
            );
        });
        keepingPeers.Join();
        Assert.Equal(peers, _keeper.Current.Peers);
        Assert.Equal(2, _keeper.Current.Authorities.Count);
    }

    [Fact]
    public void After_a_move_clients_see_a_certificate_for_the_new_address_even_during_a_rotation()
    {
        using var next = Create();
        using var signed = next.SignNode(new(_keeper.Current.Key), NodeId, Home, Now);
        _keeper.Change(current =>
            current.With(
                [next.Certificate, _authority.Certificate],
                next.SealKeyFor(new(current.Key)),
                signed,
                current.Certificate
            )
        );
        Assert.False(_keeper.RenewIfDue(Home, Clock));
        Assert.NotSame(signed, _keeper.Current.CertificateForClients);
        Assert.True(_keeper.RenewIfDue(Elsewhere, Clock));
        Assert.True(_keeper.Current.CertificateForClients.MatchesHostname("192.168.1.77"));
    }

    [Theory]
    [InlineData("1970-01-01T00:00:00Z")]
    [InlineData("2026-01-02T00:00:00Z")]
    public void A_slow_clock_that_is_not_sure_renews_nothing(string clock)
    {
        var slow = SlowClock(clock);
        Assert.False(_keeper.NeedsRenewal(slow));
        Assert.False(_keeper.RenewIfDue(Home, slow));
    }

    /// <summary>Signed with that clock, the new certificate would end earlier than the replaced one.</summary>
    [Theory]
    [InlineData("1970-01-01T00:00:00Z")]
    [InlineData("2026-01-02T00:00:00Z")]
    public void A_slow_clock_on_a_machine_that_moved_makes_no_certificate_that_ends_earlier(string clock)
    {
        var life = CertificateLife.Of(_keeper.Current.Certificate);
        Assert.True(_keeper.RenewIfDue(Elsewhere, SlowClock(clock)));
        Assert.True(_keeper.Current.Certificate.MatchesHostname("192.168.1.77"));
        Assert.Equal(life, CertificateLife.Of(_keeper.Current.Certificate));
    }

    /// <summary>
    /// Clients would refuse the new certificate as not yet valid, and this node would keep it until its time is sure.
    /// </summary>
    [Theory]
    [InlineData(0)]
    [InlineData(30)]
    public void A_fast_clock_in_doubt_makes_no_certificate_of_the_future(int daysOfCluster)
    {
        var cluster =
            daysOfCluster == 0 ? default : new ClusterTime(Now.AddDays(daysOfCluster).UtcTicks, IsSure: false);
        var fast = SigningClock.Of(cluster, new SimulatedTimeProvider(Now.AddYears(10)), isSynchronised: false);
        var life = CertificateLife.Of(_keeper.Current.Certificate);
        Assert.False(_keeper.RenewIfDue(Home, fast));
        Assert.True(_keeper.RenewIfDue(Elsewhere, fast));
        Assert.Equal(life.NotBefore.AddDays(daysOfCluster), CertificateLife.Of(_keeper.Current.Certificate).NotBefore);
    }

    /// <summary>A member that finds no majority after its start has no time of the cluster.</summary>
    [Fact]
    public void A_synchronised_clock_replaces_a_certificate_of_the_future_without_the_cluster()
    {
        Assert.True(_keeper.RenewIfDue(Elsewhere, new SigningClock(Now.AddYears(10), IsSure: true)));
        var synchronised = SigningClock.Of(default, new SimulatedTimeProvider(Now), isSynchronised: true);
        Assert.True(_keeper.RenewIfDue(Elsewhere, synchronised));
        Assert.InRange(_keeper.Current.Certificate.NotBefore.ToUniversalTime(), DateTime.MinValue, Now.UtcDateTime);
    }

    /// <summary>This node cannot sign another certificate of the old authority, whose key it no longer has.</summary>
    [Fact]
    public void A_slow_clock_during_a_rotation_keeps_the_certificate_that_clients_trust()
    {
        using var next = Create();
        using var signed = next.SignNode(new(_keeper.Current.Key), NodeId, Home, Now);
        var shown = _keeper.Current.Certificate;
        _keeper.Change(current =>
            current.With(
                [next.Certificate, _authority.Certificate],
                next.SealKeyFor(new(current.Key)),
                signed,
                current.Certificate
            )
        );
        Assert.False(_keeper.RenewIfDue(Home, SlowClock("2026-01-02T00:00:00Z")));
        Assert.Same(shown, _keeper.Current.CertificateForClients);
    }

    [Fact]
    public void Peers_are_written_only_when_they_have_changed()
    {
        int before = _disk.OperationCount;
        _keeper.KeepPeers([.. _keeper.Current.Peers.Select(peer => new KnownPeer(peer.NodeId, [.. peer.Addresses]))]);
        Assert.Equal(before, _disk.OperationCount);
        _keeper.KeepPeers([new KnownPeer("third", ["pi-3.local:9080"])]);
        using var loaded = IdentityDirectory.TryLoad(_disk, "/data")!;
        Assert.Equal("third", Assert.Single(loaded.Peers).NodeId);
    }

    private SigningClock Clock => new(_time.GetUtcNow(), IsSure: true);

    private static SigningClock SlowClock(string now) => new(DateTimeOffset.Parse(now), IsSure: false);
}
