using System.Text.Json;
using System.Text.Json.Serialization;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Joining;

/// <summary>
/// The cluster's record of a member, as JSON under <see cref="ClusterRecordPrefix.Member"/> and its node id.
/// </summary>
public sealed record MemberRecord
{
    /// <summary>The member's tag, assigned once; the first member's is A.</summary>
    public required string Tag { get; init; }

    /// <summary>The member's name, unique in the cluster.</summary>
    public required string Name { get; init; }

    /// <summary>
    /// The addresses at which it listens for members, <c>host:port</c>, the likeliest to answer first. They are hints.
    /// </summary>
    public required IReadOnlyList<string> Addresses { get; init; }

    /// <summary>
    /// The public key with which the member joined (SubjectPublicKeyInfo), for which secrets are encrypted.
    /// </summary>
    public required byte[] PublicKey { get; init; }

    /// <summary>
    /// The URLs at which it listens for clients, with IP addresses, the likeliest to answer first. Announced at each
    /// start.
    /// </summary>
    public IReadOnlyList<string> ClientUrls { get; init; } = [];

    /// <summary>
    /// The URL at which clients reach it, as configured by the operator; null to use <see cref="ClientUrls"/>.
    /// </summary>
    public string? PublicUrl { get; init; }

    /// <summary>
    /// The id of its store, new each time a data directory is formatted. Null until it is announced at the first start.
    /// </summary>
    public Guid? StoreId { get; init; }

    /// <summary>How often its store was started, as last announced.</summary>
    [JsonPropertyName("bootCounter")]
    public long StartNumber { get; init; }

    /// <summary>
    /// A random id of its last announced start. Another id with the same <see cref="StartNumber"/> reveals a copy of
    /// the store.
    /// </summary>
    [JsonPropertyName("run")]
    public ulong StartId { get; init; }

    /// <summary>
    /// The newest <see cref="FormatLevel"/> that its version supports. Announced at each start; 0 before the first.
    /// </summary>
    public int NewestFormatLevel { get; init; }

    /// <summary>When the member joined.</summary>
    public DateTimeOffset Joined { get; init; }

    /// <summary>
    /// Whether the second of two members is a voter too, a mirror. True when the operator chose that at the join
    /// (announced at its first start), false once it was demoted, otherwise null.
    /// </summary>
    public bool? IsMirror { get; init; }

    /// <summary>Returns the key of a member's record.</summary>
    public static string KeyOf(string nodeId) => ClusterRecordPrefix.Member + nodeId;

    /// <summary>Returns all members, by node id.</summary>
    public static IEnumerable<(string NodeId, MemberRecord Record, long Version)> All(IJoinRecordStore recordStore) =>
        from record in recordStore.List(ClusterRecordPrefix.Member)
        let member = Parse(record.Value.Span)
        where member is not null
        select (record.Key[ClusterRecordPrefix.Member.Length..], member, record.Version);

    /// <summary>
    /// Parses a record, dropping invalid addresses and an invalid URL; null when a newer version wrote it in an unknown
    /// format.
    /// </summary>
    public static MemberRecord? Parse(ReadOnlySpan<byte> json)
    {
        var record = ClusterJson.TryRead(json, ClusterJson.Default.MemberRecord);
        return record is null || (record.PublicUrl is null && record.Addresses.All(MemberAddress.IsValid))
            ? record
            : record with
            {
                Addresses = [.. record.Addresses.Where(MemberAddress.IsValid)],
                PublicUrl = record.PublicUrl is { } url && MemberAddress.IsClientUrl(url) ? url : null,
            };
    }

    /// <summary>Returns the record's value.</summary>
    public byte[] ToJson() => JsonSerializer.SerializeToUtf8Bytes(this, ClusterJson.Default.MemberRecord);
}
