using System.Security.Cryptography;
using System.Text.Json;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Joining;

/// <summary>
/// The cluster's record of a join token, as JSON under <see cref="ClusterRecordPrefix.JoinToken"/> and the hash of its
/// secret. Kept for a while after the token was used or expired, so that a refusal can report what happened to it.
/// </summary>
internal sealed record TokenRecord
{
    /// <summary>When the token was issued.</summary>
    public required DateTimeOffset Created { get; init; }

    /// <summary>When the token expires.</summary>
    public required DateTimeOffset Expires { get; init; }

    /// <summary>The id of the node that the token admitted; null before.</summary>
    public string? UsedBy { get; init; }

    /// <summary>When the token admitted that node; null before.</summary>
    public DateTimeOffset? Used { get; init; }

    /// <summary>
    /// Returns the key of a token's record. The secret has 128 random bits, so a plain hash is enough.
    /// </summary>
    public static string KeyOf(ReadOnlySpan<byte> secret) =>
        ClusterRecordPrefix.JoinToken + Convert.ToHexStringLower(SHA256.HashData(secret));

    /// <summary>Parses a record; null when it is malformed.</summary>
    public static TokenRecord? Parse(ReadOnlySpan<byte> json) =>
        ClusterJson.TryRead(json, ClusterJson.Default.TokenRecord);

    /// <summary>Returns the record's value.</summary>
    public byte[] ToJson() => JsonSerializer.SerializeToUtf8Bytes(this, ClusterJson.Default.TokenRecord);
}
