using System.Security.Cryptography.X509Certificates;
using Rookery.Documents.Consensus;

namespace Rookery.Server.Access;

/// <summary>
/// The TLS identity of this node and the authority of its cluster. Immutable: a renewed certificate is a new instance.
/// Rookery.Cluster implements it.
/// </summary>
public interface IServerIdentity
{
    /// <summary>
    /// Certificate of the node with its private key. A renewal does not dispose of it, because connections that began
    /// with it may still use it.
    /// </summary>
    X509Certificate2 Certificate { get; }

    /// <summary>
    /// Certificates of the cluster's authorities: one or, during a rotation, two. The handshake names them, so that a
    /// client presents a certificate that one of them signed.
    /// </summary>
    X509Certificate2Collection Authorities { get; }

    /// <summary>
    /// Returns why a client certificate is not valid, in one sentence; null if it is valid. Does not check whether the
    /// certificate is registered.
    /// </summary>
    /// <param name="client">The certificate of the connection.</param>
    /// <param name="now">The cluster's time, which decides whether the certificate has expired.</param>
    string? WhyRefused(X509Certificate2 client, ClusterTime now);

    /// <summary>Signs a client certificate.</summary>
    /// <param name="key">Public key of the client.</param>
    /// <param name="name">Name of the client: letters, digits and hyphens.</param>
    /// <param name="now">Time of signing.</param>
    X509Certificate2 SignClient(PublicKey key, string name, DateTimeOffset now);
}
