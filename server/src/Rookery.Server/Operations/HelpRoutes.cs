using System.IO.Compression;
using System.Net;
using System.Text;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Server.Access;

namespace Rookery.Server.Operations;

/// <summary>
/// /help lists the documentation of this version and /help/{path} shows one page. The pages are in the executable, so
/// they are available without Internet. They are served as plain text. They are compressed in the executable, which
/// makes it 0.4 MB smaller.
/// </summary>
internal static class HelpRoutes
{
    private const string ResourcePrefix = "docs/";
    private const string Html = "text/html; charset=utf-8";

    // Computed once: the title of a page is only known when the page is decompressed, and anybody may ask.
    private static readonly Lazy<string> KnownList = new(ListPages);

    /// <summary>The list of the pages, as HTML.</summary>
    internal static string PageList => KnownList.Value;

    public static void Map(IEndpointRouteBuilder routes)
    {
        routes.MapWithoutData("/help", RouteScope.Open, AnswerListAsync);
        routes.MapWithoutData("/help/{**path}", RouteScope.Open, AnswerPageAsync);
    }

    private static Task AnswerListAsync(HttpContext http)
    {
        http.Response.ContentType = Html;
        return http.Response.WriteAsync(PageList, http.RequestAborted);
    }

    private static string ListPages()
    {
        var page = new StringBuilder(
            "<!doctype html><meta charset=\"utf-8\"><title>Rookery: manual</title>\n<h1>Manual</h1>\n<ul>\n"
        );
        foreach (string name in typeof(HelpRoutes).Assembly.GetManifestResourceNames().Order(StringComparer.Ordinal))
        {
            if (
                name.StartsWith(ResourcePrefix, StringComparison.Ordinal)
                && name.EndsWith(".md", StringComparison.Ordinal)
            )
            {
                string path = WebUtility.HtmlEncode(name[ResourcePrefix.Length..]);
                page.Append($"<li><a href=\"/help/{path}\">{WebUtility.HtmlEncode(TitleOf(name))}</a> ({path})\n");
            }
        }

        return page.Append("</ul>\n").ToString();
    }

    private static async Task AnswerPageAsync(HttpContext http)
    {
        string name = ResourcePrefix + (string?)http.Request.RouteValues["path"];
        if ((Read(name) ?? Read(name + ".md")) is not { } page)
        {
            http.Response.StatusCode = StatusCodes.Status404NotFound;
            http.Response.ContentType = "text/plain; charset=utf-8";
            await http.Response.WriteAsync(
                "The manual has no such page; /help lists those it has.\n",
                http.RequestAborted
            );
            return;
        }

        http.Response.ContentType = "text/plain; charset=utf-8";
        http.Response.ContentLength = page.Length;
        await http.Response.Body.WriteAsync(page, http.RequestAborted);
    }

    private static string TitleOf(string name)
    {
        using var reader = new StreamReader(Open(name)!);
        return reader.ReadLine()?.TrimStart('#', ' ') ?? name;
    }

    // Whole, because the response states its length. The longest page has 40 KB.
    private static byte[]? Read(string name)
    {
        using var page = Open(name);
        if (page is null)
        {
            return null;
        }

        using var text = new MemoryStream();
        page.CopyTo(text);
        return text.ToArray();
    }

    private static GZipStream? Open(string name) =>
        typeof(HelpRoutes).Assembly.GetManifestResourceStream(name) is { } compressed
            ? new GZipStream(compressed, CompressionMode.Decompress)
            : null;
}
