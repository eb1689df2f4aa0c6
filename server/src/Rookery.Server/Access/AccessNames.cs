using System.Buffers;
using Rookery.Documents.Records;

namespace Rookery.Server.Access;

/// <summary>How tokens and certificates may be called.</summary>
internal static class AccessNames
{
    private const int MaxLength = 63; // a label of the DNS, because certificates carry it

    private static readonly SearchValues<char> Allowed = SearchValues.Create("abcdefghijklmnopqrstuvwxyz0123456789-");

    /// <summary>
    /// The record that stands for the name of a token: of two who make one of the same name at once, one is refused.
    /// </summary>
    public static string KeyOfToken(string name) => ClusterRecordPrefix.Access + "name/" + name;

    /// <summary>The same of a certificate.</summary>
    public static string KeyOfCertificate(string name) => ClusterRecordPrefix.ClientCertificate + "name/" + name;

    /// <summary>Why a text is no name, in a sentence; null when it is one.</summary>
    public static string? Problem(string? name) =>
        name is { Length: > 0 and <= MaxLength }
        && !name.AsSpan().ContainsAnyExcept(Allowed)
        && name[0] is not '-'
        && name[^1] is not '-'
            ? null
            : $"A name has 1 to {MaxLength} lower-case letters, digits and hyphens, and no hyphen at its ends; "
                + $"'{name}' is none.";
}
