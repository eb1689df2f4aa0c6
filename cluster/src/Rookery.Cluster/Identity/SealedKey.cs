using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Rookery.Cluster.Identity;

/// <summary>
/// Encrypts a secret for one member. An ephemeral P-256 key and the member's key agree on a secret (ECDH, SP 800-56A),
/// HKDF-SHA256 (RFC 5869) derives a key from it, and AES-256-GCM encrypts. Similar to RFC 9180's base mode, which the
/// framework does not offer.
/// </summary>
/// <remarks>
/// Layout: version (1 byte) | ephemeral public key, uncompressed point (65) | tag (16) | ciphertext. The nonce is zero,
/// because each key encrypts once. Members sign and agree with one key pair, which is sound for ECDSA and ECIES
/// (Degabriele et al., CT-RSA 2012) and is one key less to lose.
/// </remarks>
internal static class SealedKey
{
    private const byte Version = 1;
    private const int CoordinateBytes = 32;
    private const int PointBytes = 1 + (2 * CoordinateBytes);
    private const int HeaderBytes = 1 + PointBytes;
    private const int TagBytes = 16;
    private const int NonceBytes = 12;

    // The first byte of a point with both coordinates (SEC 1 2.3.3).
    private const byte UncompressedPoint = 4;

    /// <summary>Encrypts a secret.</summary>
    /// <param name="secret">The secret.</param>
    /// <param name="recipient">The member's public key, on P-256.</param>
    /// <param name="context">Bytes that identify the purpose. <see cref="Open"/> needs the same bytes.</param>
    public static byte[] Seal(ReadOnlySpan<byte> secret, PublicKey recipient, ReadOnlySpan<byte> context)
    {
        using var ephemeral = ECDiffieHellman.Create(ECCurve.NamedCurves.nistP256);
        using var recipientKey =
            recipient.GetECDiffieHellmanPublicKey()
            ?? throw new IdentityException("A member's key is not on an elliptic curve.");
        byte[] result = new byte[HeaderBytes + TagBytes + secret.Length];
        result[0] = Version;
        WritePoint(ephemeral.ExportParameters(includePrivateParameters: false).Q, result.AsSpan(1, PointBytes));
        using var cipher = CipherOf(ephemeral, recipientKey.PublicKey, result.AsSpan(0, HeaderBytes), context);
        cipher.Encrypt(
            new byte[NonceBytes],
            secret,
            result.AsSpan(HeaderBytes + TagBytes),
            result.AsSpan(HeaderBytes, TagBytes),
            result.AsSpan(0, HeaderBytes)
        );
        return result;
    }

    /// <summary>Decrypts a secret; null when it was sealed for another key or context, or is damaged.</summary>
    /// <param name="sealedSecret">The result of <see cref="Seal"/>.</param>
    /// <param name="own">The member's private key.</param>
    /// <param name="context">The context given to <see cref="Seal"/>.</param>
    public static byte[]? Open(ReadOnlySpan<byte> sealedSecret, ECDsa own, ReadOnlySpan<byte> context)
    {
        if (sealedSecret.Length < HeaderBytes + TagBytes || sealedSecret[0] != Version)
        {
            return null;
        }

        try
        {
            using var agreeing = ECDiffieHellman.Create(own.ExportParameters(includePrivateParameters: true));
            using var ephemeral = ECDiffieHellman.Create(
                new ECParameters
                {
                    Curve = ECCurve.NamedCurves.nistP256,
                    Q = ReadPoint(sealedSecret.Slice(1, PointBytes)),
                }
            );
            byte[] secret = new byte[sealedSecret.Length - HeaderBytes - TagBytes];
            using var cipher = CipherOf(agreeing, ephemeral.PublicKey, sealedSecret[..HeaderBytes], context);
            cipher.Decrypt(
                new byte[NonceBytes],
                sealedSecret[(HeaderBytes + TagBytes)..],
                sealedSecret.Slice(HeaderBytes, TagBytes),
                secret,
                sealedSecret[..HeaderBytes]
            );
            return secret;
        }
        catch (CryptographicException)
        {
            return null;
        }
    }

    private static AesGcm CipherOf(
        ECDiffieHellman own,
        ECDiffieHellmanPublicKey recipientKey,
        ReadOnlySpan<byte> header,
        ReadOnlySpan<byte> context
    )
    {
        byte[] shared = own.DeriveRawSecretAgreement(recipientKey);
        Span<byte> key = stackalloc byte[32];
        HKDF.DeriveKey(
            HashAlgorithmName.SHA256,
            shared,
            key,
            salt: header,
            info: [.. "rookery sealed key"u8, .. context]
        );
        CryptographicOperations.ZeroMemory(shared);
        return new AesGcm(key, TagBytes);
    }

    private static void WritePoint(ECPoint point, Span<byte> target)
    {
        target[0] = UncompressedPoint;
        point.X.CopyTo(target[1..]);
        point.Y.CopyTo(target[(1 + CoordinateBytes)..]);
    }

    private static ECPoint ReadPoint(ReadOnlySpan<byte> source) =>
        source[0] == UncompressedPoint
            ? new ECPoint
            {
                X = source.Slice(1, CoordinateBytes).ToArray(),
                Y = source.Slice(1 + CoordinateBytes, CoordinateBytes).ToArray(),
            }
            : throw new CryptographicException("not an uncompressed point");
}
