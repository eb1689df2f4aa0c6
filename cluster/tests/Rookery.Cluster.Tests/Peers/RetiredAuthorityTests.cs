using Rookery.Cluster.Identity;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Tests.Identity;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>
/// Connections that began while their authority was trusted. An attacker with a removed member's card holds the
/// authority's key, and could keep a connection open until after the authority was retired.
/// </summary>
public sealed class RetiredAuthorityTests : IDisposable
{
    private readonly ClusterAuthority _old = TestAuthority.Create();
    private readonly ClusterAuthority _next = TestAuthority.Create();
    private PeerTrust _trust;

    public RetiredAuthorityTests() => _trust = TrustBoth("A1");

    public void Dispose()
    {
        _old.Dispose();
        _next.Dispose();
    }

    [Fact]
    public async Task Links_of_a_retired_authority_are_closed_at_both_ends()
    {
        await using var a = await TestMember.StartAsync(TestMember.Hello("A1"), () => Volatile.Read(ref _trust));
        await using var b = await TestMember.StartAsync(TestMember.Hello("B2"), TestMember.TrustOf(_old, "B2"));
        a.Network.SetPeers([b.Address]);
        b.Network.SetPeers([a.Address]);
        await Eventually.HoldsAsync(() => a.IsConnectedToAll && b.IsConnectedToAll, "both are connected");
        Retire();
        await Eventually.HoldsAsync(
            () =>
                a.Network.Status() is [{ HasControl: false, HasBulk: false }]
                && b.Network.Status() is [{ HasControl: false, HasBulk: false }],
            "no connection with a certificate of the old authority is left"
        );
        Assert.True(a.HasLogged("of an authority that was retired"));
    }

    [Fact]
    public async Task Members_connect_again_with_certificates_of_the_new_authority()
    {
        var trustOfB = TrustBoth("B2");
        await using var a = await TestMember.StartAsync(TestMember.Hello("A1"), () => Volatile.Read(ref _trust));
        await using var b = await TestMember.StartAsync(TestMember.Hello("B2"), () => Volatile.Read(ref trustOfB));
        a.Network.SetPeers([b.Address]);
        b.Network.SetPeers([a.Address]);
        await Eventually.HoldsAsync(() => a.IsConnectedToAll && b.IsConnectedToAll, "both are connected");
        Volatile.Write(ref trustOfB, PeerTrust.Of(TestAuthority.CreateIdentity(_next, nodeId: "B2")));
        Retire();
        await Eventually.HoldsAsync(
            () => a.HasLogged("of an authority that was retired") && a.IsConnectedToAll && b.IsConnectedToAll,
            "both are connected again"
        );
    }

    [Fact]
    public async Task Requests_on_a_connection_of_a_retired_authority_are_refused()
    {
        await using var a = await TestMember.StartAsync(TestMember.Hello("A1"), () => Volatile.Read(ref _trust));
        using var client = PeerHttp.CreateClient(
            TestMember.TrustOf(_old, "B2"),
            a.Node,
            a.Address.Addresses,
            TestMember.Hello("B2")
        );
        var gate = new Uri(TestMember.GatePath, UriKind.Relative);
        Assert.Equal("welcome", await client.GetStringAsync(gate));
        Retire();
        Assert.Equal("This is for members of the cluster only.", await client.GetStringAsync(gate));
    }

    // The identity of a member in the first stage of a rotation.
    private PeerTrust TrustBoth(string node)
    {
        var identity = TestAuthority.CreateIdentity(_old, nodeId: node);
        return PeerTrust.Of(
            identity.With(
                [_old.Certificate, _next.Certificate],
                identity.SealedAuthorityKey,
                identity.Certificate,
                earlierCertificate: null
            )
        );
    }

    private void Retire() =>
        Volatile.Write(ref _trust, PeerTrust.Of(TestAuthority.CreateIdentity(_next, nodeId: "A1")));
}
