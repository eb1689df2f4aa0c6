using System.Buffers;

namespace Rookery.Cluster.Identity;

/// <summary>
/// Names of nodes, clusters and clients: one label of DNS (RFC 1123 2.1) in lower case, because a node's name is its
/// host name.
/// </summary>
public static class MemberName
{
    /// <summary>The most characters: a label of DNS.</summary>
    public const int MostCharacters = 63;

    /// <summary>What a name may be, in a sentence.</summary>
    public const string Rule = "A name is lower-case letters, digits and hyphens, as in a host name, 63 at most.";

    private static readonly SearchValues<char> Allowed = SearchValues.Create("abcdefghijklmnopqrstuvwxyz0123456789-");

    /// <summary>Whether a name may be used.</summary>
    public static bool IsValid(string? name) =>
        name is { Length: > 0 and <= MostCharacters }
        && !name.AsSpan().ContainsAnyExcept(Allowed)
        && name[0] != '-'
        && name[^1] != '-';

    /// <summary>Whether a DNS name or domain of one or more labels may be used.</summary>
    public static bool IsValidDomain(string? domain) =>
        domain is { Length: > 0 and <= 253 } && Array.TrueForAll(domain.Split('.'), IsValid);

    /// <summary>
    /// What the machine calls itself, as a name: lower case, the first label only; <c>node</c> where nothing usable is
    /// left.
    /// </summary>
    public static string OfHost(string hostName)
    {
        string label = hostName.Split('.')[0].ToLowerInvariant();
        return IsValid(label) ? label : "node";
    }
}
