using System.Net.Security;
using Rookery.Cluster.Identity;

namespace Rookery.Cluster.Peers;

/// <summary>
/// What a handshake between members needs. Asked for anew at each, so that a renewed certificate and a rotated
/// authority need no restart.
/// </summary>
/// <param name="Certificate">This node's certificate with its key.</param>
/// <param name="Rule">Whom this node takes for members.</param>
public sealed record PeerTrust(SslStreamCertificateContext Certificate, PeerCertificateRule Rule)
{
    /// <summary>What follows from an identity. To be made once for each: it loads the key into the TLS stack.</summary>
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
