using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Server.Raven;

namespace Rookery.Server.Access;

/// <summary>What the routes of access have in common: small bodies read, records committed, tokens written.</summary>
internal static class AccessAnswer
{
    /// <summary>What a body may weigh.</summary>
    public const int BodyBytes = 64 << 10;

    /// <summary>Reads the members of the one object of a body.</summary>
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
    /// A member that would be ignored is refused: here a misspelt one gives more rights than were meant.
    /// </summary>
    public static RefusedException UnknownMember(string name) =>
        RefusedException.BadRequest($"The body has the unknown member '{name}'.");

    /// <summary>Stores records, all or none.</summary>
    /// <param name="context">What the routes share.</param>
    /// <param name="writer">The records.</param>
    /// <param name="conflict">What to say when one of them has changed meanwhile.</param>
    /// <exception cref="RefusedException">They were not stored.</exception>
    public static async Task CommitAsync(ServerContext context, ClusterRecordWriter writer, string? conflict = null)
    {
        var outcome = await context.Node.Consensus.ProposeAsync(writer.Complete(), CancellationToken.None);
        if (outcome.Rejection is { } rejection)
        {
            throw conflict is not null && rejection.Kind == RejectionKind.ConcurrencyConflict
                ? new RefusedException(StatusCodes.Status409Conflict, RavenType.Concurrency, conflict)
                : RavenErrors.Refuse(rejection);
        }
    }

    /// <summary>Waits until this node knows what was acknowledged before.</summary>
    /// <exception cref="RefusedException">It cannot say now.</exception>
    public static async Task ReadBarrierAsync(ServerContext context)
    {
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            throw new RefusedException(
                StatusCodes.Status503ServiceUnavailable,
                ErrorAnswer.RavenException,
                RavenRoute.NotFresh(context).Message
            );
        }
    }

    /// <summary>
    /// What to remark on the databases that a new credential names, in a sentence; null for nothing. As in RavenDB they
    /// may be made later; or a name is misspelt.
    /// </summary>
    public static string? NoticeOf(ServerContext context, IEnumerable<string>? databases)
    {
        string[] missing = [.. (databases ?? []).Where(name => !context.Node.Databases.TryGet(name, out _))];
        return missing.Length == 0
            ? null
            : $"There is no database {string.Join(" and none ", missing.Select(static name => $"'{name}'"))} "
                + $"yet: what is given there holds from when it is made. If the name is misspelt, withdraw this "
                + $"and make another.";
    }

    /// <summary>Writes it, if there is one.</summary>
    public static void WriteNotice(Utf8JsonWriter json, string? notice)
    {
        if (notice is not null)
        {
            json.WriteString("Notice"u8, notice);
        }
    }

    /// <summary>Answers with a new token, which is not shown again.</summary>
    public static Task SendTokenAsync(HttpContext http, MadeToken made, string? notice = null) =>
        JsonAnswer.SendAsync(
            http,
            json =>
            {
                json.WriteString("Token"u8, made.Token);
                WriteToken(json, made.Record);
                WriteNotice(json, notice);
            },
            StatusCodes.Status201Created
        );

    /// <summary>Writes what is kept of a token.</summary>
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
