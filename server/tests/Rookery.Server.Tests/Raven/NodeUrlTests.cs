using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;
using Rookery.Server.Raven.Cluster;

namespace Rookery.Server.Tests.Raven;

/// <summary>
/// The URLs of all members, chosen by the address that the client used: a member's own names and addresses, or its
/// public URL.
/// </summary>
public sealed class NodeUrlTests
{
    private static readonly ClusterViewMember[] Cluster =
    [
        CreateMember(
            "A",
            "pi-1",
            "https://one.example.org",
            "https://192.168.1.11:8443",
            "https://10.8.0.1:8443",
            "https://[fd00::11]:8443"
        ),
        CreateMember(
            "B",
            "pi-2",
            "https://two.example.org",
            "https://192.168.1.12:8444",
            "https://10.8.0.2:8444",
            "https://[fd00::12]:8444"
        ),
        CreateMember("C", "pi-3", null, "https://192.168.1.13:8443"),
    ];

    // The host of the request, and the URLs of A, B and C. C has only one address and no public URL.
    [Theory]
    [InlineData(
        "192.168.1.11:8443",
        "https://192.168.1.11:8443",
        "https://192.168.1.12:8444",
        "https://192.168.1.13:8443"
    )]
    [InlineData("10.8.0.1:8443", "https://10.8.0.1:8443", "https://10.8.0.2:8444", "https://192.168.1.13:8443")]
    [InlineData("[fd00::11]:8443", "https://[fd00::11]:8443", "https://[fd00::12]:8444", "https://192.168.1.13:8443")]
    [InlineData("pi-1:8443", "https://pi-1:8443", "https://pi-2:8444", "https://pi-3:8443")]
    [InlineData("PI-1.local:8443", "https://PI-1.local:8443", "https://pi-2.local:8444", "https://pi-3.local:8443")]
    [InlineData(
        "pi-1.home.lan:9999",
        "https://pi-1.home.lan:9999",
        "https://pi-2.home.lan:8444",
        "https://pi-3.home.lan:8443"
    )]
    [InlineData("one.example.org", "https://one.example.org", "https://two.example.org", "https://192.168.1.13:8443")]
    [InlineData("pi-10.local:8443", "https://pi-10.local:8443", "https://two.example.org", "https://192.168.1.13:8443")]
    public void Members_have_URLs_in_the_form_that_the_client_used(string host, params string[] expected)
    {
        var http = new DefaultHttpContext { Request = { Scheme = "https", Host = new HostString(host) } };
        var urls = new NodeUrl(http, Cluster);
        Assert.Equal(expected, Cluster.Select(urls.Of));
    }

    [Fact]
    public void Behind_a_TLS_proxy_the_public_URL_keeps_its_scheme()
    {
        var http = new DefaultHttpContext
        {
            Request = { Scheme = "http", Host = new HostString("one.example.org:443") },
        };
        Assert.Equal("https://one.example.org", new NodeUrl(http, Cluster).Of(Cluster[0]));
    }

    [Fact]
    public void A_member_without_a_known_URL_is_left_out()
    {
        var http = new DefaultHttpContext
        {
            Request = { Scheme = "https", Host = new HostString("192.168.1.11:8443") },
        };
        Assert.Null(new NodeUrl(http, Cluster).Of(CreateMember("D", "pi-4", null)));
    }

    private static ClusterViewMember CreateMember(string tag, string name, string? publicUrl, params string[] urls) =>
        new(tag, NodeId: tag, name, urls, publicUrl, IsVoter: true, IsLeader: false, IsSelf: tag is "A");
}
