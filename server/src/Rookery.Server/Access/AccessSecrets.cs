using System.Security.Cryptography;
using System.Text;

namespace Rookery.Server.Access;

/// <summary>
/// Secrets that a node creates at its start: a token with all rights for its own machine, and its claim code.
/// Both are valid until the process ends.
/// </summary>
public sealed class AccessSecrets
{
    private AccessSecrets(string? presetClaimCode) =>
        (ClaimCode, IsClaimCodePreset) = (
            presetClaimCode ?? Rookery.Server.Access.ClaimCode.Create(),
            presetClaimCode is not null
        );

    /// <summary>Creates a token, and a claim code unless <paramref name="presetClaimCode"/> is given.</summary>
    public static AccessSecrets Create(string? presetClaimCode) => new(presetClaimCode);

    /// <summary>
    /// The token with all rights. The node writes it to a file that root and the owner of the process can read.
    /// </summary>
    public string LocalToken { get; } = AccessToken.Create();

    /// <summary>The claim code. A node without an owner prints it, unless it was preset.</summary>
    public string ClaimCode { get; }

    /// <summary>Whether the owner preset the code. It is then not printed.</summary>
    public bool IsClaimCodePreset { get; }

    /// <summary>SHA-256 of <see cref="LocalToken"/>. The server keeps only this hash.</summary>
    public ReadOnlyMemory<byte> LocalTokenHash => SHA256.HashData(Encoding.ASCII.GetBytes(LocalToken));
}
