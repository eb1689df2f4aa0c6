using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Documents.Consensus;
using Rookery.Server.Access;

namespace Rookery.Server.Tests.Access;

/// <summary>An authority and its certificate for 127.0.0.1, as Rookery.Cluster would provide them.</summary>
internal sealed class TestIdentity : IServerIdentity, IDisposable
{
    // When the certificates begin to be valid.
    private static readonly DateTimeOffset ValidFrom = TimeProvider.System.GetUtcNow().AddDays(-1);
    private readonly X509Certificate2 _authority;

    public TestIdentity()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=test authority", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(X509BasicConstraintsExtension.CreateForCertificateAuthority());
        _authority = request.CreateSelfSigned(ValidFrom, ValidFrom.AddYears(1));
        Authorities = [X509CertificateLoader.LoadCertificate(_authority.RawDataMemory.Span)];
        using var nodeKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var node = new CertificateRequest("CN=node", nodeKey, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddIpAddress(IPAddress.Loopback);
        node.CertificateExtensions.Add(names.Build());
        using var signed = node.Create(
            _authority,
            ValidFrom,
            ValidFrom.AddMonths(6),
            RandomNumberGenerator.GetBytes(8)
        );
        Certificate = signed.CopyWithPrivateKey(nodeKey);
    }

    public X509Certificate2 Certificate { get; }

    public X509Certificate2Collection Authorities { get; }

    /// <summary>The reason why client certificates are refused; null to accept them.</summary>
    public string? RefusalReason { get; set; }

    public string? WhyRefused(X509Certificate2 client, ClusterTime now) =>
        RefusalReason ?? (now.IsPast(new DateTimeOffset(client.NotAfter)) ? "It ended." : null);

    /// <summary>The current time that the last call of <see cref="SignClient"/> got.</summary>
    public DateTimeOffset LastSignedAt { get; private set; }

    public X509Certificate2 SignClient(PublicKey key, string name, DateTimeOffset now)
    {
        LastSignedAt = now;
        var request = new CertificateRequest(new X500DistinguishedName("CN=" + name), key, HashAlgorithmName.SHA256);
        return request.Create(_authority, ValidFrom, ValidFrom.AddMonths(6), RandomNumberGenerator.GetBytes(8));
    }

    /// <summary>Creates a client certificate with its key.</summary>
    public X509Certificate2 NewClient(string name)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using var signed = SignClient(new PublicKey(key), name, ValidFrom);
        return signed.CopyWithPrivateKey(key);
    }

    public void Dispose()
    {
        _authority.Dispose();
        Certificate.Dispose();
        Authorities[0].Dispose();
    }
}
