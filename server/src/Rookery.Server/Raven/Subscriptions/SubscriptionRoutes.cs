using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Subscriptions;

namespace Rookery.Server.Raven.Subscriptions;

/// <summary>
/// Defines, changes, lists and deletes data subscriptions, and drops their workers. The documents go over a connection
/// of their own: see <see cref="Server.Subscriptions.SubscriptionConnection"/>.
/// </summary>
internal sealed class SubscriptionRoutes(ServerContext context)
{
    /// <summary>PUT subscriptions[?id=…]: defines a subscription, or changes the one with the id.</summary>
    public async Task PutAsync(HttpContext http, Database database)
    {
        var body = await ReadAsync(http);
        long id = new QueryParameters(http).Number("id", defaultValue: 0);
        if (id == 0 && body.Query is null)
        {
            throw RefusedException.BadRequest("A subscription needs a 'Query', such as \"from Orders\".");
        }

        RefuseUpdateMembers(body);
        var command = Encode(http, database, body, id == 0 ? body.Id : id, creates: id == 0, mustBeNew: id == 0);
        await AnswerAsync(http, await ProposeAsync(http, command), StatusCodes.Status201Created, Shown(body, id));
    }

    /// <summary>POST subscriptions/update: changes a subscription, found by its id or name.</summary>
    public async Task UpdateAsync(HttpContext http, Database database)
    {
        var body = await ReadAsync(http);
        if (body.Id == 0 && body.Name is null)
        {
            throw RefusedException.BadRequest("An update needs the 'Name' or the 'Id' of the subscription.");
        }

        if (body.CreatesNew && body.Query is null)
        {
            throw RefusedException.BadRequest("'CreateNew' needs a 'Query', such as \"from Orders\".");
        }

        var command = Encode(http, database, body, body.Id, creates: body.CreatesNew, mustBeNew: false);
        await AnswerAsync(http, await ProposeAsync(http, command), StatusCodes.Status200OK, Shown(body, body.Id));
    }

    /// <summary>
    /// GET subscriptions[?start=&amp;pageSize=]: the subscriptions, by name. Holds one of them at a time.
    /// </summary>
    public async Task ListAsync(HttpContext http, Database database)
    {
        const int DefaultPageSize = 25;
        const int CopiesOfQuery = 8; // as text, and as JSON in which each character may take six bytes
        var parameters = new QueryParameters(http);
        long skipped = parameters.Number("start", defaultValue: 0);
        long left = parameters.Number("pageSize", DefaultPageSize);
        var view = context.Node.Consensus.View;
        byte[]? after = null;
        using var answer = new DocumentResponse(http, context.LargeRequests);
        answer.Write("{\"Results\":["u8);
        while (left-- > 0)
        {
            while (!answer.TryReserve(CopiesOfQuery * SubscriptionRecord.MaxQueryBytes))
            {
                await answer.WaitForMemoryAsync(CopiesOfQuery * SubscriptionRecord.MaxQueryBytes);
            }

            bool isFirst = after is null;
            SubscriptionRecord? record;
            using (var reader = database.OpenReader())
            {
                record = SubscriptionRows.ReadNext(reader, skipped, ref after);
            }

            if (record is null)
            {
                break;
            }

            skipped = 0;
            answer.Write(isFirst ? ""u8 : ","u8);
            using (var json = new System.Text.Json.Utf8JsonWriter(answer.Buffer))
            {
                SubscriptionJson.Write(json, http, database, record, view, ConnectedTicks(database, record));
            }

            await answer.SendWhenDueAsync(pause: null);
        }

        answer.Write("]}"u8);
        await answer.SendAsync();
    }

    /// <summary>GET subscriptions/state?name=…: one subscription.</summary>
    public async Task StateAsync(HttpContext http, Database database)
    {
        string name = new QueryParameters(http).RequiredText("name");
        SubscriptionRecord? record;
        using (var reader = database.OpenReader())
        {
            record = SubscriptionRows.Find(reader, name);
        }

        if (record is null)
        {
            throw Missing($"'{name}'");
        }

        using var answer = ResponseBuffer.Rent();
        using (var json = new System.Text.Json.Utf8JsonWriter(answer))
        {
            SubscriptionJson.Write(
                json,
                http,
                database,
                record,
                context.Node.Consensus.View,
                ConnectedTicks(database, record)
            );
        }

        await answer.SendAsync(http);
    }

    /// <summary>DELETE subscriptions?taskName=…: deletes a subscription. A missing one is no error.</summary>
    public async Task DeleteAsync(HttpContext http, Database database)
    {
        string name = ReadName(http, "taskName");
        await ProposeAsync(
            http,
            SubscriptionWriter.Delete(database.Number, IdempotencyHeader.ReadOrRequestId(http), name)
        );
        IdempotencyHeader.WriteHorizon(http, database);
        await EmptyResponse.AnswerNoContent(http);
    }

    /// <summary>
    /// POST subscriptions/drop?name=…[&amp;workerId=…]: ends the connections of a subscription's workers, or of one.
    /// </summary>
    public async Task DropAsync(HttpContext http, Database database)
    {
        string name = ReadName(http, "name");
        string? worker = new QueryParameters(http).Text("workerId");
        if (worker is { Length: > Server.Subscriptions.WorkerOptions.MaxWorkerIdLength })
        {
            throw RefusedException.BadRequest(
                $"'workerId' has at most {Server.Subscriptions.WorkerOptions.MaxWorkerIdLength} characters."
            );
        }

        var outcome = await ProposeAsync(
            http,
            SubscriptionWriter.Drop(database.Number, name, string.IsNullOrEmpty(worker) ? null : worker)
        );
        await (
            outcome[0].Status == OperationStatus.Configured
                ? EmptyResponse.AnswerNoContent(http)
                : throw Missing($"'{name}'")
        );
    }

    /// <summary>
    /// POST admin/tasks/state?type=Subscription&amp;disable=…&amp;taskName=…: enables or disables a subscription.
    /// </summary>
    public async Task SetStateAsync(HttpContext http, Database database)
    {
        var parameters = new QueryParameters(http);
        OngoingTaskRoute.RequireSubscription(parameters.RequiredText("type"));
        long id = parameters.Number("key", defaultValue: 0);
        string? name = parameters.Text("taskName");
        parameters.RequiredText("disable"); // without it, RavenDB would disable the task
        if (id == 0 && SubscriptionRecord.NameProblem(name) is { } problem)
        {
            throw RefusedException.BadRequest(problem);
        }

        var command = SubscriptionWriter.Put(
            database.Number,
            IdempotencyHeader.ReadOrRequestId(http),
            id == 0 ? name : null,
            new SubscriptionCommand
            {
                Kind = SubscriptionCommandKind.Put,
                Number = id,
                IsDisabled = parameters.Flag("disable"),
            }
        );
        var outcome = await ProposeAsync(http, command);
        var result = outcome[0];
        if (result.Status == OperationStatus.NotFound)
        {
            throw Missing(id == 0 ? $"'{name}'" : $"with the id {id}");
        }

        IdempotencyHeader.WriteHorizon(http, database);
        await JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteNumber("TaskId"u8, result.Low);
                json.WriteNumber("RaftCommandIndex"u8, outcome.Index);
                json.WriteString("ResponsibleNode"u8, context.Node.Consensus.LeaderTag);
            }
        );
    }

    /// <summary>
    /// Returns the error for an unknown subscription. The status is 400: clients take a 404 for an empty result.
    /// </summary>
    public static RefusedException Missing(string which) =>
        new(
            StatusCodes.Status400BadRequest,
            RavenType.SubscriptionDoesNotExist,
            $"There is no subscription {which} in this database."
        );

    private async Task<SubscriptionBody> ReadAsync(HttpContext http)
    {
        using var body = await RequestBody.ReadAsync(
            http,
            context.Options.QueryBytesLimit,
            context.LargeRequests,
            BodyUse.Objects
        );
        return SubscriptionBody.Read(body.Span);
    }

    private CommandBuffer Encode(
        HttpContext http,
        Database database,
        SubscriptionBody body,
        long number,
        bool creates,
        bool mustBeNew
    )
    {
        byte[] query = body.QueryBytes();
        byte[] mentor = body.MentorBytes();
        string[] members = [.. context.Node.Consensus.View.Members.Select(static member => member.Tag)];
        var values = body.ToCommand(database, members, query, mentor);
        return SubscriptionWriter.Put(
            database.Number,
            IdempotencyHeader.ReadOrRequestId(http),
            body.Name,
            new SubscriptionCommand
            {
                Kind = values.Kind,
                Number = number,
                Query = query,
                Mentor = mentor,
                ChangesMentor = values.ChangesMentor,
                IsPinned = values.IsPinned,
                IsDisabled = values.IsDisabled,
                StartKind = values.StartKind,
                Start = values.Start,
                Creates = creates,
                MustBeNew = mustBeNew,
            }
        );
    }

    private async ValueTask<CommandOutcome> ProposeAsync(HttpContext http, CommandBuffer command)
    {
        if (context.Node.FormatLevel.Level < FormatLevel.Subscriptions)
        {
            command.Dispose();
            throw RefusedException.NotSupported(
                "Data subscriptions are refused while members may return to the previous version, which cannot read "
                    + "them. When all members run the new version, end the upgrade: `rookery cluster finalize-upgrade`."
            );
        }

        var outcome = await HttpProposal.ProposeAsync(context, http, command);
        return outcome.Rejection is { } rejection ? throw RavenErrors.Refuse(rejection) : outcome;
    }

    private static async Task AnswerAsync(HttpContext http, CommandOutcome outcome, int status, string which)
    {
        var result = outcome[0];
        if (result.Status == OperationStatus.NotFound)
        {
            throw Missing(which);
        }

        await JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteString("Name"u8, result.Id);
                json.WriteNumber("RaftCommandIndex"u8, outcome.Index);
            },
            status
        );
    }

    private static void RefuseUpdateMembers(SubscriptionBody body)
    {
        if (body.CreatesNew || body.Id != 0)
        {
            throw RefusedException.BadRequest(
                "'Id' and 'CreateNew' belong to an update: send them to POST subscriptions/update."
            );
        }
    }

    private static string ReadName(HttpContext http, string parameter)
    {
        string name = new QueryParameters(http).RequiredText(parameter);
        return SubscriptionRecord.NameProblem(name) is { } problem ? throw RefusedException.BadRequest(problem) : name;
    }

    private static string Shown(SubscriptionBody body, long id) => id == 0 ? $"'{body.Name}'" : $"with the id {id}";

    private long ConnectedTicks(Database database, SubscriptionRecord record) =>
        context.Subscriptions.ConnectedTicks(database, record.Number);
}
