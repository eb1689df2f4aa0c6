using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Rookery.Cluster.Identity;

/// <summary>
/// Whether an authority of this cluster signed a certificate. No store of the system is asked, and no network: neither
/// revocation nor missing certificates are looked up.
/// </summary>
internal static class AuthorityChain
{
    /// <summary>How a chain is to be built, for a TLS stack that builds one before it asks us.</summary>
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

    /// <summary>Why a leaf is not to be believed, as the end of a sentence; null when it is.</summary>
    /// <param name="leaf">What was presented.</param>
    /// <param name="authorities">The trusted authorities, one or, during a rotation, two.</param>
    /// <param name="usage">What it must have been made for.</param>
    /// <param name="now">When; null when the leaf's age does not count. That a leaf begins later never counts: then the
    /// clock is behind.</param>
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
            // The framework reads a certificate piece by piece, when it needs one.
            return "cannot be read";
        }

        var status = chain.ChainStatus.Aggregate(X509ChainStatusFlags.NoError, (all, one) => all | one.Status);
        const X509ChainStatusFlags stranger =
            X509ChainStatusFlags.PartialChain
            | X509ChainStatusFlags.UntrustedRoot
            | X509ChainStatusFlags.NotSignatureValid;
        return status switch
        {
            _ when (status & stranger) != X509ChainStatusFlags.NoError => "was not signed by this cluster's authority",
            _ when status.HasFlag(X509ChainStatusFlags.NotValidForUsage) => "was not made for this use",
            _ when status.HasFlag(X509ChainStatusFlags.HasNotPermittedNameConstraint) =>
                "names a host or address that this cluster's authority may not sign",
            _ when status.HasFlag(X509ChainStatusFlags.NotTimeValid) =>
                $"ended on {CertificateLife.Of(leaf).NotAfter:yyyy-MM-dd}",
            _ => $"is not valid ({status})",
        };
    }
}
