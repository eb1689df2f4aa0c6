using System.Text.Json;
using Rookery.Cluster.Joining;
using Rookery.Documents.Consensus;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Membership;

/// <summary>
/// The topology for clients, recorded by the leader. Because it is replicated, all nodes return the same topology for
/// the same etag, and newer topologies have higher etags.
/// </summary>
internal sealed record TopologyRecord
{
    /// <summary>The record's key. A restored cluster keeps the record, so its etags continue to grow.</summary>
    public const string Key = ClusterRecordPrefix.Topology;

    /// <summary>A number that grows with each change.</summary>
    public required long Etag { get; init; }

    /// <summary>The members: the leader first, the others by tag.</summary>
    public required IReadOnlyList<TopologyMember> Members { get; init; }

    /// <summary>Parses a record; null when a newer version wrote it in an unknown format.</summary>
    public static TopologyRecord? Parse(ReadOnlySpan<byte> json) =>
        ClusterJson.TryRead(json, ClusterJson.Default.TopologyRecord);

    /// <summary>Returns the record's value.</summary>
    public byte[] ToJson() => JsonSerializer.SerializeToUtf8Bytes(this, ClusterJson.Default.TopologyRecord);

    /// <summary>Whether the two topologies are equal except for their etags.</summary>
    public bool EqualsExceptEtag(TopologyRecord? other) =>
        other is not null && (this with { Etag = other.Etag }).ToJson().AsSpan().SequenceEqual(other.ToJson());

    /// <summary>
    /// Returns this topology with each member's <see cref="TopologyMember.IsUp"/> taken from another topology. Members
    /// that the other topology lacks count as up.
    /// </summary>
    public TopologyRecord WithHealthOf(TopologyRecord? other) =>
        this with
        {
            Members = [.. Members.Select(member => member with { IsUp = other?.Of(member.NodeId)?.IsUp ?? true })],
        };

    /// <summary>Returns a member; null when there is none with that id.</summary>
    public TopologyMember? Of(string nodeId) =>
        Members.FirstOrDefault(member => string.Equals(member.NodeId, nodeId, StringComparison.Ordinal));
}

/// <summary>A member in the topology for clients.</summary>
internal sealed record TopologyMember
{
    /// <summary>The member's random id.</summary>
    public required string NodeId { get; init; }

    /// <summary>The member's tag.</summary>
    public required string Tag { get; init; }

    /// <summary>The member's name.</summary>
    public required string Name { get; init; }

    /// <summary>The URLs at which it listens for clients, with IP addresses.</summary>
    public required IReadOnlyList<string> Urls { get; init; }

    /// <summary>The URL at which clients reach it, as configured by the operator; null for none.</summary>
    public string? PublicUrl { get; init; }

    /// <summary>
    /// How often its store was started. A restart therefore changes the topology, so that clients try a member again
    /// that they had marked as failed.
    /// </summary>
    public long Starts { get; init; }

    /// <summary>Whether it counts for majorities.</summary>
    public bool IsVoter { get; init; }

    /// <summary>Whether it is the leader.</summary>
    public bool IsLeader { get; init; }

    /// <summary>Whether the leader is in contact with it.</summary>
    public bool IsUp { get; init; }

    /// <summary>Returns the member as clients and operators see it.</summary>
    /// <param name="self">The id of the answering node.</param>
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
