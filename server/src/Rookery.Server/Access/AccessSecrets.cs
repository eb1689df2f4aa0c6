using System.Security.Cryptography;
using System.Text;

namespace Rookery.Server;

/// <summary>What a node makes for its own machine when it starts: a token that may do everything, and a code by which it is claimed. Both end with the process.</summary>
public sealed class AccessSecrets
{
    /// <summary>Makes both.</summary>
    public static AccessSecrets Create() => new();

    /// <summary>For root and the owner of the process, who can read its file.</summary>
    public string LocalToken { get; } = AccessToken.Create();

    /// <summary>For whoever sees the output of a node without an owner: 80 bits.</summary>
    public string ClaimCode { get; } = ClaimRoute.CreateCode();

    /// <summary>What the server keeps of <see cref="LocalToken"/>.</summary>
    public ReadOnlyMemory<byte> LocalTokenHash => SHA256.HashData(Encoding.ASCII.GetBytes(LocalToken));
}
