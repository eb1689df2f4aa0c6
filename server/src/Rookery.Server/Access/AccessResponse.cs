using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Server.Raven;

namespace Rookery.Server.Access;

/// <summary>Helpers of the routes under /admin/access: parse small bodies, commit records, write tokens.</summary>
internal static class AccessResponse
{
    /// <summary>Largest request body, in bytes.</summary>
    public const int BodyBytes = 64 << 10;

    /// <summary>
    /// Reads a body that is one JSON object, and calls <paramref name="member"/> for each of its members.
    /// </summary>
    public static void ReadMembers(ReadOnlySpan<byte> body, JsonMember member) =>
        JsonBody.Read(
            body,
            (ref Utf8JsonReader json) =>
            {
                JsonBody.ForEachMember(ref json, member);
                return true;
            }
        );

    /// <summary>
    /// Returns the error for an unknown member. Ignoring a misspelt member could grant more rights than intended.
    /// </summary>
    public static RefusedException UnknownMember(string name) =>
        RefusedException.BadRequest($"The body has the unknown member '{name}'.");

    /// <summary>Commits records through the cluster's log, all or none.</summary>
    /// <param name="context">State that the routes share.</param>
    /// <param name="writer">The records.</param>
    /// <param name="conflict">Message if another request changed one of the records first; null for the
    /// default.</param>
    /// <exception cref="RefusedException">The records were not stored.</exception>
    public static async Task CommitAsync(ServerContext context, ClusterRecordWriter writer, string? conflict = null)
    {
        var outcome = await context.Node.Consensus.ProposeAsync(writer.Complete(), CancellationToken.None);
        if (outcome.Rejection is { } rejection)
        {
            throw Refuse(rejection, conflict);
        }
    }

    /// <summary>Returns the error for records that were not stored.</summary>
    public static RefusedException Refuse(Rejection rejection, string? conflict) =>
        conflict is not null && rejection.Kind == RejectionKind.ConcurrencyConflict
            ? new RefusedException(StatusCodes.Status409Conflict, RavenType.Concurrency, conflict)
            : RavenErrors.Refuse(rejection);

    /// <summary>Waits until this node has applied all acknowledged writes.</summary>
    /// <exception cref="RefusedException">This node cannot confirm that it is up to date: 503.</exception>
    public static async Task ReadBarrierAsync(ServerContext context)
    {
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            throw new RefusedException(
                StatusCodes.Status503ServiceUnavailable,
                ErrorResponse.RavenException,
                RavenRoute.NoBarrierRejection(context).Message
            );
        }
    }

    /// <summary>
    /// Returns a warning that databases named by a new credential do not exist; null if all exist. This is no error: as
    /// in RavenDB, they may be created later.
    /// </summary>
    public static string? DescribeMissingDatabases(ServerContext context, IEnumerable<string>? databases)
    {
        string[] missing = [.. (databases ?? []).Where(name => !context.Node.Databases.TryGet(name, out _))];
        return missing.Length == 0
            ? null
            : $"There is no database {string.Join(" and none ", missing.Select(static name => $"'{name}'"))} "
                + $"yet: the rights there apply once it is created. If the name is misspelt, revoke this "
                + $"credential and create another.";
    }

    /// <summary>Writes the warning of <see cref="DescribeMissingDatabases"/> as a member, if it is not null.</summary>
    public static void WriteNotice(Utf8JsonWriter json, string? notice)
    {
        if (notice is not null)
        {
            json.WriteString("Notice"u8, notice);
        }
    }

    /// <summary>Sends a new token. No later answer contains it.</summary>
    public static Task SendTokenAsync(HttpContext http, MadeToken created, string? notice = null) =>
        JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteString("Token"u8, created.Token);
                WriteToken(json, created.Record);
                WriteNotice(json, notice);
            },
            StatusCodes.Status201Created
        );

    /// <summary>Writes the stored record of a token.</summary>
    public static void WriteToken(Utf8JsonWriter json, TokenRecord token)
    {
        json.WriteString("Name"u8, token.Name);
        WriteTexts(json, "Scopes", token.Scopes);
        WriteTexts(json, "Databases", token.Databases);
        json.WriteString("Created"u8, token.Created);
        WriteTime(json, "Expires", token.Expires);
    }

    private static void WriteTime(Utf8JsonWriter json, string name, DateTimeOffset? time)
    {
        if (time is { } at)
        {
            json.WriteString(name, at);
        }
        else
        {
            json.WriteNull(name);
        }
    }

    private static void WriteTexts(Utf8JsonWriter json, string name, string[]? texts)
    {
        if (texts is null)
        {
            json.WriteNull(name);
            return;
        }

        json.WriteStartArray(name);
        foreach (string text in texts)
        {
            json.WriteStringValue(text);
        }

        json.WriteEndArray();
    }
}
