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
    public static NodeIdentity Found(NodeIds ids, NodeNames names, IEnumerable<string> addedNames, DateTimeOffset now)
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
            Key = key,
            Certificate = certificate,
            Authorities = [X509CertificateLoader.LoadCertificate(authority.Certificate.RawDataMemory.Span)],
            SealedAuthorityKey = authority.SealKeyFor(certificate.PublicKey),
        };
    }
}
