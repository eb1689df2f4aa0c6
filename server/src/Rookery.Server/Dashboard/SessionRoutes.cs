using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Server.Access;
using Rookery.Server.Raven;

namespace Rookery.Server.Dashboard;

/// <summary>
/// /session: POST {"Token"} signs a browser in and sets its cookie, GET reports the caller's name and rights and never
/// refuses, DELETE signs out. All three also work while the node serves no documents, so that the dashboard can show
/// the reason.
/// </summary>
internal sealed class SessionRoutes(ServerContext context)
{
    private const string Path = "/session";

    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        var session = new SessionRoutes(context);
        routes.MapWithoutData(Path, RouteScope.Open, session.ShowAsync).Taking(RouteParameters.None);
        routes
            .MapMethods(Path, [HttpMethods.Post], RavenRoute.OnServer(session.BeginAsync))
            .WithMetadata(WithoutData.Instance)
            .For(RouteScope.Open)
            .Taking(RouteParameters.None);
        routes
            .MapMethods(Path, [HttpMethods.Delete], RavenRoute.OnServer(session.EndAsync))
            .WithMetadata(WithoutData.Instance)
            .For(RouteScope.Open)
            .Taking(RouteParameters.WithoutBody());
    }

    private async Task BeginAsync(HttpContext http)
    {
        string? token = null;
        using (
            var body = await RequestBody.ReadAsync(
                http,
                AccessResponse.BodyBytes,
                context.LargeRequests,
                BodyUse.Objects
            )
        )
        {
            AccessResponse.ReadMembers(
                body.Span,
                (string member, ref Utf8JsonReader json) =>
                    token = member is "Token"
                        ? JsonBody.ReadText(ref json, member)
                        : throw AccessResponse.UnknownMember(member)
            );
        }

        byte[] hash = new byte[AccessToken.HashBytes];
        var refusal = context.Access.WhyNoSession(token ?? string.Empty, hash);
        if (refusal is { MayBeStale: true } && context.Readiness.Node is { Diagnosis: null } node)
        {
            // A lagging node may not know the token yet, so "unknown" is answered only after the read barrier, as for
            // any request.
            bool isFresh = await node.Consensus.ReadBarrierAsync();
            refusal = context.Access.WhyNoSession(token ?? string.Empty, hash);
            refusal = refusal is { MayBeStale: true } && !isFresh ? context.Access.CannotCheck() : refusal;
        }

        if (refusal is { } refused)
        {
            string type =
                refused.Status == StatusCodes.Status503ServiceUnavailable
                    ? ErrorResponse.RavenException
                    : ErrorResponse.Forbidden;
            throw new RefusedException(refused.Status, type, refused.Sentence);
        }

        SessionCookie.Set(http, context.Access.Sessions.Begin(hash));
        http.Response.Headers.CacheControl = "no-store";
        await EmptyResponse.AnswerNoContent(http);
    }

    private Task EndAsync(HttpContext http)
    {
        if (SessionCookie.Of(http) is { } cookie)
        {
            if (!SessionCookie.IsProtected(http))
            {
                throw new RefusedException(
                    StatusCodes.Status403Forbidden,
                    ErrorResponse.Forbidden,
                    SessionCookie.HeaderMissing
                );
            }

            context.Access.Sessions.End(cookie);
        }

        SessionCookie.Delete(http);
        return EmptyResponse.AnswerNoContent(http);
    }

    private Task ShowAsync(HttpContext http)
    {
        var caller = context.Access.FindCaller(http, out var kind);
        string? reason = context.PublicText.For(http, context.Readiness.Reason);
        http.Response.Headers.CacheControl = "no-store";
        return JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteBoolean("SignedIn"u8, caller is not null);
                json.WriteString("By"u8, caller is null ? null : NameOf(kind));
                json.WriteString("Name"u8, caller?.Name);
                WriteScopes(json, "Scopes", caller is null ? AccessScopes.None : caller.Everywhere);
                WriteDatabases(json, caller);
                json.WriteBoolean("IsSecure"u8, context.Options.IsSecure);
                WriteIsClaimed(json);
                json.WriteString("NodeTag"u8, context.Options.NodeTag);
                json.WriteString("NodeName"u8, context.Options.NodeName);
                json.WriteString("ClusterName"u8, context.Options.ClusterName);
                json.WriteString("Version"u8, ProductVersion.Text);
                json.WriteString("Reason"u8, reason);
            }
        );
    }

    private void WriteDatabases(Utf8JsonWriter json, Principal? caller)
    {
        if (caller is null || caller.ByDatabase.Count == 0)
        {
            json.WriteNull("Databases"u8);
            return;
        }

        json.WriteStartObject("Databases"u8);
        foreach (var (lower, scopes) in caller.ByDatabase)
        {
            // Rights are stored by lower-case names. A caller with rights in a database may see its name in the
            // original case.
            WriteScopes(
                json,
                context.Readiness.Node?.Databases.TryGet(lower, out var database) is true ? database.Name : lower,
                scopes
            );
        }

        json.WriteEndObject();
    }

    // Null on plain HTTP, which needs no owner, and while the data are not open, because the node then does not know.
    private void WriteIsClaimed(Utf8JsonWriter json)
    {
        if (context.Options.IsSecure && context.Readiness.Node is { Diagnosis: null } node)
        {
            json.WriteBoolean("IsClaimed"u8, context.Access.IsClaimed(node));
        }
        else
        {
            json.WriteNull("IsClaimed"u8);
        }
    }

    private static void WriteScopes(Utf8JsonWriter json, string name, AccessScopes scopes)
    {
        json.WriteStartArray(name);
        foreach (
            string scope in AccessScopeNames.Names(
                (scopes & AccessScopes.Admin) != AccessScopes.None ? AccessScopes.All : scopes
            )
        )
        {
            json.WriteStringValue(scope);
        }

        json.WriteEndArray();
    }

    private static string NameOf(CredentialKind kind) =>
        kind switch
        {
            CredentialKind.Token => "token",
            CredentialKind.Certificate => "certificate",
            CredentialKind.Session => "session",
            _ => "open",
        };
}
