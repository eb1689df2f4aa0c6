using System.Text.Json;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Joining;

/// <summary>
/// What the cluster knows of a member, as JSON under <see cref="ClusterRecordPrefix.Member"/> and its node id.
/// </summary>
public sealed record MemberRecord
{
    /// <summary>A letter, given once: A is the first member's.</summary>
    public required string Tag { get; init; }

    /// <summary>What it is called; no two members share a name.</summary>
    public required string Name { get; init; }

    /// <summary>Where it listens for members, <c>host:port</c>, the likeliest first. Hints.</summary>
    public required IReadOnlyList<string> Addresses { get; init; }

    /// <summary>The public key that it joined with (SubjectPublicKeyInfo): what is sealed for it.</summary>
    public required byte[] PublicKey { get; init; }

    /// <summary>Where it listens for clients, by address, said at its first start, the likeliest first.</summary>
    public IReadOnlyList<string> ClientUrls { get; init; } = [];

    /// <summary>Where clients reach it, as the owner says; null for its own addresses.</summary>
    public string? PublicUrl { get; init; }

    /// <summary>The id of its store, said at its first start and new with each format; null before.</summary>
    public Guid? StoreId { get; init; }

    /// <summary>How often its store had been started when it last said so.</summary>
    public long BootCounter { get; init; }

    /// <summary>
    /// By chance, one for each start of its program: a start with as many starts of the store behind it and another
    /// number is that of a copy.
    /// </summary>
    public ulong Run { get; init; }

    /// <summary>The newest <see cref="FormatLevel"/> that its program knows, said at each start; 0 before.</summary>
    public int NewestFormatLevel { get; init; }

    /// <summary>When it joined.</summary>
    public DateTimeOffset Joined { get; init; }

    /// <summary>
    /// Whether it is to vote beside an only voter: true when its owner chose a mirror at the join, said at its first
    /// start; false once it was demoted; null when nobody chose.
    /// </summary>
    public bool? IsMirror { get; init; }

    /// <summary>The key of a member's record.</summary>
    public static string KeyOf(string nodeId) => ClusterRecordPrefix.Member + nodeId;

    /// <summary>The members, by node id.</summary>
    public static IEnumerable<(string NodeId, MemberRecord Record, long Version)> All(IJoinRecordStore recordStore) =>
        from record in recordStore.List(ClusterRecordPrefix.Member)
        let member = Parse(record.Value.Span)
        where member is not null
        select (record.Key[ClusterRecordPrefix.Member.Length..], member, record.Version);

    /// <summary>
    /// Reads one, without addresses and a URL that are none; null when a newer version wrote it in a way that this one
    /// does not know.
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

    /// <summary>The record's value.</summary>
    public byte[] ToJson() => JsonSerializer.SerializeToUtf8Bytes(this, ClusterJson.Default.MemberRecord);
}
