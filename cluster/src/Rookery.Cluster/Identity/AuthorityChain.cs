using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Rookery.Cluster.Identity;

/// <summary>
/// Verifies that an authority of this cluster signed a certificate. Uses neither the system's certificate stores nor
/// the network: no revocation check, no download of missing certificates.
/// </summary>
internal static class AuthorityChain
{
    /// <summary>
    /// Returns the policy for building a certificate chain. <see cref="WhyRefused"/> uses the policy, and so does the
    /// TLS stack, which builds a chain before it calls this node's callback.
    /// </summary>
    public static X509ChainPolicy PolicyOf(IEnumerable<X509Certificate2> authorities, Oid usage)
    {
        var policy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck,
            DisableCertificateDownloads = true,
        };
        policy.CustomTrustStore.AddRange(authorities.ToArray());
        policy.ApplicationPolicy.Add(usage);
        return policy;
    }

    /// <summary>Returns why a leaf is refused, as the end of a sentence; null when it is accepted.</summary>
    /// <param name="leaf">The presented certificate.</param>
    /// <param name="authorities">The trusted authorities, one or, during a rotation, two.</param>
    /// <param name="usage">The required extended key usage.</param>
    /// <param name="now">The current time; null to ignore expiry. A leaf whose validity begins in the future is always
    /// accepted, because this node's clock may be slow.</param>
    public static string? WhyRefused(
        X509Certificate2 leaf,
        IReadOnlyList<X509Certificate2> authorities,
        Oid usage,
        DateTimeOffset? now
    )
    {
        using var chain = new X509Chain { ChainPolicy = PolicyOf(authorities, usage) };
        try
        {
            var notBefore = CertificateLife.Of(leaf).NotBefore;
            chain.ChainPolicy.VerificationTime = (now > notBefore ? now.Value : notBefore).UtcDateTime;
            if (chain.Build(leaf))
            {
                return null;
            }
        }
        catch (CryptographicException)
        {
            // The framework parses a certificate lazily, so reading it may fail here.
            return "cannot be read";
        }

        var status = chain.ChainStatus.Aggregate(
            X509ChainStatusFlags.NoError,
            (flags, element) => flags | element.Status
        );
        const X509ChainStatusFlags notSigned =
            X509ChainStatusFlags.PartialChain
            | X509ChainStatusFlags.UntrustedRoot
            | X509ChainStatusFlags.NotSignatureValid;
        return status switch
        {
            _ when (status & notSigned) != X509ChainStatusFlags.NoError => "was not signed by this cluster's authority",
            _ when status.HasFlag(X509ChainStatusFlags.NotValidForUsage) => "was not made for this use",
            _ when status.HasFlag(X509ChainStatusFlags.HasNotPermittedNameConstraint) =>
                "names a host or address that this cluster's authority may not sign",
            _ when status.HasFlag(X509ChainStatusFlags.NotTimeValid) =>
                $"ended on {CertificateLife.Of(leaf).NotAfter:yyyy-MM-dd}",
            _ => $"is not valid ({status})",
        };
    }
}
