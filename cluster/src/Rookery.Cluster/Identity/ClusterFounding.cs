using System.Security.Cryptography.X509Certificates;
using Rookery.Documents.Nodes;

namespace Rookery.Cluster.Identity;

/// <summary>Founds a cluster: makes its authority and the identity of its first node.</summary>
public static class ClusterFounding
{
    /// <summary>
    /// Makes the authority and the identity. The caller persists the identity (<see cref="IdentityDirectory.Create"/>)
    /// and disposes it.
    /// </summary>
    /// <param name="ids">The ids of the node's data, or new ones for a node without data.</param>
    /// <param name="names">The names of node and cluster, and the node's addresses.</param>
    /// <param name="addedNames">DNS names and domains in addition to those that every cluster may use.</param>
    /// <param name="now">The current time.</param>
    /// <param name="former">The node's identity in a lost cluster; null for none. The new identity keeps the addresses
    /// and the URL that the operator configured; <paramref name="names"/> must cover them.</param>
    public static NodeIdentity Found(
        NodeIds ids,
        NodeNames names,
        IEnumerable<string> addedNames,
        DateTimeOffset now,
        NodeIdentity? former = null
    )
    {
        using var authority = ClusterAuthority.Create(ids.ClusterId, names.ClusterName, addedNames);
        var key = NodeKey.Create();
        var certificate = authority.SignNode(new PublicKey(key), ids.NodeId, names, now);
        return new NodeIdentity
        {
            ClusterId = ids.ClusterId,
            ClusterName = names.ClusterName,
            NodeId = ids.NodeId,
            NodeName = names.Name,
            Tag = "A",
            ConfiguredAddresses = former?.ConfiguredAddresses ?? [],
            ConfiguredUrl = former?.ConfiguredUrl,
            Key = key,
            Certificate = certificate,
            Authorities = [X509CertificateLoader.LoadCertificate(authority.Certificate.RawDataMemory.Span)],
            SealedAuthorityKey = authority.SealKeyFor(certificate.PublicKey),
        };
    }
}
