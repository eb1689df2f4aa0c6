using System.Buffers.Binary;
using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Rookery.Cluster.Identity;
using Rookery.Platform;

namespace Rookery.Cluster.Joining;

/// <summary>
/// A join token, which an operator copies from a member to a joining node. It contains the cluster's id, its members'
/// addresses, the SHA-256 of its authority's certificate, and a secret that admits one node. As text:
/// <c>rookery-join-1.</c> and base64url of <c>[secret 16][pin 32][cluster id][count u8][addresses]</c> with its
/// CRC-32C; each text is preceded by its length in one byte.
/// </summary>
/// <param name="ClusterId">The cluster's random id.</param>
/// <param name="Addresses">The members' addresses for members, <c>host:port</c>.</param>
/// <param name="Pin">The SHA-256 of the authority's certificate.</param>
/// <param name="Secret">128 random bits.</param>
public sealed record JoinToken(string ClusterId, IReadOnlyList<string> Addresses, byte[] Pin, byte[] Secret)
{
    /// <summary>The maximum number of addresses in a token.</summary>
    public const int MaxAddresses = 16;

    /// <summary>The length of a secret in bytes.</summary>
    internal const int SecretBytes = 16;

    private const string Heading = "rookery-join-1.";

    /// <summary>Makes a token with a new random secret.</summary>
    /// <param name="clusterId">The cluster's random id.</param>
    /// <param name="addresses">The members' addresses for members.</param>
    /// <param name="authority">The authority that signs their certificates.</param>
    public static JoinToken Create(string clusterId, IEnumerable<string> addresses, X509Certificate2 authority) =>
        new(
            clusterId,
            [.. addresses.Take(MaxAddresses)],
            ClusterAuthority.FingerprintOf(authority),
            RandomNumberGenerator.GetBytes(SecretBytes)
        );

    /// <summary>Parses a token; false when the text is not a token or is damaged.</summary>
    public static bool TryParse(string text, [NotNullWhen(true)] out JoinToken? token)
    {
        token = null;
        string trimmed = text.Trim();
        if (
            !trimmed.StartsWith(Heading, StringComparison.Ordinal) || !Base64Url.IsValid(trimmed.AsSpan(Heading.Length))
        )
        {
            return false;
        }

        byte[] bytes = Base64Url.DecodeFromChars(trimmed.AsSpan(Heading.Length));
        int end = bytes.Length - sizeof(uint);
        if (end <= 0 || BinaryPrimitives.ReadUInt32LittleEndian(bytes.AsSpan(end)) != Checksum.Of(bytes.AsSpan(0, end)))
        {
            return false;
        }

        token = Read(bytes.AsSpan(0, end));
        return token is not null;
    }

    /// <summary>
    /// Returns the text to copy to the joining machine. Keep it secret like a password until it is used.
    /// </summary>
    public string ToText()
    {
        using var bytes = new MemoryStream();
        bytes.Write(Secret);
        bytes.Write(Pin);
        WriteText(bytes, ClusterId);
        bytes.WriteByte((byte)Addresses.Count);
        foreach (string address in Addresses)
        {
            WriteText(bytes, address);
        }

        byte[] check = new byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32LittleEndian(check, Checksum.Of(bytes.ToArray()));
        bytes.Write(check);
        return Heading + Base64Url.EncodeToString(bytes.ToArray());
    }

    /// <summary>Describes the token without its secret, for logs.</summary>
    public override string ToString() => $"token for cluster {ClusterId}";

    private static JoinToken? Read(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < SecretBytes + SHA256.HashSizeInBytes)
        {
            return null;
        }

        byte[] secret = bytes[..SecretBytes].ToArray();
        byte[] pin = bytes.Slice(SecretBytes, SHA256.HashSizeInBytes).ToArray();
        bytes = bytes[(SecretBytes + SHA256.HashSizeInBytes)..];
        if (ReadText(ref bytes) is not { } clusterId || bytes.IsEmpty || bytes[0] > MaxAddresses)
        {
            return null;
        }

        string[] addresses = new string[bytes[0]];
        bytes = bytes[1..];
        for (int i = 0; i < addresses.Length; i++)
        {
            if (ReadText(ref bytes) is not { } address)
            {
                return null;
            }

            addresses[i] = address;
        }

        return bytes.IsEmpty ? new JoinToken(clusterId, addresses, pin, secret) : null;
    }

    private static string? ReadText(ref ReadOnlySpan<byte> bytes)
    {
        if (bytes.IsEmpty || bytes.Length < 1 + bytes[0])
        {
            return null;
        }

        string text = Encoding.UTF8.GetString(bytes.Slice(1, bytes[0]));
        bytes = bytes[(1 + bytes[0])..];
        return text;
    }

    private static void WriteText(MemoryStream bytes, string text)
    {
        byte[] encoded = Encoding.UTF8.GetBytes(text);
        Invariant.Holds(encoded.Length <= byte.MaxValue, "ids and addresses are short");
        bytes.WriteByte((byte)encoded.Length);
        bytes.Write(encoded);
    }
}
