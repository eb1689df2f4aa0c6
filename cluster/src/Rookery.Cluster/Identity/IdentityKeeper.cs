using System.Net;
using System.Security.Cryptography.X509Certificates;
using Rookery.Disk;

namespace Rookery.Cluster.Identity;

/// <summary>
/// A running member's identity: what it is now, renewed without a restart. Every member holds the authority's key, so each signs its own certificate and needs nobody for it, neither a
/// leader nor a majority.
/// </summary>
/// <param name="disk">The disk.</param>
/// <param name="dataDirectory">The data directory.</param>
/// <param name="loaded">What was loaded at the start.</param>
/// <param name="time">The clock.</param>
public sealed class IdentityKeeper(IDisk disk, string dataDirectory, NodeIdentity loaded, TimeProvider time)
{
    private readonly Lock _writing = new();
    private NodeIdentity _current = loaded;

    /// <summary>The identity now. What was current before stays usable: connections that began with it go on.</summary>
    public NodeIdentity Current => Volatile.Read(ref _current);

    /// <summary>Told when it has changed, with the new one, on the thread that changed it.</summary>
    public Action<NodeIdentity>? Changed { get; set; }

    /// <summary>Signs this node's certificate anew when two thirds of its life are over or it does not cover the node's addresses. To be called at the start, and then each hour.</summary>
    /// <param name="addresses">The addresses of this machine.</param>
    /// <returns>Whether it was signed anew.</returns>
    /// <exception cref="IOException">The disk refused, or the authority's key cannot be opened; the certificate of before goes on.</exception>
    public bool RenewIfDue(IReadOnlyList<IPAddress> addresses)
    {
        lock (_writing)
        {
            var self = Current;
            var names = new NodeNames(self.NodeName, self.ClusterName, addresses);
            using var authority = self.OpenAuthority();
            // What the old authority signed cannot be signed anew: its key is gone from here.
            bool isDue = ((X509Certificate2[])[self.Certificate, self.CertificateForClients]).Any(shown => CertificateLife.NeedsRenewal(shown, time.GetUtcNow()) || !authority.Covers(shown, names));
            if (isDue)
            {
                Write(self.With(authority.SignNode(new PublicKey(self.Key), self.NodeId, names, time.GetUtcNow())));
            }

            return isDue;
        }
    }

    /// <summary>Notes where the other members are, to find them after a start.</summary>
    public void KeepPeers(IReadOnlyList<KnownPeer> peers)
    {
        lock (_writing)
        {
            if (!Current.Peers.SequenceEqual(peers))
            {
                Write(Current.With(peers));
            }
        }
    }

    /// <summary>Goes by another identity of the same node.</summary>
    public void Replace(NodeIdentity identity)
    {
        lock (_writing)
        {
            Write(identity);
        }
    }

    private void Write(NodeIdentity identity)
    {
        IdentityDirectory.Update(disk, dataDirectory, identity);
        Volatile.Write(ref _current, identity);
        Changed?.Invoke(identity);
    }
}
