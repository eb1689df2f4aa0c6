using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;

namespace Rookery.Cluster.Tests.Identity;

/// <summary>Authorities, and the keys, certificates and identities of members, for tests.</summary>
internal static class TestAuthority
{
    public const string ClusterId = "Zm9vYmFyYmF6cXV4Zm9vYg";
    public const string NodeId = "AbCdEfGhIjKlMnOpQr_-12";

    public static readonly DateTimeOffset Now = new(2026, 11, 21, 12, 0, 0, TimeSpan.Zero);

    public static ClusterAuthority Create(string clusterId = ClusterId) =>
        ClusterAuthority.Create(clusterId, "home", ["pi-1"]);

    public static NodeNames Names(params string[] addresses) =>
        new("pi-1", "home", [.. addresses.Select(IPAddress.Parse)]);

    public static PublicKey PublicKeyOf(ECDsa key) => new(key);

    /// <summary>Returns a member's certificate for a new key.</summary>
    public static X509Certificate2 SignNode(
        ClusterAuthority authority,
        DateTimeOffset? now = null,
        string nodeId = NodeId
    )
    {
        using var key = NodeKey.Create();
        return authority.SignNode(PublicKeyOf(key), nodeId, Names("192.168.1.5"), now ?? Now);
    }

    /// <summary>Returns the identity of the node pi-1 of the cluster home, with one known peer.</summary>
    public static NodeIdentity CreateIdentity(
        ClusterAuthority authority,
        DateTimeOffset? now = null,
        string nodeId = NodeId,
        string tag = "A"
    )
    {
        var key = NodeKey.Create();
        return new NodeIdentity
        {
            ClusterId = authority.ClusterId,
            ClusterName = "home",
            NodeId = nodeId,
            NodeName = "pi-1",
            Tag = tag,
            Peers = [new KnownPeer("other", ["pi-2.local:9080", "[fe80::1]:9080"])],
            Key = key,
            Certificate = authority.SignNode(PublicKeyOf(key), nodeId, Names("192.168.1.5"), now ?? Now),
            Authorities = [X509CertificateLoader.LoadCertificate(authority.Certificate.RawData)],
            SealedAuthorityKey = authority.SealKeyFor(PublicKeyOf(key)),
        };
    }
}
