using System.Security.Cryptography.X509Certificates;
using Rookery.Platform;

namespace Rookery.Cluster.Identity;

/// <summary>
/// Holds a running member's identity, and renews its certificate without a restart. Every member holds the authority's
/// key and signs its own certificate, so renewal needs neither a leader nor a majority.
/// </summary>
/// <param name="disk">The disk.</param>
/// <param name="dataDirectory">The data directory.</param>
/// <param name="loaded">The identity that was loaded at the start.</param>
public sealed class IdentityKeeper(IDisk disk, string dataDirectory, NodeIdentity loaded)
{
    private readonly Lock _writeLock = new();
    private NodeIdentity _current = loaded;

    /// <summary>The current identity. Earlier identities stay usable for connections that began with them.</summary>
    public NodeIdentity Current => Volatile.Read(ref _current);

    /// <summary>Invoked with the new identity when it has changed, on the thread that changed it.</summary>
    public Action<NodeIdentity>? Changed { get; set; }

    /// <summary>
    /// Whether one of this node's certificates must be renewed (<see cref="CertificateLife.NeedsRenewal"/>). Cheap.
    /// </summary>
    public bool NeedsRenewal(SigningClock clock)
    {
        var self = Current;
        return CertificateLife.NeedsRenewal(self.Certificate, clock)
            || CertificateLife.NeedsRenewal(self.CertificateForClients, clock);
    }

    /// <summary>
    /// Signs this node's certificate again when it <see cref="NeedsRenewal"/> or does not cover the node's names and
    /// addresses. Call it at the start and when these have changed.
    /// </summary>
    /// <param name="names">The node's names and addresses.</param>
    /// <param name="clock">The current time.</param>
    /// <returns>Whether the certificate was signed again.</returns>
    /// <exception cref="IOException">The disk failed, or the authority's key cannot be opened. The previous certificate
    /// stays in use.</exception>
    public bool RenewIfDue(NodeNames names, SigningClock clock)
    {
        lock (_writeLock)
        {
            var self = Current;
            using var authority = self.OpenAuthority();
            // During a rotation this replaces the old authority's certificate too, because this node no longer has the
            // old authority's key.
            X509Certificate2[] shown = [self.Certificate, self.CertificateForClients];
            bool isDue = Array.Exists(
                shown,
                certificate => CertificateLife.NeedsRenewal(certificate, clock) || !authority.Covers(certificate, names)
            );
            if (isDue)
            {
                Write(
                    self.With(
                        authority.SignNode(
                            new PublicKey(self.Key),
                            self.NodeId,
                            names,
                            CertificateLife.SigningTime(clock, self.Certificate)
                        )
                    )
                );
            }

            return isDue;
        }
    }

    /// <summary>Stores the other members' addresses, to which this node connects after a restart.</summary>
    public void KeepPeers(IReadOnlyList<KnownPeer> peers)
    {
        lock (_writeLock)
        {
            if (!Current.Peers.SequenceEqual(peers))
            {
                Write(Current.With(peers));
            }
        }
    }

    /// <summary>
    /// Changes the identity. A rotation calls this, under the same lock as renewals and changes of peers.
    /// </summary>
    /// <param name="change">Computes the next identity from the current one; null for no change.</param>
    public void Change(Func<NodeIdentity, NodeIdentity?> change)
    {
        lock (_writeLock)
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
