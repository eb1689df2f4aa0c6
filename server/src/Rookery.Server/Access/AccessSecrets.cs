using System.Security.Cryptography;
using System.Text;

namespace Rookery.Server.Access;

/// <summary>
/// What a node makes for its own machine when it starts: a token that may do everything, and a code by which it is
/// claimed. Both end with the process.
/// </summary>
public sealed class AccessSecrets
{
    private AccessSecrets(string? presetClaimCode) =>
        (ClaimCode, IsClaimCodePreset) = (
            presetClaimCode ?? Rookery.Server.Access.ClaimCode.Create(),
            presetClaimCode is not null
        );

    /// <summary>Makes both; of the code only what was not preset.</summary>
    public static AccessSecrets Create(string? presetClaimCode) => new(presetClaimCode);

    /// <summary>For root and the owner of the process, who can read its file.</summary>
    public string LocalToken { get; } = AccessToken.Create();

    /// <summary>For whoever sees the output of a node without an owner, or has preset it.</summary>
    public string ClaimCode { get; }

    /// <summary>Whether the owner chose the code. He knows it, and it is not printed.</summary>
    public bool IsClaimCodePreset { get; }

    /// <summary>What the server keeps of <see cref="LocalToken"/>.</summary>
    public ReadOnlyMemory<byte> LocalTokenHash => SHA256.HashData(Encoding.ASCII.GetBytes(LocalToken));
}
