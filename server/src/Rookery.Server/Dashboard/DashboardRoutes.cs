using System.Net;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Server.Access;
using Rookery.Server.Raven;

namespace Rookery.Server.Dashboard;

/// <summary>
/// Serves the dashboard: its page at / and its files at /assets/NAME. /studio redirects to the page, because users of
/// RavenDB know that path. The content security policy forbids the page to load anything from elsewhere. A build
/// without the dashboard serves a short page with links instead.
/// </summary>
internal static class DashboardRoutes
{
    // Inline scripts and styles are forbidden too, so that the content of a document can never become part of the page.
    private const string Policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src "
        + "'self'; font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

    private static readonly Lazy<Dictionary<string, DashboardFile>> Files = new(DashboardFile.LoadAll);

    /// <summary>The page; null in a build without the dashboard.</summary>
    public static DashboardFile? Page => Files.Value.GetValueOrDefault("index.html");

    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        MapStatic(routes, "/", http => AnswerPageAsync(http, context));
        MapStatic(
            routes,
            "/assets/{**name}",
            static http => AnswerAssetAsync(http, (string?)http.Request.RouteValues["name"])
        );

        // Browsers request this path for every address that they open.
        MapStatic(routes, "/favicon.ico", static http => AnswerAssetAsync(http, "rook.svg"));
        MapStatic(
            routes,
            "/studio/{**path}",
            static http =>
            {
                http.Response.Redirect("/");
                return Task.CompletedTask;
            }
        );
    }

    private static void MapStatic(IEndpointRouteBuilder routes, string pattern, RequestDelegate handler) =>
        routes.MapWithoutData(pattern, RouteScope.Open, handler).Taking(RouteParameters.Any);

    /// <summary>Forbids a browser to load anything for the response from elsewhere.</summary>
    public static void Protect(HttpContext http)
    {
        var headers = http.Response.Headers;
        headers.ContentSecurityPolicy = Policy;
        headers["Referrer-Policy"] = "no-referrer";
    }

    private static Task AnswerPageAsync(HttpContext http, ServerContext context)
    {
        Protect(http);
        return Page?.SendAsync(http) ?? AnswerWithoutDashboardAsync(http, context);
    }

    private static Task AnswerAssetAsync(HttpContext http, string? name)
    {
        Protect(http);
        if (Files.Value.TryGetValue("assets/" + name, out var file))
        {
            return file.SendAsync(http);
        }

        // A page that was loaded before an upgrade requests files that no longer exist. Browsers must not cache this
        // 404.
        http.Response.StatusCode = StatusCodes.Status404NotFound;
        http.Response.Headers.CacheControl = "no-store";
        http.Response.ContentType = "text/plain; charset=utf-8";
        return http.Response.WriteAsync("The dashboard has no such file; load the page again.\n", http.RequestAborted);
    }

    private static Task AnswerWithoutDashboardAsync(HttpContext http, ServerContext context)
    {
        string state = WebUtility.HtmlEncode(
            context.PublicText.For(http, context.Readiness.Reason) ?? "It serves documents."
        );
        http.Response.ContentType = "text/html; charset=utf-8";
        return http.Response.WriteAsync(
            $"""
            <!doctype html><meta charset="utf-8"><title>Rookery</title>
            <h1>Rookery {ProductVersion.Text}</h1>
            <p>A document database for small machines; this is one node of it. {state}</p>
            <p>This executable was built without the dashboard; after <code>make dashboard</code> a build has it.</p>
            <ul>
            <li><a href="/help">/help</a>: the manual
            <li><a href="/readyz?verbose">/readyz?verbose</a>: the state of this node
            <li><a href="/metrics">/metrics</a>: its counters, for Prometheus
            <li><a href="/debug/io">/debug/io</a>: its disk operations
            </ul>

            """,
            http.RequestAborted
        );
    }
}
