using Rookery.Cluster.Identity;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Tests.Identity;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>HTTPS between members over TLS on loopback.</summary>
public sealed class PeerHttpTests : IDisposable
{
    private readonly ClusterAuthority authority = TestAuthority.Create();

    public void Dispose() => authority.Dispose();

    /// <summary>As a record looks that names a bridge of containers, which each machine has, and a network that is gone.</summary>
    [Fact]
    public async Task A_member_is_asked_at_the_first_address_at_which_it_is()
    {
        await using var b = await TestMember.StartAsync(TestMember.Hello("B2"), TestMember.TrustOf(authority, "B2"));
        await using var another = await TestMember.StartAsync(TestMember.Hello("C3"), TestMember.TrustOf(authority, "C3"));
        using var foreignAuthority = TestAuthority.Create();
        await using var foreign = await TestMember.StartAsync(TestMember.Hello("B2"), TestMember.TrustOf(foreignAuthority, "B2"));
        string[] elsewhere = [$"127.0.0.1:{TestMember.FreePort()}", .. another.Address.Addresses, .. foreign.Address.Addresses, "no-such-host.invalid:9443", "no address"];
        using var client = PeerHttp.CreateClient(TestMember.TrustOf(authority, "A1")(), b.Node, [.. elsewhere, .. b.Address.Addresses]);
        Assert.Equal("A1", await client.GetStringAsync(new Uri("/", UriKind.Relative)));

        using var lost = PeerHttp.CreateClient(TestMember.TrustOf(authority, "A1")(), b.Node, elsewhere);
        var failure = await Assert.ThrowsAsync<HttpRequestException>(() => lost.GetStringAsync(new Uri("/", UriKind.Relative)));
        Assert.All(elsewhere, address => Assert.Contains(address + ": ", failure.Message, StringComparison.Ordinal));
    }

    [Fact]
    public async Task Where_a_member_was_reached_comes_before_what_the_records_say()
    {
        await using var a = await TestMember.StartAsync(TestMember.Hello("A1"), TestMember.TrustOf(authority, "A1"));
        await using var b = await TestMember.StartAsync(TestMember.Hello("B2"), TestMember.TrustOf(authority, "B2"));
        string dead = $"127.0.0.1:{TestMember.FreePort()}";
        a.Network.SetPeers([new PeerAddress(b.Node, [dead, .. b.Address.Addresses])]);
        await Eventually.HoldsAsync(() => a.IsConnectedToAll, "it is reached at its second address");
        Assert.Equal([b.Address.Addresses[0], dead], a.Network.AddressesOf(b.Node));
        Assert.Empty(a.Network.AddressesOf(a.Node));
    }
}
