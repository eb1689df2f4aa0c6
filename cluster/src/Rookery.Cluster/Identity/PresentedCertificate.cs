using System.Security.Cryptography.X509Certificates;

namespace Rookery.Cluster.Identity;

/// <summary>
/// The certificate that the other end of a connection presented. A connection can last for months, and this node may
/// meanwhile cease to trust the authority that signed the certificate. Thread-safe.
/// </summary>
internal sealed class PresentedCertificate
{
    private readonly byte[]? _certificate; // in DER; null if it was refused
    private readonly PeerRole _role;
    private Judgement _newest;

    /// <summary>Judges a certificate.</summary>
    /// <param name="presented">The certificate of the handshake, which the TLS stack disposes; null for none.</param>
    /// <param name="role">The other end's role in the handshake.</param>
    /// <param name="rule">The present rule.</param>
    public PresentedCertificate(X509Certificate2? presented, PeerRole role, PeerCertificateRule rule)
    {
        _role = role;
        _newest = new Judgement(rule, rule.Judge(presented, role));
        if (presented is not null && _newest.Verdict.NodeId is not null)
        {
            _certificate = presented.RawData;
        }
    }

    /// <summary>
    /// Returns the node that the certificate proves by the present rule, or why it proves none. A certificate that was
    /// refused in the handshake stays refused.
    /// </summary>
    public PeerVerdict Judge(PeerCertificateRule rule)
    {
        var newest = Volatile.Read(ref _newest);
        if (_certificate is not null && !ReferenceEquals(newest.Rule, rule))
        {
            using var certificate = X509CertificateLoader.LoadCertificate(_certificate);
            newest = new Judgement(rule, rule.Judge(certificate, _role));
            Volatile.Write(ref _newest, newest);
        }

        return newest.Verdict;
    }

    private sealed record Judgement(PeerCertificateRule Rule, PeerVerdict Verdict);
}
