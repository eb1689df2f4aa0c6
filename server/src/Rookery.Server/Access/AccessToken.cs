using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Rookery.Documents.Records;

namespace Rookery.Server.Access;

/// <summary>
/// Bearer tokens (RFC 6750): <c>rookery_</c> and 32 random bytes in base64url. The prefix lets scanners for leaked
/// secrets find them. A token has 256 bits of its own, so its plain SHA-256 can be kept: nobody finds the token by
/// trying.
/// </summary>
internal static class AccessToken
{
    /// <summary>Characters of a token.</summary>
    public const int Length = 8 + 43;

    /// <summary>Bytes of its hash.</summary>
    public const int HashBytes = SHA256.HashSizeInBytes;

    private const string Prefix = "rookery_";
    private const string Scheme = "Bearer ";
    private const int RandomBytes = 32;

    /// <summary>Makes one. It is shown once, and not kept.</summary>
    public static string Create() => Prefix + Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(RandomBytes));

    /// <summary>Whether an Authorization header means to be one of ours.</summary>
    public static bool IsMeant(string header) => header.StartsWith(Scheme + Prefix, StringComparison.OrdinalIgnoreCase);

    /// <summary>Hashes the token of an Authorization header. Allocates nothing.</summary>
    /// <param name="header">The header's value.</param>
    /// <param name="hash"><see cref="HashBytes"/> bytes.</param>
    /// <returns>False when it is not a bearer token of ours.</returns>
    public static bool TryHashHeader(string header, Span<byte> hash) =>
        header.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase)
        && TryHash(header.AsSpan(Scheme.Length).Trim(' '), hash);

    /// <summary>Hashes a token.</summary>
    /// <returns>False when it is none.</returns>
    public static bool TryHash(ReadOnlySpan<char> token, Span<byte> hash)
    {
        if (token.Length != Length || !token.StartsWith(Prefix, StringComparison.Ordinal) || !Ascii.IsValid(token))
        {
            return false;
        }

        Span<byte> text = stackalloc byte[Length];
        Ascii.FromUtf16(token, text, out _);
        SHA256.HashData(text, hash);
        return true;
    }

    /// <summary>A hash as it stands in the key of a cluster record.</summary>
    public static string KeyOf(ReadOnlySpan<byte> hash) => ClusterRecordPrefix.Access + Base64Url.EncodeToString(hash);

    /// <summary>The hash in the key of a cluster record; null when it is none.</summary>
    public static byte[]? HashIn(string key)
    {
        byte[] hash = new byte[HashBytes];
        var text = key.AsSpan(ClusterRecordPrefix.Access.Length);
        return
            text.Length == Base64Url.GetEncodedLength(HashBytes)
            && Base64Url.IsValid(text)
            && Base64Url.TryDecodeFromChars(text, hash, out int written)
            && written == HashBytes
            ? hash
            : null;
    }
}
