using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Subscriptions;
using Rookery.Server.Raven.Cluster;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Subscriptions;

namespace Rookery.Server.Raven.Subscriptions;

/// <summary>Writes the state of a subscription in RavenDB's form.</summary>
internal static class SubscriptionJson
{
    /// <summary>Writes one object.</summary>
    public static void Write(
        Utf8JsonWriter json,
        HttpContext http,
        Database database,
        SubscriptionRecord record,
        ClusterView view,
        long connectedTicks
    )
    {
        json.WriteStartObject();
        WriteMembers(json, http, database, record, view, connectedTicks);
        json.WriteEndObject();
    }

    /// <summary>Writes the members of such an object.</summary>
    public static void WriteMembers(
        Utf8JsonWriter json,
        HttpContext http,
        Database database,
        SubscriptionRecord record,
        ClusterView view,
        long connectedTicks
    )
    {
        var serving = ServingMember.Of(record, view);
        json.WriteString("Query"u8, record.Query);
        json.WriteString(
            "ChangeVectorForNextBatchStartingPoint"u8,
            record.Progress == 0 ? null : database.ChangeVectorOf(record.Progress)
        );
        json.WriteNumber("SubscriptionId"u8, record.Number);
        json.WriteString("SubscriptionName"u8, record.Name);
        json.WriteString("MentorNode"u8, record.MentorNode);
        json.WriteBoolean("PinToMentorNode"u8, record.IsPinned);
        json.WriteString("NodeTag"u8, serving?.Tag);
        json.WriteString("LastBatchAckTime"u8, DateOf(record.AcknowledgedTicks));
        json.WriteString("LastClientConnectionTime"u8, DateOf(Math.Max(record.ConnectedTicks, connectedTicks)));
        json.WriteNumber("RaftCommandIndex"u8, record.Version);
        json.WriteBoolean("Disabled"u8, record.IsDisabled);
        json.WriteNull("ArchivedDataProcessingBehavior"u8);
        json.WriteNull("ShardingState"u8);
        json.WriteStartObject("ResponsibleNode"u8);
        json.WriteString("NodeTag"u8, serving?.Tag);
        json.WriteString("NodeUrl"u8, serving is null ? null : new NodeUrl(http, view.Members).Of(serving));
        json.WriteString("ResponsibleNode"u8, serving?.Tag);
        json.WriteEndObject();
    }

    private static string? DateOf(long ticks) => ticks == 0 ? null : DocumentJson.Date(ticks);
}
