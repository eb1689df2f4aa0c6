using System.Buffers;
using Rookery.Documents.Records;

namespace Rookery.Server.Access;

/// <summary>Rules for the names of tokens and certificates.</summary>
internal static class AccessNames
{
    private const int MaxLength = 63; // longest DNS label: certificates contain the name as one

    private static readonly SearchValues<char> Allowed = SearchValues.Create("abcdefghijklmnopqrstuvwxyz0123456789-");

    /// <summary>
    /// Returns the key of the record that reserves a token's name. Of two concurrent requests for the name, only one
    /// can create the record.
    /// </summary>
    public static string KeyOfToken(string name) => ClusterRecordPrefix.Access + "name/" + name;

    /// <summary>Returns the key of the record that reserves a certificate's name.</summary>
    public static string KeyOfCertificate(string name) => ClusterRecordPrefix.ClientCertificate + "name/" + name;

    /// <summary>Returns why a text is not a valid name, in one sentence; null if it is valid.</summary>
    public static string? Problem(string? name) =>
        name is { Length: > 0 and <= MaxLength }
        && !name.AsSpan().ContainsAnyExcept(Allowed)
        && name[0] is not '-'
        && name[^1] is not '-'
            ? null
            : $"A name has 1 to {MaxLength} lower-case letters, digits and hyphens, and no hyphen at its ends; "
                + $"'{name}' is not valid.";
}
