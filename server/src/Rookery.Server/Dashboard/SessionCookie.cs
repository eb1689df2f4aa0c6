using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Dashboard;

/// <summary>
/// The cookie by which a browser shows its session. No script reads it, and no page of another site makes a browser
/// send it.
/// </summary>
internal static class SessionCookie
{
    /// <summary>Its name.</summary>
    public const string Name = "rookery_session";

    /// <summary>
    /// With the cookie, whatever changes something carries this header too: a form of another page cannot set it.
    /// </summary>
    public const string RequestHeader = "Rookery-Request";

    /// <summary>What a request without that header is told.</summary>
    public const string HeaderMissing =
        $"A request with the cookie of a session that is not GET or HEAD must carry the header "
        + $"'{RequestHeader}: dashboard', which a page of another site cannot set.";

    private const string HeaderValue = "dashboard";

    /// <summary>What the request brings; null when it brings none.</summary>
    public static string? Of(HttpContext http) =>
        http.Request.Headers.Cookie.Count == 0 ? null : http.Request.Cookies[Name];

    /// <summary>Whether the request is no order of another page.</summary>
    public static bool IsOwnRequest(HttpContext http) =>
        HttpMethods.IsGet(http.Request.Method) || HttpMethods.IsHead(http.Request.Method) || IsOfPage(http);

    /// <summary>Whether the page asks, and shows a person what it is told.</summary>
    public static bool IsOfPage(HttpContext http) =>
        string.Equals(http.Request.Headers[RequestHeader], HeaderValue, StringComparison.Ordinal);

    /// <summary>Hands it to the browser.</summary>
    public static void Give(HttpContext http, string secret) =>
        http.Response.Headers.SetCookie = $"{Name}={secret}; {Attributes(http)}";

    /// <summary>Takes it back.</summary>
    public static void Take(HttpContext http) =>
        http.Response.Headers.SetCookie = $"{Name}=; Max-Age=0; {Attributes(http)}";

    private static string Attributes(HttpContext http) =>
        http.Request.IsHttps ? "Path=/; HttpOnly; SameSite=Strict; Secure" : "Path=/; HttpOnly; SameSite=Strict";
}
