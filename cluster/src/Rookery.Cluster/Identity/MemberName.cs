using System.Buffers;

namespace Rookery.Cluster.Identity;

/// <summary>
/// Checks names of nodes, clusters and clients. A name is one DNS label (RFC 1123 2.1) in lower case, because a node's
/// name is its host name.
/// </summary>
public static class MemberName
{
    /// <summary>The maximum number of characters, as in a DNS label.</summary>
    public const int MaxCharacters = 63;

    /// <summary>The rule for names, as a sentence for users.</summary>
    public const string Rule = "A name is lower-case letters, digits and hyphens, as in a host name, 63 at most.";

    // RFC 1035 2.3.4: 255 bytes on the wire, of which a length byte and the root's byte are not in the text.
    private const int MaxDomainCharacters = 253;

    private static readonly SearchValues<char> Allowed = SearchValues.Create("abcdefghijklmnopqrstuvwxyz0123456789-");

    /// <summary>Whether a text is a valid name.</summary>
    public static bool IsValid(string? name) =>
        name is { Length: > 0 and <= MaxCharacters }
        && !name.AsSpan().ContainsAnyExcept(Allowed)
        && name[0] != '-'
        && name[^1] != '-';

    /// <summary>Whether a text is a valid DNS name or domain of one or more labels.</summary>
    public static bool IsValidDomain(string? domain) =>
        domain is { Length: > 0 and <= MaxDomainCharacters } && Array.TrueForAll(domain.Split('.'), IsValid);

    /// <summary>
    /// Makes a name from the machine's host name: its first label in lower case, or <c>node</c> if the label is not a
    /// valid name.
    /// </summary>
    public static string OfHost(string hostName)
    {
        string label = hostName.Split('.')[0].ToLowerInvariant();
        return IsValid(label) ? label : "node";
    }
}
