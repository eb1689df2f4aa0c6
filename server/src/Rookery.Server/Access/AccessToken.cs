using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Rookery.Documents.Records;

namespace Rookery.Server.Access;

/// <summary>
/// Bearer tokens (RFC 6750): <c>rookery_</c> and 32 random bytes in base64url. The prefix lets scanners for leaked
/// secrets find them. A token has 256 random bits, so a plain SHA-256 of it can be stored: the token cannot be found by
/// guessing.
/// </summary>
internal static class AccessToken
{
    /// <summary>Length of a token in characters.</summary>
    /// <remarks>The prefix, and 32 bytes in base64url without padding.</remarks>
    public const int Length = 8 + 43;

    /// <summary>Length of a hash in bytes.</summary>
    public const int HashBytes = SHA256.HashSizeInBytes;

    private const string Prefix = "rookery_";
    private const string Scheme = "Bearer ";
    private const int RandomBytes = 32;

    /// <summary>Creates a token. It is shown once and not stored.</summary>
    public static string Create() => Prefix + Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(RandomBytes));

    /// <summary>
    /// Whether an Authorization header has the form of a token of Rookery. The token may be unknown or malformed.
    /// </summary>
    public static bool HasTokenForm(string header) =>
        header.StartsWith(Scheme + Prefix, StringComparison.OrdinalIgnoreCase);

    /// <summary>Hashes the token of an Authorization header, without allocation.</summary>
    /// <param name="header">The header's value.</param>
    /// <param name="hash">Receives <see cref="HashBytes"/> bytes.</param>
    /// <returns>False if the header is not a bearer token of Rookery.</returns>
    public static bool TryHashHeader(string header, Span<byte> hash) =>
        header.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase)
        && TryHash(header.AsSpan(Scheme.Length).Trim(' '), hash);

    /// <summary>Hashes a token.</summary>
    /// <returns>False if the text is not a token.</returns>
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

    /// <summary>Returns the key of the cluster record of the token with a hash.</summary>
    public static string KeyOf(ReadOnlySpan<byte> hash) => ClusterRecordPrefix.Access + Base64Url.EncodeToString(hash);

    /// <summary>Returns the hash in the key of a cluster record; null if the key is not that of a token.</summary>
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
