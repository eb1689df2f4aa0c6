using System.Security.Cryptography;
using System.Text;

namespace Rookery.Server.Access;

/// <summary>
/// Secrets that a node creates at its start: a token with all rights for its own machine, and the code that claims it.
/// Both are valid until the process ends.
/// </summary>
public sealed class AccessSecrets
{
    private AccessSecrets(string? presetClaimCode) =>
        (ClaimCode, IsClaimCodePreset) = (
            presetClaimCode ?? Rookery.Server.Access.ClaimCode.Create(),
            presetClaimCode is not null
        );

    /// <summary>Creates both; uses <paramref name="presetClaimCode"/> as the code if it is not null.</summary>
    public static AccessSecrets Create(string? presetClaimCode) => new(presetClaimCode);

    /// <summary>The token with all rights. Root and the owner of the process can read its file.</summary>
    public string LocalToken { get; } = AccessToken.Create();

    /// <summary>The claim code. A node without an owner prints it, unless it was preset.</summary>
    public string ClaimCode { get; }

    /// <summary>Whether the owner preset the code. It is then not printed.</summary>
    public bool IsClaimCodePreset { get; }

    /// <summary>SHA-256 of <see cref="LocalToken"/>, which is all that the server keeps.</summary>
    public ReadOnlyMemory<byte> LocalTokenHash => SHA256.HashData(Encoding.ASCII.GetBytes(LocalToken));
}
