using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;
using static Rookery.Cluster.Tests.Identity.TestAuthority;

namespace Rookery.Cluster.Tests.Identity;

/// <summary>The certificates that members accept from other members and from clients.</summary>
public sealed class CertificateRuleTests
{
    [Fact]
    public void A_member_is_accepted_with_a_certificate_of_any_age()
    {
        using var authority = Create();
        foreach (var signed in new[] { Now, Now.AddYears(-5), DateTimeOffset.UnixEpoch, Now.AddYears(60) })
        {
            using var leaf = SignNode(authority, signed);
            foreach (var role in new[] { PeerRole.Server, PeerRole.Client })
            {
                var verdict = RuleOf(authority).Judge(leaf, role);
                Assert.Null(verdict.Refusal);
                Assert.Equal(NodeId, verdict.NodeId);
                Assert.Equal(Members.IdOf(NodeId), verdict.Member);
            }
        }
    }

    [Fact]
    public void A_caller_without_a_certificate_of_this_clusters_authority_is_no_member()
    {
        using var authority = Create();
        using var impostor = Create();
        using var leaf = SignNode(impostor);
        Assert.Equal(
            "The other side presented no certificate: it is not a member of a cluster.",
            RuleOf(authority).Judge(null, PeerRole.Client).Refusal
        );
        Assert.Equal(
            "The certificate of CN=pi-1 was not signed by this cluster's authority: the other side is not a "
                + "member of this cluster.",
            RuleOf(authority).Judge(leaf, PeerRole.Client).Refusal
        );
        Assert.True(RuleOf(authority).Judge(leaf, PeerRole.Client).Member.IsNone);
    }

    [Fact]
    public void A_damaged_certificate_is_refused_and_throws_nothing()
    {
        using var authority = Create();
        using var leaf = SignNode(authority);
        for (int offset = 0; offset < leaf.RawData.Length; offset++)
        {
            byte[] damaged = leaf.RawData;
            damaged[offset] ^= 0x11;
            using var presented = TryRead(damaged);
            Assert.True(
                presented is null || RuleOf(authority).Judge(presented, PeerRole.Client).Refusal is not null,
                $"byte {offset}"
            );
        }
    }

    [Fact]
    public void A_client_certificate_proves_no_member_and_a_member_certificate_no_client()
    {
        using var authority = Create();
        using var key = NodeKey.Create();
        using var client = authority.SignClient(PublicKeyOf(key), "ansible", Now);
        using var member = SignNode(authority);
        Assert.Contains(
            "not that of a member",
            RuleOf(authority).Judge(client, PeerRole.Client).Refusal,
            StringComparison.Ordinal
        );
        Assert.Contains(
            "was not made for this use",
            RuleOf(authority).Judge(client, PeerRole.Server).Refusal,
            StringComparison.Ordinal
        );
        Assert.Null(ClientRuleOf(authority).WhyRefused(client, Now));
        Assert.Contains(
            "not that of a client",
            ClientRuleOf(authority).WhyRefused(member, Now),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_member_of_another_cluster_is_refused_even_when_the_authority_is_the_same()
    {
        using var authority = Create();
        using var leaf = SignNode(authority);
        var rule = new PeerCertificateRule([authority.Certificate], ClusterId.ToLowerInvariant());
        Assert.Contains(
            "not that of a member of this cluster",
            rule.Judge(leaf, PeerRole.Client).Refusal,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_client_certificate_expires_but_is_accepted_by_a_slow_clock()
    {
        using var authority = Create();
        using var key = NodeKey.Create();
        using var client = authority.SignClient(PublicKeyOf(key), "ansible", Now);
        // The certificate's life of 397 days began the day before it was signed.
        Assert.Null(ClientRuleOf(authority).WhyRefused(client, Now.AddDays(395)));
        Assert.Equal(
            "The client certificate of CN=ansible ended on 2027-12-22.",
            ClientRuleOf(authority).WhyRefused(client, Now.AddDays(397))
        );
        Assert.Null(ClientRuleOf(authority).WhyRefused(client, DateTimeOffset.UnixEpoch));
    }

    [Fact]
    public void While_an_authority_is_rotated_both_are_trusted_and_then_the_new_one_alone()
    {
        using var old = Create();
        using var next = Create();
        using var first = SignNode(old);
        using var second = SignNode(next);
        var both = new PeerCertificateRule([next.Certificate, old.Certificate], ClusterId);
        Assert.Null(both.Judge(first, PeerRole.Client).Refusal);
        Assert.Null(both.Judge(second, PeerRole.Client).Refusal);
        Assert.NotNull(RuleOf(next).Judge(first, PeerRole.Client).Refusal);
    }

    [Fact]
    public async Task Two_members_complete_a_TLS_handshake_by_these_rules_alone()
    {
        using var authority = Create();
        using var old = CreateIdentity(authority, Now.AddYears(-3), "server");
        using var young = CreateIdentity(authority, Now, "client");
        var (serverSaw, clientSaw) = await ShakeHandsAsync(old, young);
        Assert.Equal("client", serverSaw.NodeId);
        Assert.Equal("server", clientSaw.NodeId);
    }

    private static PeerCertificateRule RuleOf(ClusterAuthority authority) => new([authority.Certificate], ClusterId);

    private static ClientCertificateRule ClientRuleOf(ClusterAuthority authority) =>
        new([authority.Certificate], ClusterId);

    /// <summary>Parses a certificate; null when the framework cannot, so that no rule sees it.</summary>
    private static X509Certificate2? TryRead(byte[] certificate)
    {
        try
        {
            return X509CertificateLoader.LoadCertificate(certificate);
        }
        catch (CryptographicException)
        {
            return null;
        }
    }

    // Performs a TLS handshake of two members. Returns what each judged of the other's certificate.
    private static async Task<(PeerVerdict ServerSaw, PeerVerdict ClientSaw)> ShakeHandsAsync(
        NodeIdentity server,
        NodeIdentity client
    )
    {
        using var bound = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var connecting = new TcpClient();
        await connecting.ConnectAsync((IPEndPoint)listener.LocalEndpoint, bound.Token);
        using var accepted = await listener.AcceptTcpClientAsync(bound.Token);
        PeerVerdict serverSaw = default,
            clientSaw = default;
        await using var inner = new SslStream(accepted.GetStream());
        await using var outer = new SslStream(connecting.GetStream());
        using var serverCertificate = server.CertificateWithKey();
        using var clientCertificate = client.CertificateWithKey();
        var serving = inner.AuthenticateAsServerAsync(
            new SslServerAuthenticationOptions
            {
                ServerCertificate = serverCertificate,
                ClientCertificateRequired = true,
                CertificateChainPolicy = server.PeerRule.ChainPolicy(PeerRole.Client),
                RemoteCertificateValidationCallback = (_, presented, _, _) =>
                    (serverSaw = server.PeerRule.Judge((X509Certificate2?)presented, PeerRole.Client)).Refusal is null,
            },
            bound.Token
        );
        await outer.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions
            {
                TargetHost = "rookery",
                ClientCertificates = [clientCertificate],
                CertificateChainPolicy = client.PeerRule.ChainPolicy(PeerRole.Server),
                RemoteCertificateValidationCallback = (_, presented, _, _) =>
                    (clientSaw = client.PeerRule.Judge((X509Certificate2?)presented, PeerRole.Server)).Refusal is null,
            },
            bound.Token
        );
        await serving;
        return (serverSaw, clientSaw);
    }
}
