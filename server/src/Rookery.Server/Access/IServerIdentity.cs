using System.Security.Cryptography.X509Certificates;
using Rookery.Documents.Consensus;

namespace Rookery.Server.Access;

/// <summary>
/// What this node shows of itself over TLS, and whom it vouches for. Immutable: a certificate that is renewed makes a
/// new one. Filled by the cluster's room.
/// </summary>
public interface IServerIdentity
{
    /// <summary>
    /// The node's certificate with its private key. It stays valid as long as connections that began with it.
    /// </summary>
    X509Certificate2 Certificate { get; }

    /// <summary>
    /// The cluster's authorities: one or, during a rotation, two. Clients are asked for certificates of these.
    /// </summary>
    X509Certificate2Collection Authorities { get; }

    /// <summary>
    /// Why a client's certificate does not hold, in a sentence; null when it does. What its owner may do is said by its
    /// record.
    /// </summary>
    /// <param name="client">What came in the handshake.</param>
    /// <param name="now">The cluster's time, by which it ends.</param>
    string? WhyRefused(X509Certificate2 client, ClusterTime now);

    /// <summary>Signs the certificate of a client.</summary>
    /// <param name="key">Its public key.</param>
    /// <param name="name">Its name: letters, digits and hyphens.</param>
    /// <param name="now">When.</param>
    X509Certificate2 SignClient(PublicKey key, string name, DateTimeOffset now);
}
