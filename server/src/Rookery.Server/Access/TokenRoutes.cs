using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Commands;
using Rookery.Server.Raven;
using Rookery.Server.Support;

namespace Rookery.Server.Access;

/// <summary>
/// /admin/access/tokens: GET lists the tokens' records, POST {"Name","Scopes","Databases","LifetimeSeconds"} creates a
/// token, DELETE ?name= revokes one; POST /admin/access/tokens/reset {"Name"} replaces a lost admin token. Each
/// change is logged with the name of the caller.
/// </summary>
internal sealed class TokenRoutes(ServerContext context)
{
    private const string Path = "/admin/access/tokens";

    // A century, so that the time of expiry is a date that DateTimeOffset can hold.
    private const long MaxLifetimeSeconds = 100L * 365 * 86_400;

    private readonly TokenMaker _maker = new(context);

    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        var tokens = new TokenRoutes(context);
        Map(routes, HttpMethods.Get, Path, tokens.ListAsync, RouteParameters.None);
        Map(routes, HttpMethods.Post, Path, tokens.CreateAsync, RouteParameters.None);
        Map(routes, HttpMethods.Delete, Path, tokens.RemoveAsync, RouteParameters.WithoutBody("name"));
        Map(routes, HttpMethods.Post, Path + "/reset", tokens.ResetAsync, RouteParameters.None);
    }

    private static void Map(
        IEndpointRouteBuilder routes,
        string method,
        string path,
        RequestDelegate handler,
        RouteParameters parameters
    ) => routes.MapMethods(path, [method], RavenRoute.OnServer(handler)).For(RouteScope.Admin).Taking(parameters);

    private async Task ListAsync(HttpContext http)
    {
        await AccessResponse.ReadBarrierAsync(context);
        await JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteStartArray("Tokens"u8);
                foreach (
                    var (_, token) in TokenMaker
                        .All(context.Node)
                        .OrderBy(static known => known.Token.Name, StringComparer.Ordinal)
                )
                {
                    json.WriteStartObject();
                    AccessResponse.WriteToken(json, token);
                    json.WriteEndObject();
                }

                json.WriteEndArray();
            }
        );
    }

    private async Task CreateAsync(HttpContext http)
    {
        var request = await ReadAsync(http);
        await AccessResponse.ReadBarrierAsync(context);
        if (
            TokenMaker
                .All(context.Node)
                .Any(known => string.Equals(known.Token.Name, request.Name, StringComparison.Ordinal))
        )
        {
            throw new RefusedException(
                StatusCodes.Status409Conflict,
                RavenType.Concurrency,
                DescribeTaken(request.Name)
            );
        }

        // The first admin token gives the cluster an owner, so no node can be claimed afterwards.
        var created = await _maker.MakeAsync(
            request,
            DescribeTaken(request.Name),
            writer =>
            {
                if (request.Scopes.Contains("admin", StringComparer.Ordinal))
                {
                    writer.Set(ClaimRoute.OwnerKey, "{}"u8);
                }
            }
        );
        context.Log.LogInformation(
            LogEvents.TokenMade,
            "'{Who}' created the token '{Name}' with {Scopes}.",
            Principal.Of(http).Name,
            request.Name,
            string.Join(',', request.Scopes)
        );
        await AccessResponse.SendTokenAsync(
            http,
            created,
            AccessResponse.DescribeMissingDatabases(context, request.Databases)
        );
    }

    private async Task RemoveAsync(HttpContext http)
    {
        string name = new QueryParameters(http).RequiredText("name");
        await AccessResponse.ReadBarrierAsync(context);
        using var writer = new ClusterRecordWriter();
        DeleteNamed(writer, name);
        if (writer.Count == 0)
        {
            throw new RefusedException(
                StatusCodes.Status404NotFound,
                RavenType.RavenException,
                $"There is no token '{name}'; `rookery token ls` lists the tokens."
            );
        }

        writer.Delete(AccessNames.KeyOfToken(name));

        await AccessResponse.CommitAsync(context, writer);
        context.Log.LogInformation(
            LogEvents.TokenRevoked,
            "'{Who}' revoked the token '{Name}'.",
            Principal.Of(http).Name,
            name
        );
        await EmptyResponse.AnswerNoContent(http);
    }

    private async Task ResetAsync(HttpContext http)
    {
        string name = await ReadNameAsync(http) ?? "admin";
        await AccessResponse.ReadBarrierAsync(context);
        var created = await _maker.MakeAsync(
            new TokenRequest(name, ["admin"], Databases: null, Lifetime: null),
            taken: null,
            writer =>
            {
                DeleteNamed(writer, name);
                writer.Set(ClaimRoute.OwnerKey, "{}"u8);
            }
        );
        context.Log.LogWarning(
            LogEvents.TokenReplaced,
            "'{Who}' replaced the admin token '{Name}'; the previous one is no longer valid.",
            Principal.Of(http).Name,
            created.Record.Name
        );
        await AccessResponse.SendTokenAsync(http, created);
    }

    private static string DescribeTaken(string? name) =>
        $"There is a token '{name}'. Revoke it first with `rookery token rm {name}`, or choose another name.";

    private void DeleteNamed(ClusterRecordWriter writer, string name)
    {
        foreach (
            var (key, _) in TokenMaker
                .All(context.Node)
                .Where(known => string.Equals(known.Token.Name, name, StringComparison.Ordinal))
        )
        {
            writer.Delete(key);
        }
    }

    /// <summary>Reads the body of a reset, which has no rights or lifetime to choose.</summary>
    private async Task<string?> ReadNameAsync(HttpContext http)
    {
        using var body = await ReadBodyAsync(http);
        string? name = null;
        AccessResponse.ReadMembers(
            body.Span,
            (string member, ref Utf8JsonReader json) =>
                name = member is "Name"
                    ? JsonBody.ReadText(ref json, member)
                    : throw AccessResponse.UnknownMember(member)
        );
        return name;
    }

    private ValueTask<RequestBody> ReadBodyAsync(HttpContext http) =>
        RequestBody.ReadAsync(http, AccessResponse.BodyBytes, context.LargeRequests, BodyUse.Objects);

    private async Task<TokenRequest> ReadAsync(HttpContext http)
    {
        using var body = await ReadBodyAsync(http);
        var request = new TokenRequest(Name: null, [], Databases: null, Lifetime: null);
        AccessResponse.ReadMembers(
            body.Span,
            (string member, ref Utf8JsonReader json) =>
                request = member switch
                {
                    "Name" => request with { Name = JsonBody.ReadText(ref json, member) },
                    "Scopes" => request with { Scopes = JsonBody.ReadTexts(ref json, member) },
                    "Databases" => request with
                    {
                        Databases = json.TokenType == JsonTokenType.Null ? null : JsonBody.ReadTexts(ref json, member),
                    },
                    "LifetimeSeconds" => request with { Lifetime = ReadLifetime(ref json, member) },
                    _ => throw AccessResponse.UnknownMember(member),
                }
        );
        return request;
    }

    private static TimeSpan? ReadLifetime(ref Utf8JsonReader json, string member) =>
        json.TokenType switch
        {
            JsonTokenType.Null => null,
            JsonTokenType.Number when json.TryGetInt64(out long seconds) && seconds is > 0 and <= MaxLifetimeSeconds =>
                TimeSpan.FromSeconds(seconds),
            _ => throw RefusedException.BadRequest(
                $"'{member}' must be a whole number of seconds, at least one and at most a century."
            ),
        };
}
