using System.Security.Cryptography;
using System.Text.Json;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Joining;

/// <summary>
/// What the cluster keeps of a join token, as JSON under <see cref="ClusterRecordPrefix.JoinToken"/> and the hash of
/// its secret. It stays a while after it was used or ended, so that both can be said.
/// </summary>
internal sealed record TokenRecord
{
    /// <summary>When it was made.</summary>
    public required DateTimeOffset Created { get; init; }

    /// <summary>When it ends.</summary>
    public required DateTimeOffset Expires { get; init; }

    /// <summary>The node that it let in.</summary>
    public string? UsedBy { get; init; }

    /// <summary>When.</summary>
    public DateTimeOffset? Used { get; init; }

    /// <summary>The key of a token's record. The secret has 128 random bits, so a plain hash is enough.</summary>
    public static string KeyOf(ReadOnlySpan<byte> secret) =>
        ClusterRecordPrefix.JoinToken + Convert.ToHexStringLower(SHA256.HashData(secret));

    /// <summary>Reads one.</summary>
    public static TokenRecord? Parse(ReadOnlySpan<byte> json) =>
        ClusterJson.TryRead(json, ClusterJson.Default.TokenRecord);

    /// <summary>The record's value.</summary>
    public byte[] ToJson() => JsonSerializer.SerializeToUtf8Bytes(this, ClusterJson.Default.TokenRecord);
}
