using System.Security.Cryptography.X509Certificates;

namespace Rookery.Cluster.Identity;

/// <summary>
/// Which client certificates hold: those that an authority of this cluster signed for a client, and that have not
/// ended. What their owner may do is said elsewhere. Immutable.
/// </summary>
/// <param name="authorities">The authorities trusted: one or, during a rotation, two.</param>
/// <param name="clusterId">This cluster.</param>
public sealed class ClientCertificateRule(IReadOnlyList<X509Certificate2> authorities, string clusterId)
{
    /// <summary>For the TLS stack; see <see cref="PeerCertificateRule.ChainPolicy"/>.</summary>
    public X509ChainPolicy ChainPolicy() => AuthorityChain.PolicyOf(authorities, ClusterAuthority.Client);

    /// <summary>Why a client is refused, in a sentence; null when he is who the certificate says.</summary>
    /// <param name="presented">What came in the handshake.</param>
    /// <param name="now">The time. A certificate that begins later holds: the clock is behind. In 1970 none has ended
    /// that ended since 2026, and that is the price of locking nobody out.</param>
    public string? WhyRefused(X509Certificate2 presented, DateTimeOffset now)
    {
        if (
            AuthorityChain.WhyRefused(
                presented,
                authorities,
                ClusterAuthority.Client,
                CertificateLife.Plausible(now)
            ) is
            { } reason
        )
        {
            return $"The client certificate of {presented.Subject} {reason}.";
        }

        return SubjectAlternativeNames.In(presented) is { } names && NodeUri.ClientIn(names.Uri, clusterId) is not null
            ? null
            : $"The certificate of {presented.Subject} is not that of a client of this cluster.";
    }
}
