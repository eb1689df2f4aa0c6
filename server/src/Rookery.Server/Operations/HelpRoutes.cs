using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Server.Access;
using Rookery.Server.Dashboard;
using Rookery.Server.Raven;

namespace Rookery.Server.Operations;

/// <summary>
/// Serves the documentation of this version at /help/{path}, from the executable, so that it is available without
/// Internet. A browser that opens a page gets the dashboard, which shows it. Other clients, and browsers that ask with
/// <c>?plain</c>, get its Markdown. The dashboard reads all texts at once, from /help/manual.txt, because they are
/// stored and sent as one compressed file.
/// </summary>
internal static class HelpRoutes
{
    private const string PlainText = "text/plain; charset=utf-8";
    private const string FirstPage = "README.md";
    private const string PictureEnding = ".webp";

    private static readonly Lazy<DashboardFile> WholeManual = new(static () =>
        new DashboardFile(Manual.Resource, PlainText)
    );

    public static void Map(IEndpointRouteBuilder routes)
    {
        routes
            .MapWithoutData("/help", RouteScope.Open, static http => AnswerAsync(http, FirstPage))
            .Taking(RouteParameters.Any);
        routes
            .MapWithoutData(
                "/help/{**path}",
                RouteScope.Open,
                static http => AnswerAsync(http, (string?)http.Request.RouteValues["path"] ?? FirstPage)
            )
            .Taking(RouteParameters.Any);
    }

    private static Task AnswerAsync(HttpContext http, string path)
    {
        DashboardRoutes.Protect(http);
        if (path is Manual.Resource)
        {
            return WholeManual.Value.SendAsync(http);
        }

        if (path.EndsWith(PictureEnding, StringComparison.Ordinal))
        {
            return AnswerPictureAsync(http, path);
        }

        if (Manual.Find(path) is not { } place)
        {
            return AnswerNotFoundAsync(http);
        }

        // Files for other programs, such as the lists of metrics and panels, have no page in the dashboard.
        bool isPage =
            !path.EndsWith(".txt", StringComparison.Ordinal) && !path.EndsWith(".json", StringComparison.Ordinal);
        if (isPage && IsOpenedByBrowser(http.Request) && DashboardRoutes.Page is { } page)
        {
            return page.SendAsync(http, "Accept, Accept-Encoding");
        }

        http.Response.Headers.Vary = "Accept";
        http.Response.ContentType = PlainText;
        http.Response.ContentLength = place.Length;
        return HttpMethods.IsHead(http.Request.Method)
            ? Task.CompletedTask
            : Manual.CopyAsync(place, http.Response.Body, http.RequestAborted);
    }

    private static bool IsOpenedByBrowser(HttpRequest request) =>
        request.Headers.Accept.ToString().Contains("text/html", StringComparison.OrdinalIgnoreCase)
        && !request.Query.ContainsKey("plain");

    private static async Task AnswerPictureAsync(HttpContext http, string path)
    {
        await using var picture = typeof(HelpRoutes).Assembly.GetManifestResourceStream("docs/" + path);
        if (picture is null)
        {
            await AnswerNotFoundAsync(http);
            return;
        }

        http.Response.Headers.CacheControl = "max-age=3600";
        http.Response.ContentType = "image/webp";
        http.Response.ContentLength = picture.Length;
        if (!HttpMethods.IsHead(http.Request.Method))
        {
            await picture.CopyToAsync(http.Response.Body, http.RequestAborted);
        }
    }

    private static Task AnswerNotFoundAsync(HttpContext http)
    {
        http.Response.StatusCode = StatusCodes.Status404NotFound;
        http.Response.ContentType = PlainText;
        return http.Response.WriteAsync("The manual has no such page; /help lists its pages.\n", http.RequestAborted);
    }
}
