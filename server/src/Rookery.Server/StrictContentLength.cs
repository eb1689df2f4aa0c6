using System.Text;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Net.Http.Headers;

namespace Rookery.Server;

/// <summary>
/// Makes Kestrel refuse a <c>Content-Length</c> that is not written in digits only (RFC 9110, section 8.6). Kestrel
/// reads a sign before the digits as if it were absent, but a proxy before the node may count such a body differently,
/// and requests would be mixed up (request smuggling).
/// </summary>
/// <remarks>
/// Kestrel does not show the header as it was sent, but lets a server choose the encoding by which a header is decoded.
/// This encoding decodes each digit to itself, and every other byte to a character that Kestrel refuses with 400.
/// </remarks>
internal sealed class StrictContentLength : Encoding
{
    // Kestrel refuses more characters than a long has digits, and has room for one more.
    private const int MaxCharacters = 20;

    private static readonly StrictContentLength Instance = new();

    /// <summary>Applies the rule to a server.</summary>
    public static void Require(KestrelServerOptions kestrel) =>
        kestrel.RequestHeaderEncodingSelector = static name =>
            name.Equals(HeaderNames.ContentLength, StringComparison.OrdinalIgnoreCase) ? Instance : null;

    /// <inheritdoc/>
    public override int GetChars(byte[] bytes, int byteIndex, int byteCount, char[] chars, int charIndex) =>
        GetChars(bytes.AsSpan(byteIndex, byteCount), chars.AsSpan(charIndex));

    /// <inheritdoc/>
    public override int GetChars(ReadOnlySpan<byte> bytes, Span<char> chars)
    {
        int count = Math.Min(bytes.Length, Math.Min(chars.Length, MaxCharacters));
        for (int at = 0; at < count; at++)
        {
            chars[at] = char.IsAsciiDigit((char)bytes[at]) ? (char)bytes[at] : '?';
        }

        return count;
    }

    /// <inheritdoc/>
    public override int GetCharCount(byte[] bytes, int index, int count) => count;

    /// <inheritdoc/>
    public override int GetMaxCharCount(int byteCount) => byteCount;

    /// <inheritdoc/>
    public override int GetByteCount(char[] chars, int index, int count) => ASCII.GetByteCount(chars, index, count);

    /// <inheritdoc/>
    public override int GetBytes(char[] chars, int charIndex, int charCount, byte[] bytes, int byteIndex) =>
        ASCII.GetBytes(chars, charIndex, charCount, bytes, byteIndex);

    /// <inheritdoc/>
    public override int GetMaxByteCount(int charCount) => ASCII.GetMaxByteCount(charCount);
}
