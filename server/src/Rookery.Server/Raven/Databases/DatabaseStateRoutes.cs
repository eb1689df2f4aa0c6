using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;

namespace Rookery.Server.Raven.Databases;

/// <summary>
/// admin/databases/enable, disable and set-lock: whether databases serve requests, and whether they may be deleted.
/// </summary>
internal sealed class DatabaseStateRoutes(ServerContext context)
{
    private const int BodyBytes = 1 << 20;

    // Each database is a command of its own.
    private const int MaxDatabases = 1024;

    /// <summary>POST admin/databases/enable with {"DatabaseNames":[…]}.</summary>
    public Task EnableAsync(HttpContext http) => ToggleAsync(http, isDisabled: false);

    /// <summary>POST admin/databases/disable with {"DatabaseNames":[…]}.</summary>
    public Task DisableAsync(HttpContext http) => ToggleAsync(http, isDisabled: true);

    /// <summary>POST admin/databases/set-lock with {"DatabaseNames":[…],"Mode":"PreventDeletesError"}.</summary>
    public async Task SetLockAsync(HttpContext http)
    {
        var (names, mode) = await ReadAsync(http, hasMode: true);
        if (await FindAllAsync(http, names) is not { } databases)
        {
            return;
        }

        if (databases.FindIndex(static database => database is null) is var missing and >= 0)
        {
            await RavenErrors.WriteDatabaseMissingAsync(http, names[missing]);
            return;
        }

        byte[] text = System.Text.Encoding.ASCII.GetBytes($"\"{mode}\"");
        foreach (var database in databases)
        {
            if (
                database!.Configurations.LockMode != mode
                && await SetAsync(http, database, ConfigurationName.LockMode, text) is null
            )
            {
                return;
            }
        }

        await EmptyResponse.AnswerNoContent(http);
    }

    private async Task ToggleAsync(HttpContext http, bool isDisabled)
    {
        var (names, _) = await ReadAsync(http, hasMode: false);
        if (await FindAllAsync(http, names) is not { } databases)
        {
            return;
        }

        byte[] text = isDisabled ? [.. "true"u8] : [.. "false"u8];
        foreach (var database in databases)
        {
            if (
                database is not null
                && database.Configurations.IsDisabled != isDisabled
                && await SetAsync(http, database, ConfigurationName.Disabled, text) is null
            )
            {
                return;
            }
        }

        await JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteStartArray("Status"u8);
                for (int i = 0; i < names.Count; i++)
                {
                    json.WriteStartObject();
                    json.WriteString("Name"u8, databases[i]?.Name ?? names[i]);
                    json.WriteBoolean("Success"u8, databases[i] is not null);
                    json.WriteBoolean("Disabled"u8, isDisabled && databases[i] is not null);
                    json.WriteString(
                        "Reason"u8,
                        databases[i] is not { } known ? "There is no such database."
                            : known.Configurations.IsDisabled != isDisabled ? "The database was changed."
                            : isDisabled ? "The database is disabled already."
                            : "The database is enabled already."
                    );
                    json.WriteEndObject();
                }

                json.WriteEndArray();
            }
        );
    }

    private async ValueTask<object?> SetAsync(HttpContext http, Database database, string name, byte[] text)
    {
        // The answers to the earlier databases are kept, so a client that leaves ends the rest.
        http.RequestAborted.ThrowIfCancellationRequested();
        return await ConfigurationProposal.TrySetAsync(context, http, database.Number, name, text);
    }

    /// <summary>
    /// Finds the databases, null for one that does not exist, as of all acknowledged writes. Returns null if the
    /// request is answered.
    /// </summary>
    private async ValueTask<List<Database?>?> FindAllAsync(HttpContext http, List<string> names)
    {
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            await RavenErrors.WriteAsync(http, RavenRoute.NoBarrierRejection(context));
            return null;
        }

        return [.. names.Select(name => context.Node.Databases.TryGet(name, out var database) ? database : null)];
    }

    private async ValueTask<(List<string> Names, DatabaseLockMode Mode)> ReadAsync(HttpContext http, bool hasMode)
    {
        List<string> names = [];
        string? mode = null;
        using (var body = await RequestBody.ReadAsync(http, BodyBytes, context.LargeRequests, BodyUse.Objects))
        {
            _ = JsonBody.Read(
                body.Span,
                (ref Utf8JsonReader json) =>
                {
                    JsonBody.ForEachMember(
                        ref json,
                        (string member, ref Utf8JsonReader value) =>
                        {
                            switch (member)
                            {
                                case "DatabaseNames":
                                    names = JsonBody.ReadTexts(ref value, member);
                                    break;
                                case "Mode" when hasMode:
                                    mode = JsonBody.ReadText(ref value, member);
                                    break;
                                default:
                                    JsonBody.RequireNull(ref value, member, $"the body of {http.Request.Path}");
                                    break;
                            }
                        }
                    );
                    return true;
                }
            );
        }

        if (names.Count is 0 or > MaxDatabases)
        {
            throw RefusedException.BadRequest(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"The body must name 1 to {MaxDatabases} databases: {{\"DatabaseNames\":[\"name\"]}}."
                )
            );
        }

        return (names, hasMode ? ReadMode(mode) : default);
    }

    private static DatabaseLockMode ReadMode(string? mode) =>
        Array.IndexOf(Enum.GetNames<DatabaseLockMode>(), mode) >= 0
            ? Enum.Parse<DatabaseLockMode>(mode!)
            : throw RefusedException.BadRequest(
                $"'Mode' must be one of {string.Join(", ", Enum.GetNames<DatabaseLockMode>())}."
            );
}
