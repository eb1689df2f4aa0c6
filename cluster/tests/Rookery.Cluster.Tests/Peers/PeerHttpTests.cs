using Rookery.Cluster.Identity;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Tests.Identity;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>HTTPS between members over TLS on loopback.</summary>
public sealed class PeerHttpTests : IDisposable
{
    private readonly ClusterAuthority _authority = TestAuthority.Create();

    public void Dispose() => _authority.Dispose();

    /// <summary>
    /// A record may name a bridge of containers, which every machine has, and a network that no longer exists.
    /// </summary>
    [Fact]
    public async Task A_client_uses_the_first_address_at_which_the_member_answers()
    {
        await using var b = await TestMember.StartAsync(TestMember.Hello("B2"), TestMember.TrustOf(_authority, "B2"));
        await using var another = await TestMember.StartAsync(
            TestMember.Hello("C3"),
            TestMember.TrustOf(_authority, "C3")
        );
        using var foreignAuthority = TestAuthority.Create();
        await using var foreign = await TestMember.StartAsync(
            TestMember.Hello("B2"),
            TestMember.TrustOf(foreignAuthority, "B2")
        );
        // No node listens, another member answers, a node of another cluster answers, or there is no such host.
        string[] wrongAddresses =
        [
            $"127.0.0.1:{TestMember.FreePort()}",
            .. another.Address.Addresses,
            .. foreign.Address.Addresses,
            "no-such-host.invalid:9443",
            "no address",
        ];
        using var client = PeerHttp.CreateClient(
            TestMember.TrustOf(_authority, "A1")(),
            b.Node,
            [.. wrongAddresses, .. b.Address.Addresses],
            TestMember.Hello("A1")
        );

        // A test member answers with the caller's id.
        Assert.Equal("A1", await client.GetStringAsync(new Uri("/", UriKind.Relative)));

        using var unreachableClient = PeerHttp.CreateClient(
            TestMember.TrustOf(_authority, "A1")(),
            b.Node,
            wrongAddresses,
            TestMember.Hello("A1")
        );
        var failure = await Assert.ThrowsAsync<HttpRequestException>(() =>
            unreachableClient.GetStringAsync(new Uri("/", UriKind.Relative))
        );
        Assert.All(
            wrongAddresses,
            address => Assert.Contains(address + ": ", failure.Message, StringComparison.Ordinal)
        );
    }

    /// <summary>The certificate does not reveal a copy, because the copy has it too.</summary>
    [Fact]
    public async Task An_HTTP_request_of_an_old_copy_is_refused_like_its_other_connections()
    {
        await using var b = await TestMember.StartAsync(TestMember.Hello("B2"), TestMember.TrustOf(_authority, "B2"));
        // A node counts its starts and gives each a random id. An older start, or another one of the same number, is
        // that of a copy.
        var hello = TestMember.Hello("A1") with
        {
            StartId = 7,
        };
        Assert.Equal("welcome", await AskAsync(b, hello));
        Assert.Contains(
            "This is an old copy of node A1",
            await AskAsync(b, hello with { StartNumber = 4 }),
            StringComparison.Ordinal
        );
        Assert.Contains(
            "There are two copies of node A1",
            await AskAsync(b, hello with { StartId = 8 }),
            StringComparison.Ordinal
        );
        Assert.Contains(
            "came with the certificate of node A1",
            await AskAsync(b, hello with { NodeId = "C3" }),
            StringComparison.Ordinal
        );
        Assert.Contains("says who it is", await AskAsync(b, hello: null), StringComparison.Ordinal);
        b.Admission.Refused["A1"] = "It was removed.";
        Assert.Equal("It was removed.", await AskAsync(b, hello));
    }

    [Fact]
    public async Task The_last_reached_address_comes_before_the_recorded_ones()
    {
        await using var a = await TestMember.StartAsync(TestMember.Hello("A1"), TestMember.TrustOf(_authority, "A1"));
        await using var b = await TestMember.StartAsync(TestMember.Hello("B2"), TestMember.TrustOf(_authority, "B2"));
        string dead = $"127.0.0.1:{TestMember.FreePort()}";
        a.Network.SetPeers([new PeerAddress(b.Node, [dead, .. b.Address.Addresses])]);
        await Eventually.HoldsAsync(() => a.IsConnectedToAll, "B2 is reached at its second address");
        Assert.Equal([b.Address.Addresses[0], dead], a.Network.AddressesOf(b.Node));
        Assert.Empty(a.Network.AddressesOf(a.Node));
    }

    /// <summary>Calls a member as A1, and returns what it says of the caller.</summary>
    private async Task<string> AskAsync(TestMember member, PeerHello? hello)
    {
        using var client = PeerHttp.CreateClient(
            TestMember.TrustOf(_authority, "A1")(),
            member.Node,
            member.Address.Addresses,
            hello
        );
        return await client.GetStringAsync(new Uri(TestMember.GatePath, UriKind.Relative));
    }
}
