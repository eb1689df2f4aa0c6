using System.Text.Json;
using Rookery.Cluster.Joining;
using Rookery.Documents.Consensus;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Membership;

/// <summary>
/// What clients are told of the cluster, as its leader wrote it down. That it is replicated makes nodes that answer
/// with the same etag say the same, and a later word have a higher one, whichever of them is asked and however far it
/// is behind.
/// </summary>
internal sealed record TopologyRecord
{
    /// <summary>Where it lies. A restored cluster keeps it, so that etags go on to grow.</summary>
    public const string Key = ClusterRecordPrefix.Topology;

    /// <summary>Grows with each change.</summary>
    public required long Etag { get; init; }

    /// <summary>The leader first, then by tag.</summary>
    public required IReadOnlyList<TopologyMember> Members { get; init; }

    /// <summary>Reads one; null when a newer version wrote it in a way that this one does not know.</summary>
    public static TopologyRecord? Parse(ReadOnlySpan<byte> json) =>
        ClusterJson.TryRead(json, ClusterJson.Default.TopologyRecord);

    /// <summary>The record's value.</summary>
    public byte[] ToJson() => JsonSerializer.SerializeToUtf8Bytes(this, ClusterJson.Default.TopologyRecord);

    /// <summary>Whether it says the same as another, whatever their etags.</summary>
    public bool Repeats(TopologyRecord? other) =>
        other is not null && (this with { Etag = other.Etag }).ToJson().AsSpan().SequenceEqual(other.ToJson());

    /// <summary>The same with everybody's health as another says; who is not in that is up.</summary>
    public TopologyRecord WithHealthOf(TopologyRecord? other) =>
        this with
        {
            Members = [.. Members.Select(member => member with { IsUp = other?.Of(member.NodeId)?.IsUp ?? true })],
        };

    /// <summary>A member of it; null when it is none.</summary>
    public TopologyMember? Of(string nodeId) =>
        Members.FirstOrDefault(member => string.Equals(member.NodeId, nodeId, StringComparison.Ordinal));
}

/// <summary>A member, as clients are told of it.</summary>
internal sealed record TopologyMember
{
    /// <summary>Its random id.</summary>
    public required string NodeId { get; init; }

    /// <summary>Its letter.</summary>
    public required string Tag { get; init; }

    /// <summary>What it is called.</summary>
    public required string Name { get; init; }

    /// <summary>Where it listens for clients, by address.</summary>
    public required IReadOnlyList<string> Urls { get; init; }

    /// <summary>Where clients reach it, as its owner says.</summary>
    public string? PublicUrl { get; init; }

    /// <summary>How often it was started: clients that gave it up take it again with a new topology only.</summary>
    public long Starts { get; init; }

    /// <summary>Whether it is counted in majorities.</summary>
    public bool IsVoter { get; init; }

    /// <summary>Whether it leads.</summary>
    public bool IsLeader { get; init; }

    /// <summary>Whether the leader hears it.</summary>
    public bool IsUp { get; init; }

    /// <summary>As clients and owners see it.</summary>
    /// <param name="self">The id of the node that says so.</param>
    public ClusterViewMember ToView(string self) =>
        new(
            Tag,
            NodeId,
            Name,
            Urls,
            PublicUrl,
            IsVoter,
            IsLeader,
            string.Equals(NodeId, self, StringComparison.Ordinal)
        )
        {
            IsUp = IsUp,
        };
}
