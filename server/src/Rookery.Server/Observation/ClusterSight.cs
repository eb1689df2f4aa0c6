using System.Text.Json;
using Rookery.Documents.Consensus;

namespace Rookery.Server.Observation;

/// <summary>How one member sees the others. Only the leader knows most of it.</summary>
/// <param name="IsLeader">Whether it leads.</param>
/// <param name="LeaderTag">Who leads, as far as it knows; null for nobody.</param>
/// <param name="Term">The term in which it says so.</param>
/// <param name="LimitedBy">The member that limits what the cluster takes; null when it does not know.</param>
/// <param name="SuccessorTag">Who would lead after it; null when it does not know, or nobody could.</param>
/// <param name="Members">The members.</param>
internal sealed record ClusterSight(
    bool IsLeader,
    string? LeaderTag,
    long Term,
    string? LimitedBy,
    string? SuccessorTag,
    IReadOnlyList<SeenMember> Members
)
{
    /// <summary>What this node sees.</summary>
    public static ClusterSight Of(ConsensusStatistics cluster) =>
        new(
            cluster.Members.Any(static one => one.Member is { IsSelf: true, IsLeader: true }),
            cluster.LeaderTag,
            cluster.Term,
            cluster.Capacity?.LimitedBy,
            cluster.SuccessorTag,
            [
                .. cluster.Members.Select(static one => new SeenMember(
                    one.Member.Tag,
                    one.IsReachable,
                    one.LagEntries,
                    one.SyncMicroseconds / 1000.0,
                    one.SpareBytes,
                    one.HeardSeconds
                )),
            ]
        );

    /// <summary>Writes it as an object.</summary>
    public void WriteTo(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteBoolean("IsLeader"u8, IsLeader);
        json.WriteString("LeaderTag"u8, LeaderTag);
        json.WriteNumber("Term"u8, Term);
        json.WriteString("LimitedBy"u8, LimitedBy);
        json.WriteString("SuccessorTag"u8, SuccessorTag);
        json.WriteStartArray("Members"u8);
        foreach (var one in Members)
        {
            json.WriteStartObject();
            json.WriteString("Tag"u8, one.Tag);
            ObservationJson.WriteOptional(json, "IsReachable"u8, one.IsReachable);
            ObservationJson.WriteOptional(json, "LagEntries"u8, one.LagEntries);
            ObservationJson.WriteOptional(json, "SyncP99Milliseconds"u8, one.SyncP99Milliseconds);
            ObservationJson.WriteOptional(json, "SpareBytes"u8, one.SpareBytes);
            ObservationJson.WriteOptional(json, "HeardSeconds"u8, one.HeardSeconds);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    /// <summary>Reads it from another member's answer; null for null.</summary>
    /// <exception cref="JsonException">It is something else.</exception>
    public static ClusterSight? Read(JsonElement json) =>
        json.ValueKind != JsonValueKind.Object
            ? null
            : new ClusterSight(
                json.GetProperty("IsLeader"u8).GetBoolean(),
                json.GetProperty("LeaderTag"u8).GetString(),
                json.GetProperty("Term"u8).GetInt64(),
                json.GetProperty("LimitedBy"u8).GetString(),
                json.GetProperty("SuccessorTag"u8).GetString(),
                [
                    .. json.GetProperty("Members"u8)
                        .EnumerateArray()
                        .Select(static one => new SeenMember(
                            one.GetProperty("Tag"u8).GetString() ?? string.Empty,
                            one.GetProperty("IsReachable"u8)
                                is { ValueKind: JsonValueKind.True or JsonValueKind.False } reachable
                                ? reachable.GetBoolean()
                                : null,
                            ObservationJson.ReadLong(one, "LagEntries"u8),
                            ObservationJson.ReadDouble(one, "SyncP99Milliseconds"u8),
                            ObservationJson.ReadLong(one, "SpareBytes"u8),
                            ObservationJson.ReadDouble(one, "HeardSeconds"u8)
                        )),
                ]
            );
}

/// <summary>One member, as another sees it. Null is "not known".</summary>
/// <param name="Tag">Its letter.</param>
/// <param name="IsReachable">Whether it answers.</param>
/// <param name="LagEntries">How many entries of the log it lacks.</param>
/// <param name="SyncP99Milliseconds">What 99 % of its recent journal writes did not exceed.</param>
/// <param name="SpareBytes">Bytes free there beyond its reserve.</param>
/// <param name="HeardSeconds">How long ago it last answered.</param>
internal sealed record SeenMember(
    string Tag,
    bool? IsReachable,
    long? LagEntries,
    double? SyncP99Milliseconds,
    long? SpareBytes,
    double? HeardSeconds
);
