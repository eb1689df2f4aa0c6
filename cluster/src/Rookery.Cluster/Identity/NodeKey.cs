using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Rookery.Cluster.Identity;

/// <summary>
/// Makes and checks keys on the curve P-256, which every TLS stack supports, and which is fast on a Raspberry Pi.
/// </summary>
internal static class NodeKey
{
    private const string CurveObjectId = "1.2.840.10045.3.1.7";

    /// <summary>Makes a new key pair.</summary>
    public static ECDsa Create() => ECDsa.Create(ECCurve.NamedCurves.nistP256);

    /// <summary>Whether a foreign public key is on the curve P-256.</summary>
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
    /// Makes a certificate request (PKCS #10, RFC 2986): the public key, signed with the private key to prove its
    /// possession.
    /// </summary>
    public static byte[] RequestCertificate(ECDsa key) =>
        new CertificateRequest("CN=rookery", key, HashAlgorithmName.SHA256).CreateSigningRequest();

    /// <summary>
    /// Returns the public key of a certificate request; null when it is malformed, not signed with its key, or on
    /// another curve.
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
