using System.Security.Cryptography.X509Certificates;
using Rookery.Platform;

namespace Rookery.Cluster.Identity;

/// <summary>
/// A running member's identity: what it is now, renewed without a restart. Every member holds the authority's key, so
/// each signs its own certificate and needs nobody for it, neither a leader nor a majority.
/// </summary>
/// <param name="disk">The disk.</param>
/// <param name="dataDirectory">The data directory.</param>
/// <param name="loaded">What was loaded at the start.</param>
public sealed class IdentityKeeper(IDisk disk, string dataDirectory, NodeIdentity loaded)
{
    private readonly Lock _writing = new();
    private NodeIdentity _current = loaded;

    /// <summary>The identity now. What was current before stays usable: connections that began with it go on.</summary>
    public NodeIdentity Current => Volatile.Read(ref _current);

    /// <summary>Told when it has changed, with the new one, on the thread that changed it.</summary>
    public Action<NodeIdentity>? Changed { get; set; }

    /// <summary>
    /// Whether two thirds of the life of a certificate of this node are over, or it begins in the future. Costs a few
    /// comparisons.
    /// </summary>
    public bool NeedsRenewal(DateTimeOffset now) =>
        Current is var self
        && (
            CertificateLife.NeedsRenewal(self.Certificate, now)
            || CertificateLife.NeedsRenewal(self.CertificateForClients, now)
        );

    /// <summary>
    /// Signs this node's certificate anew when it <see cref="NeedsRenewal"/> or does not cover what the node is called
    /// and where it is. To be called at the start, and when one of these has changed.
    /// </summary>
    /// <param name="names">What it is called, and where it is.</param>
    /// <param name="now">The time.</param>
    /// <returns>Whether it was signed anew.</returns>
    /// <exception cref="IOException">The disk refused, or the authority's key cannot be opened; the certificate of
    /// before goes on.</exception>
    public bool RenewIfDue(NodeNames names, DateTimeOffset now)
    {
        lock (_writing)
        {
            var self = Current;
            using var authority = self.OpenAuthority();
            // What the old authority signed cannot be signed anew: its key is gone from here.
            bool isDue = ((X509Certificate2[])[self.Certificate, self.CertificateForClients]).Any(shown =>
                CertificateLife.NeedsRenewal(shown, now) || !authority.Covers(shown, names)
            );
            if (isDue)
            {
                Write(
                    self.With(
                        authority.SignNode(
                            new PublicKey(self.Key),
                            self.NodeId,
                            names,
                            CertificateLife.SigningTime(now, self.Certificate)
                        )
                    )
                );
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

    /// <summary>
    /// Goes by another identity of the same node. Nobody else changes it meanwhile: a rotation goes on beside whoever
    /// renews certificates and notes peers.
    /// </summary>
    /// <param name="change">From the identity of now to the next; null to leave it.</param>
    public void Change(Func<NodeIdentity, NodeIdentity?> change)
    {
        lock (_writing)
        {
            if (change(Current) is { } next)
            {
                Write(next);
            }
        }
    }

    private void Write(NodeIdentity identity)
    {
        IdentityDirectory.Update(disk, dataDirectory, identity);
        Volatile.Write(ref _current, identity);
        Changed?.Invoke(identity);
    }
}
