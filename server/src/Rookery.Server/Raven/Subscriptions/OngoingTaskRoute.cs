using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Subscriptions;
using Rookery.Server.Subscriptions;

namespace Rookery.Server.Raven.Subscriptions;

/// <summary>
/// GET task?type=Subscription&amp;key=… or &amp;taskName=…: a subscription as an ongoing task, the only type of task in
/// this version.
/// </summary>
internal sealed class OngoingTaskRoute(ServerContext context)
{
    public Task AnswerAsync(HttpContext http, Database database)
    {
        var parameters = new QueryParameters(http);
        RequireSubscription(parameters.RequiredText("type"));
        string? name = parameters.Text("taskName");
        long number = name is null ? parameters.Number("key", defaultValue: 0) : 0;
        if (name is null && number == 0)
        {
            throw RefusedException.BadRequest("Name the task with 'key' (its number) or 'taskName'.");
        }

        SubscriptionRecord record;
        using (var reader = database.OpenReader())
        {
            var found = name is null ? SubscriptionRows.Find(reader, number) : SubscriptionRows.Find(reader, name);
            record = found ?? throw SubscriptionRoutes.Missing(name is null ? $"with the id {number}" : $"'{name}'");
        }

        return JsonResponse.SendAsync(http, json => Write(json, http, database, record));
    }

    /// <summary>Refuses types of tasks that do not exist in this version.</summary>
    public static void RequireSubscription(string type)
    {
        if (type is not "Subscription")
        {
            throw RefusedException.NotSupported(
                $"Ongoing tasks of the type '{type}' are not supported by this version; there are subscriptions only."
            );
        }
    }

    private void Write(Utf8JsonWriter json, HttpContext http, Database database, SubscriptionRecord record)
    {
        var view = context.Node.Consensus.View;
        long connectedTicks = context.Subscriptions.ConnectedTicks(database, record.Number);
        json.WriteNumber("TaskId"u8, record.Number);
        json.WriteString("TaskType"u8, "Subscription"u8);
        json.WriteString("TaskName"u8, record.Name);
        json.WriteString("TaskState"u8, record.IsDisabled ? "Disabled"u8 : "Enabled"u8);
        json.WriteString(
            "TaskConnectionStatus"u8,
            ServingMember.Of(record, view) is not { IsSelf: true } ? "NotOnThisNode"u8
                : connectedTicks > 0 ? "Active"u8
                : "NotActive"u8
        );
        json.WriteNull("Error"u8);
        SubscriptionJson.WriteMembers(json, http, database, record, view, connectedTicks);
    }
}
