using System.Net.Security;
using Rookery.Cluster.Identity;

namespace Rookery.Cluster.Peers;

/// <summary>
/// The certificate and the rule for TLS handshakes between members. Obtained again for each handshake, so a renewed
/// certificate or a rotated authority needs no restart.
/// </summary>
/// <param name="Certificate">This node's certificate with its key.</param>
/// <param name="Rule">The rule for members' certificates.</param>
public sealed record PeerTrust(SslStreamCertificateContext Certificate, PeerCertificateRule Rule)
{
    /// <summary>
    /// Makes the trust of an identity. Call it once for each identity: it loads the key into the TLS stack.
    /// </summary>
    public static PeerTrust Of(NodeIdentity identity) =>
        new(
            SslStreamCertificateContext.Create(
                identity.CertificateWithKey(),
                additionalCertificates: null,
                offline: true
            ),
            identity.PeerRule
        );
}
