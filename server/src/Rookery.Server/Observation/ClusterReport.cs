using System.Text.Json;
using Rookery.Documents.Consensus;

namespace Rookery.Server.Observation;

/// <summary>The cluster as one member sees it. Only the leader knows the state of other members.</summary>
/// <param name="IsLeader">Whether this member is leader.</param>
/// <param name="LeaderTag">Tag of the leader; null if none is known.</param>
/// <param name="Term">Term of this view.</param>
/// <param name="LimitedBy">Tag of the member that limits the cluster's capacity; null if it is not known.</param>
/// <param name="SuccessorTag">Tag of the member that would become leader next; null if it is not known or there is
/// none.</param>
/// <param name="Members">The members.</param>
internal sealed record ClusterReport(
    bool IsLeader,
    string? LeaderTag,
    long Term,
    string? LimitedBy,
    string? SuccessorTag,
    IReadOnlyList<ReportedMember> Members
)
{
    /// <summary>Returns this node's view.</summary>
    public static ClusterReport Of(ConsensusStatistics cluster) =>
        new(
            cluster.Members.Any(static member => member.Member is { IsSelf: true, IsLeader: true }),
            cluster.LeaderTag,
            cluster.Term,
            cluster.Capacity?.LimitedBy,
            cluster.SuccessorTag,
            [
                .. cluster.Members.Select(static member => new ReportedMember(
                    member.Member.Tag,
                    member.IsReachable,
                    member.LagEntries,
                    member.SyncMicroseconds / 1000.0,
                    member.SpareBytes,
                    member.HeardSeconds
                )),
            ]
        );

    /// <summary>Writes the view as an object.</summary>
    public void WriteTo(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteBoolean("IsLeader"u8, IsLeader);
        json.WriteString("LeaderTag"u8, LeaderTag);
        json.WriteNumber("Term"u8, Term);
        json.WriteString("LimitedBy"u8, LimitedBy);
        json.WriteString("SuccessorTag"u8, SuccessorTag);
        json.WriteStartArray("Members"u8);
        foreach (var member in Members)
        {
            json.WriteStartObject();
            json.WriteString("Tag"u8, member.Tag);
            ObservationJson.WriteOptional(json, "IsReachable"u8, member.IsReachable);
            ObservationJson.WriteOptional(json, "LagEntries"u8, member.LagEntries);
            ObservationJson.WriteOptional(json, "SyncP99Milliseconds"u8, member.SyncP99Milliseconds);
            ObservationJson.WriteOptional(json, "SpareBytes"u8, member.SpareBytes);
            ObservationJson.WriteOptional(json, "HeardSeconds"u8, member.HeardSeconds);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    /// <summary>Reads a view from another member's answer; null for null.</summary>
    /// <exception cref="JsonException">The JSON is not a view.</exception>
    public static ClusterReport? Read(JsonElement json) =>
        json.ValueKind != JsonValueKind.Object
            ? null
            : new ClusterReport(
                json.GetProperty("IsLeader"u8).GetBoolean(),
                json.GetProperty("LeaderTag"u8).GetString(),
                json.GetProperty("Term"u8).GetInt64(),
                json.GetProperty("LimitedBy"u8).GetString(),
                json.GetProperty("SuccessorTag"u8).GetString(),
                [
                    .. json.GetProperty("Members"u8)
                        .EnumerateArray()
                        .Select(static member => new ReportedMember(
                            member.GetProperty("Tag"u8).GetString() ?? string.Empty,
                            member.GetProperty("IsReachable"u8)
                                is { ValueKind: JsonValueKind.True or JsonValueKind.False } reachable
                                ? reachable.GetBoolean()
                                : null,
                            ObservationJson.ReadLong(member, "LagEntries"u8),
                            ObservationJson.ReadDouble(member, "SyncP99Milliseconds"u8),
                            ObservationJson.ReadLong(member, "SpareBytes"u8),
                            ObservationJson.ReadDouble(member, "HeardSeconds"u8)
                        )),
                ]
            );
}

/// <summary>One member, as another member sees it. Null means unknown.</summary>
/// <param name="Tag">The member's tag.</param>
/// <param name="IsReachable">Whether it answers requests.</param>
/// <param name="LagEntries">Number of log entries that it lacks.</param>
/// <param name="SyncP99Milliseconds">99th percentile of its recent journal syncs.</param>
/// <param name="SpareBytes">Free bytes beyond its reserve; negative below it.</param>
/// <param name="HeardSeconds">Seconds since it last answered.</param>
internal sealed record ReportedMember(
    string Tag,
    bool? IsReachable,
    long? LagEntries,
    double? SyncP99Milliseconds,
    long? SpareBytes,
    double? HeardSeconds
);
