using System.Security.Cryptography.X509Certificates;

namespace Rookery.Cluster.Identity;

/// <summary>
/// Verifies client certificates: accepts unexpired ones that an authority of this cluster signed for a client. Does not
/// check what the client may do. Immutable.
/// </summary>
/// <param name="authorities">The trusted authorities: one or, during a rotation, two.</param>
/// <param name="clusterId">This cluster's id.</param>
public sealed class ClientCertificateRule(IReadOnlyList<X509Certificate2> authorities, string clusterId)
{
    /// <summary>
    /// Returns the chain policy for the TLS stack; see <see cref="PeerCertificateRule.ChainPolicy"/>.
    /// </summary>
    public X509ChainPolicy ChainPolicy() => AuthorityChain.PolicyOf(authorities, ClusterAuthority.Client);

    /// <summary>Returns why a client is refused, in a sentence; null when its certificate is accepted.</summary>
    /// <param name="presented">The certificate from the handshake.</param>
    /// <param name="now">The current time. A certificate that begins later is accepted, because this node's clock may
    /// be slow. While the clock is before <see cref="CertificateLife.EarliestPlausible"/>, expiry is checked as of that
    /// time.</param>
    public string? WhyRefused(X509Certificate2 presented, DateTimeOffset now)
    {
        string? reason = AuthorityChain.WhyRefused(
            presented,
            authorities,
            ClusterAuthority.Client,
            CertificateLife.Plausible(now)
        );
        if (reason is not null)
        {
            return $"The client certificate of {presented.Subject} {reason}.";
        }

        bool isClientOfCluster =
            SubjectAlternativeNames.ReadFrom(presented) is { } names
            && NodeUri.ClientIn(names.Uri, clusterId) is not null;
        return isClientOfCluster
            ? null
            : $"The certificate of {presented.Subject} is not that of a client of this cluster.";
    }
}
