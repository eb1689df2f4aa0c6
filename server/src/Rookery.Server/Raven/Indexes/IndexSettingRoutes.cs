using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;

namespace Rookery.Server.Raven.Indexes;

/// <summary>Settings of indexes: lock mode and priority, disabled on all members, paused on this node.</summary>
internal sealed class IndexSettingRoutes(ServerContext context)
{
    private const int MaxBodyBytes = 1 << 20;

    /// <summary>POST indexes/set-lock with {"IndexNames":[…],"Mode":"LockedIgnore"}.</summary>
    public Task SetLockAsync(HttpContext http, Database database) =>
        ConfigureAsync(
            http,
            database,
            "Mode",
            static mode => new IndexSettingsChange(LockMode: ReadEnum<IndexLockMode>(mode, "Mode"))
        );

    /// <summary>POST indexes/set-priority with {"IndexNames":[…],"Priority":"High"}.</summary>
    public Task SetPriorityAsync(HttpContext http, Database database) =>
        ConfigureAsync(
            http,
            database,
            "Priority",
            static priority => new IndexSettingsChange(Priority: ReadEnum<IndexPriority>(priority, "Priority"))
        );

    /// <summary>POST admin/indexes/enable?name=…: enables an index on all members.</summary>
    public Task EnableAsync(HttpContext http, Database database) => SetDisabledAsync(http, database, isDisabled: false);

    /// <summary>POST admin/indexes/disable?name=…: disables an index on all members.</summary>
    public Task DisableAsync(HttpContext http, Database database) => SetDisabledAsync(http, database, isDisabled: true);

    /// <summary>POST admin/indexes/start[?name=…]: resumes one index or all on this node.</summary>
    public Task StartAsync(HttpContext http, Database database) => SetPausedAsync(http, database, isPaused: false);

    /// <summary>
    /// POST admin/indexes/stop[?name=…]: pauses one index or all on this node, until they are resumed or the node
    /// restarts.
    /// </summary>
    public Task StopAsync(HttpContext http, Database database) => SetPausedAsync(http, database, isPaused: true);

    private static TValue ReadEnum<TValue>(string? word, string member)
        where TValue : struct, Enum =>
        Array.Exists(Enum.GetNames<TValue>(), name => string.Equals(name, word, StringComparison.OrdinalIgnoreCase))
            ? Enum.Parse<TValue>(word!, ignoreCase: true)
            : throw RefusedException.BadRequest(
                $"'{member}' must be one of {string.Join(", ", Enum.GetNames<TValue>())}, not '{word}'."
            );

    private async Task SetPausedAsync(HttpContext http, Database database, bool isPaused)
    {
        var parameters = new QueryParameters(http);
        if (parameters.Text("type") is { Length: > 0 } type)
        {
            throw RefusedException.NotSupported(
                $"type={type} is not supported: pause indexes by name, or all of them."
            );
        }

        if (parameters.Text("name") is { Length: > 0 } name)
        {
            await IndexCommand.ActOnThisNodeAsync(
                context,
                http,
                database,
                name,
                () => context.Indexes.SetPaused(database, name, isPaused)
            );
        }
        else
        {
            if (isPaused)
            {
                // Include indexes that were defined a moment ago. An index that this node does not maintain needs
                // no pause.
                await IndexCommand.WaitUntilOpenAsync(context, http, database);
            }

            context.Indexes.SetPaused(database, isPaused);
        }

        await EmptyResponse.AnswerNoContent(http);
    }

    private async Task SetDisabledAsync(HttpContext http, Database database, bool isDisabled)
    {
        string name = new QueryParameters(http).RequiredText("name");
        await ConfigureAsync(http, database, [name], new IndexSettingsChange(IsDisabled: isDisabled));
    }

    private async Task ConfigureAsync(
        HttpContext http,
        Database database,
        string member,
        Func<string?, IndexSettingsChange> read
    )
    {
        List<string> names;
        string? value;
        using (var body = await RequestBody.ReadAsync(http, MaxBodyBytes, context.LargeRequests, BodyUse.Objects))
        {
            (names, value) = ReadBody(body.Span, member);
        }

        if (names.Count is 0 or > IndexRecord.MaxCount)
        {
            throw RefusedException.BadRequest(
                $"The body must name the indexes: {{\"IndexNames\":[\"Users/ByName\"],\"{member}\":\"…\"}}."
            );
        }

        await ConfigureAsync(http, database, names, read(value));
    }

    private async Task ConfigureAsync(
        HttpContext http,
        Database database,
        List<string> names,
        IndexSettingsChange change
    )
    {
        // A lagging follower may not know the indexes yet.
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            throw RavenErrors.Refuse(RavenRoute.NoBarrierRejection(context));
        }

        var indexes = IndexCommand.Find(database, names);
        await IndexCommand.ProposeAsync(
            context,
            http,
            database,
            writer => indexes.ForEach(index => writer.Configure(index.Name, change))
        );
        await EmptyResponse.AnswerNoContent(http);
    }

    private static (List<string> Names, string? Value) ReadBody(ReadOnlySpan<byte> body, string valueMember) =>
        JsonBody.Read(
            body,
            (ref Utf8JsonReader json) =>
            {
                var names = new List<string>();
                string? value = null;
                JsonBody.ForEachMember(
                    ref json,
                    (string member, ref Utf8JsonReader reader) =>
                    {
                        if (member is "IndexNames")
                        {
                            names = JsonBody.ReadTexts(ref reader, member);
                        }
                        else if (string.Equals(member, valueMember, StringComparison.Ordinal))
                        {
                            value = JsonBody.ReadText(ref reader, member);
                        }
                        else
                        {
                            JsonBody.RequireNull(ref reader, member, "the body of a change of indexes");
                        }
                    }
                );
                return (names, value);
            }
        );
}
