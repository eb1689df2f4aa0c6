using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;
using static Rookery.Cluster.Tests.Identity.TestAuthority;

namespace Rookery.Cluster.Tests.Identity;

/// <summary>
/// The certificate authority of a cluster, and the certificates that it signs for members and clients.
/// </summary>
public sealed class ClusterAuthorityTests
{
    [Fact]
    public void An_authority_signs_only_end_certificates_and_is_valid_whatever_the_clock_says()
    {
        using var authority = Create();
        var constraints = authority.Certificate.Extensions.OfType<X509BasicConstraintsExtension>().Single();
        Assert.True(
            constraints
                is {
                    Critical: true,
                    CertificateAuthority: true,
                    HasPathLengthConstraint: true,
                    PathLengthConstraint: 0
                }
        );
        const string nameConstraints = "2.5.29.30";
        Assert.True(authority.Certificate.Extensions[nameConstraints]!.Critical);
        Assert.Equal(1970, authority.Certificate.NotBefore.ToUniversalTime().Year);
        Assert.Equal(9999, authority.Certificate.NotAfter.ToUniversalTime().Year);
    }

    [Fact]
    public void The_constraints_of_an_authority_are_read_back_from_its_certificate()
    {
        using var authority = Create();
        var constraints = NameConstraints.ReadFrom(authority.Certificate);
        Assert.Equal(["local", "localhost", "home.arpa", "internal", "home.rookery", "pi-1"], constraints.Domains);
        Assert.All(
            ["pi-7.local", "PI-7.LOCAL", "localhost", "a.b.internal", "pi-2.home.rookery", "pi-1"],
            name => Assert.True(constraints.Permits(name), name)
        );
        Assert.All(
            ["example.org", "notlocal", "local.org", "pi-2", "home.rookery.org"],
            name => Assert.False(constraints.Permits(name), name)
        );
        Assert.All(
            [
                "10.1.2.3",
                "172.31.0.1",
                "192.168.4.5",
                "100.100.1.1",
                "169.254.3.4",
                "127.0.0.2",
                "::1",
                "fe80::2",
                "fd00::3",
            ],
            text => Assert.True(constraints.Permits(IPAddress.Parse(text)), text)
        );
        Assert.All(
            ["8.8.8.8", "172.32.0.1", "192.169.0.1", "2001:db8::1", "::2"],
            text => Assert.False(constraints.Permits(IPAddress.Parse(text)), text)
        );
    }

    [Fact]
    public void A_members_certificate_covers_its_names_and_private_addresses()
    {
        using var authority = Create();
        using var key = NodeKey.Create();
        using var leaf = authority.SignNode(
            PublicKeyOf(key),
            NodeId,
            Names("192.168.1.5", "::ffff:10.0.0.9", "2001:db8::1", "fe80::1%3"),
            Now
        );
        var names = SubjectAlternativeNames.ReadFrom(leaf)!;
        Assert.Equal(["pi-1", "pi-1.local", "pi-1.home.rookery", "localhost"], names.DnsNames);
        Assert.Equal(
            ["192.168.1.5", "10.0.0.9", "fe80::1", "127.0.0.1", "::1"],
            names.Addresses.Select(address => address.ToString())
        );
        Assert.Equal($"rookery://{ClusterId}/node/{NodeId}", names.Uri);
        Assert.True(leaf.MatchesHostname("pi-1.local"));
        Assert.True(leaf.MatchesHostname("192.168.1.5"));
        Assert.InRange(leaf.NotAfter - leaf.NotBefore, TimeSpan.FromDays(396), TimeSpan.FromDays(397));
    }

    [Fact]
    public void A_bare_name_that_the_authority_may_not_sign_is_left_out()
    {
        using var authority = ClusterAuthority.Create(ClusterId, "home", addedNames: []);
        using var key = NodeKey.Create();
        using var leaf = authority.SignNode(
            PublicKeyOf(key),
            NodeId,
            new NodeNames("pi-2", "home", CurrentAddresses: []),
            Now
        );
        Assert.Equal(
            ["pi-2.local", "pi-2.home.rookery", "localhost"],
            SubjectAlternativeNames.ReadFrom(leaf)!.DnsNames
        );
        Assert.Null(AuthorityChain.WhyRefused(leaf, [authority.Certificate], ClusterAuthority.Server, Now));
    }

    [Fact]
    public void A_certificate_that_does_not_cover_the_nodes_names_must_be_signed_again()
    {
        using var authority = Create();
        using var leaf = SignNode(authority);
        Assert.True(authority.Covers(leaf, Names("192.168.1.5")));
        Assert.True(authority.Covers(leaf, Names("192.168.1.5", "2001:db8::1")));
        Assert.False(authority.Covers(leaf, Names("192.168.1.6")));
    }

    [Fact]
    public void A_certificate_that_a_stolen_authority_key_signs_for_other_names_is_refused()
    {
        using var authority = Create();
        foreach (var (dns, address) in new[] { ("bank.example", (string?)null), ("pi-1.local", "8.8.8.8") })
        {
            using var forged = Forge(authority, dns, address);
            string? reason = AuthorityChain.WhyRefused(forged, [authority.Certificate], ClusterAuthority.Server, Now);
            Assert.Equal("names a host or address that this cluster's authority may not sign", reason);
        }
    }

    [Theory]
    [InlineData("1970-01-01T00:00:10Z")]
    [InlineData("2026-11-21T12:00:00Z")]
    [InlineData("2080-01-01T00:00:00Z")]
    public void A_certificate_signed_with_a_wrong_clock_is_signed_again_with_a_right_one(string clock)
    {
        var signing = DateTimeOffset.Parse(clock);
        using var authority = Create();
        using var leaf = SignNode(authority, signing);
        Assert.Equal(signing != Now, CertificateLife.NeedsRenewal(leaf, Sure(Now)));
        Assert.False(CertificateLife.NeedsRenewal(leaf, Sure(DateTimeOffset.UnixEpoch.AddDays(1))));
    }

    [Fact]
    public void A_leaf_is_renewed_at_two_thirds_of_its_life()
    {
        using var authority = Create();
        using var leaf = SignNode(authority);

        // Valid for 397 days from yesterday on: two thirds end after 263.7 days.
        Assert.False(CertificateLife.NeedsRenewal(leaf, Sure(Now)));
        Assert.False(CertificateLife.NeedsRenewal(leaf, Sure(Now.AddDays(263))));
        Assert.True(CertificateLife.NeedsRenewal(leaf, Sure(Now.AddDays(264))));
    }

    [Fact]
    public void A_sealed_authority_key_opens_for_its_member_only()
    {
        using var authority = Create();
        using var member = NodeKey.Create();
        using var other = NodeKey.Create();
        byte[] sealedKey = authority.SealKeyFor(PublicKeyOf(member));
        using (
            var opened = ClusterAuthority.OpenKey(
                ClusterId,
                X509CertificateLoader.LoadCertificate(authority.Certificate.RawData),
                sealedKey,
                member
            )
        )
        using (var leaf = SignNode(opened))
        {
            Assert.Null(AuthorityChain.WhyRefused(leaf, [authority.Certificate], ClusterAuthority.Server, Now));
        }

        Assert.Throws<IdentityException>(() =>
            ClusterAuthority.OpenKey(ClusterId, authority.Certificate, sealedKey, other)
        );
        using var next = Create();
        Assert.Throws<IdentityException>(() =>
            ClusterAuthority.OpenKey(ClusterId, next.Certificate, sealedKey, member)
        );
    }

    [Fact]
    public void A_sealed_key_with_any_changed_byte_does_not_open()
    {
        using var member = NodeKey.Create();
        byte[] secret = RandomNumberGenerator.GetBytes(40);
        byte[] sealedKey = SealedKey.Seal(secret, PublicKeyOf(member), "context"u8);
        Assert.Equal(secret, SealedKey.Open(sealedKey, member, "context"u8));
        Assert.Null(SealedKey.Open(sealedKey, member, "another"u8));
        Assert.Null(SealedKey.Open(sealedKey.AsSpan(0, 10), member, "context"u8));
        for (int i = 0; i < sealedKey.Length; i++)
        {
            sealedKey[i] ^= 1;
            Assert.Null(SealedKey.Open(sealedKey, member, "context"u8));
            sealedKey[i] ^= 1;
        }
    }

    [Fact]
    public void A_request_for_a_certificate_must_be_signed_by_its_own_key()
    {
        using var key = NodeKey.Create();
        byte[] request = NodeKey.RequestCertificate(key);
        Assert.Equal(key.ExportSubjectPublicKeyInfo(), NodeKey.ReadRequest(request)!.ExportSubjectPublicKeyInfo());
        request[^1] ^= 1;
        Assert.Null(NodeKey.ReadRequest(request));
        Assert.Null(NodeKey.ReadRequest("nonsense"u8));
        using var large = ECDsa.Create(ECCurve.NamedCurves.nistP384);
        Assert.Null(NodeKey.ReadRequest(NodeKey.RequestCertificate(large)));
    }

    private static SigningClock Sure(DateTimeOffset now) => new(now, IsSure: true);

    /// <summary>Signs a server certificate with a stolen copy of the authority's key.</summary>
    private static X509Certificate2 Forge(ClusterAuthority authority, string dns, string? address)
    {
        using var thief = NodeKey.Create();
        using var stolen = ECDsa.Create();
        stolen.ImportPkcs8PrivateKey(
            SealedKey.Open(authority.SealKeyFor(PublicKeyOf(thief)), thief, authority.Fingerprint),
            out _
        );
        var request = new CertificateRequest("CN=forged", thief, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNames(
            [dns],
            address is null ? [] : [IPAddress.Parse(address)],
            NodeUri.OfNode(ClusterId, NodeId)
        );
        request.CertificateExtensions.Add(names.ToExtension());
        request.CertificateExtensions.Add(
            new X509EnhancedKeyUsageExtension([ClusterAuthority.Server], critical: false)
        );
        return request.Create(
            authority.Certificate.SubjectName,
            X509SignatureGenerator.CreateForECDsa(stolen),
            Now.AddDays(-1),
            Now.AddDays(1),
            [1, 2, 3]
        );
    }
}
