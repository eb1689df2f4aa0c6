using Rookery.Cluster.Identity;
using Rookery.Simulation;
using static Rookery.Cluster.Tests.Identity.TestAuthority;

namespace Rookery.Cluster.Tests.Identity;

public sealed class IdentityKeeperTests : IDisposable
{
    private static readonly NodeNames Home = Names("192.168.1.5");
    private static readonly NodeNames Elsewhere = Names("192.168.1.77");

    private readonly ClusterAuthority authority = Create();
    private readonly SimulatedDisk disk = new("/data");
    private readonly SimulatedTimeProvider time = new(Now);
    private readonly IdentityKeeper keeper;

    public IdentityKeeperTests()
    {
        var identity = CreateIdentity(authority);
        IdentityDirectory.Create(disk, "/data", identity);
        keeper = new IdentityKeeper(disk, "/data", identity);
    }

    public void Dispose() => authority.Dispose();

    [Fact]
    public void A_certificate_is_signed_anew_at_two_thirds_of_its_life_and_kept()
    {
        Assert.False(keeper.RenewIfDue(Home, time.GetUtcNow()));
        time.Advance(TimeSpan.FromDays(264));
        NodeIdentity? told = null;
        keeper.Changed = identity => told = identity;
        Assert.True(keeper.RenewIfDue(Home, time.GetUtcNow()));
        Assert.False(keeper.RenewIfDue(Home, time.GetUtcNow()));
        Assert.Same(keeper.Current, told);
        using var loaded = IdentityDirectory.TryLoad(disk, "/data")!;
        Assert.Equal(keeper.Current.Certificate.RawData, loaded.Certificate.RawData);
        Assert.Equal(Now.AddDays(263), CertificateLife.Of(loaded.Certificate).NotBefore);
    }

    [Fact]
    public void A_certificate_is_signed_anew_when_the_machine_has_moved()
    {
        Assert.True(keeper.RenewIfDue(Elsewhere, time.GetUtcNow()));
        Assert.True(keeper.Current.Certificate.MatchesHostname("192.168.1.77"));
        Assert.Equal(NodeId, keeper.Current.PeerRule.Judge(keeper.Current.Certificate, PeerRole.Client).NodeId);
    }

    /// <summary>A rotation goes on beside the steward, which notes peers and renews certificates.</summary>
    [Fact]
    public void What_is_noted_while_the_identity_is_changed_is_not_lost()
    {
        using var next = Create();
        using var signed = next.SignNode(new(keeper.Current.Key), NodeId, Home, Now);
        var peers = new KnownPeer[] { new("another", ["192.0.2.7:9443"]) };
        var noting = new Thread(() => keeper.KeepPeers(peers));
        keeper.Change(current =>
        {
            noting.Start();
            return current.With([next.Certificate, authority.Certificate], next.SealKeyFor(new(current.Key)), signed, current.Certificate);
        });
        noting.Join();
        Assert.Equal(peers, keeper.Current.Peers);
        Assert.Equal(2, keeper.Current.Authorities.Count);
    }

    [Fact]
    public void A_machine_that_moved_shows_clients_no_certificate_of_before()
    {
        using var next = Create();
        using var signed = next.SignNode(new(keeper.Current.Key), NodeId, Home, Now);
        keeper.Change(current => current.With([next.Certificate, authority.Certificate], next.SealKeyFor(new(current.Key)), signed, current.Certificate));
        Assert.False(keeper.RenewIfDue(Home, time.GetUtcNow()));
        Assert.NotSame(signed, keeper.Current.CertificateForClients);
        Assert.True(keeper.RenewIfDue(Elsewhere, time.GetUtcNow()));
        Assert.True(keeper.Current.CertificateForClients.MatchesHostname("192.168.1.77"));
    }

    [Fact]
    public void A_clock_in_1970_renews_nothing()
    {
        time.SetUtcNow(DateTimeOffset.UnixEpoch);
        Assert.False(keeper.NeedsRenewal(time.GetUtcNow()));
        Assert.False(keeper.RenewIfDue(Home, time.GetUtcNow()));
    }

    /// <summary>Signed by that clock it would end years before the one that it replaces.</summary>
    [Fact]
    public void A_clock_in_1970_on_a_machine_that_moved_makes_no_certificate_that_ends_earlier()
    {
        var life = CertificateLife.Of(keeper.Current.Certificate);
        Assert.True(keeper.RenewIfDue(Elsewhere, DateTimeOffset.UnixEpoch));
        Assert.True(keeper.Current.Certificate.MatchesHostname("192.168.1.77"));
        Assert.Equal(life, CertificateLife.Of(keeper.Current.Certificate));
    }

    [Fact]
    public void Peers_are_written_when_they_have_changed()
    {
        int before = disk.OperationCount;
        keeper.KeepPeers([.. keeper.Current.Peers.Select(peer => new KnownPeer(peer.NodeId, [.. peer.Addresses]))]);
        Assert.Equal(before, disk.OperationCount);
        keeper.KeepPeers([new KnownPeer("third", ["pi-3.local:9080"])]);
        using var loaded = IdentityDirectory.TryLoad(disk, "/data")!;
        Assert.Equal("third", Assert.Single(loaded.Peers).NodeId);
    }
}
