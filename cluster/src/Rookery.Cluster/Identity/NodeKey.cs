using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Rookery.Cluster.Identity;

/// <summary>Keys on the curve P-256: what every TLS stack speaks, small and quick on a Pi.</summary>
internal static class NodeKey
{
    private const string CurveObjectId = "1.2.840.10045.3.1.7";

    /// <summary>A new key pair.</summary>
    public static ECDsa Create() => ECDsa.Create(ECCurve.NamedCurves.nistP256);

    /// <summary>Whether a public key from elsewhere is on our curve.</summary>
    public static bool IsUsable(PublicKey key)
    {
        try
        {
            using var signing = key.GetECDsaPublicKey();
            return string.Equals(
                signing?.ExportParameters(includePrivateParameters: false).Curve.Oid.Value,
                CurveObjectId,
                StringComparison.Ordinal
            );
        }
        catch (CryptographicException)
        {
            return false;
        }
    }

    /// <summary>
    /// A request for a certificate (PKCS #10, RFC 2986): the public key, signed by the private one, so that nobody gets
    /// a certificate for another's key.
    /// </summary>
    public static byte[] RequestCertificate(ECDsa key) =>
        new CertificateRequest("CN=rookery", key, HashAlgorithmName.SHA256).CreateSigningRequest();

    /// <summary>
    /// The public key of such a request; null when it is malformed, not signed by its key, or on another curve.
    /// </summary>
    public static PublicKey? ReadRequest(ReadOnlySpan<byte> request)
    {
        try
        {
            var key = CertificateRequest.LoadSigningRequest(request, HashAlgorithmName.SHA256, out int read).PublicKey;
            return read == request.Length && IsUsable(key) ? key : null;
        }
        catch (CryptographicException)
        {
            return null;
        }
    }
}
