using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Dashboard;

/// <summary>
/// The cookie of a browser session. Scripts cannot read it, and browsers do not send it with requests of other sites.
/// </summary>
internal static class SessionCookie
{
    /// <summary>Name of the cookie.</summary>
    public const string Name = "rookery_session";

    /// <summary>Header that a writing request with the cookie must carry; forms of other sites cannot set it.</summary>
    public const string RequestHeader = "Rookery-Request";

    /// <summary>Error message for a request without the header.</summary>
    public const string HeaderMissing =
        $"A request other than GET and HEAD with the cookie of a session must also carry the header "
        + $"'{RequestHeader}: dashboard', which a page of another site cannot set.";

    private const string HeaderValue = "dashboard";

    /// <summary>Returns the cookie's value; null without one.</summary>
    public static string? Of(HttpContext http) =>
        http.Request.Headers.Cookie.Count == 0 ? null : http.Request.Cookies[Name];

    /// <summary>
    /// Whether the request cannot be a form of another site: it only reads, or carries <see cref="RequestHeader"/>.
    /// </summary>
    public static bool IsProtected(HttpContext http) =>
        HttpMethods.IsGet(http.Request.Method) || HttpMethods.IsHead(http.Request.Method) || IsFromDashboard(http);

    /// <summary>Whether the dashboard sent the request.</summary>
    public static bool IsFromDashboard(HttpContext http) =>
        string.Equals(http.Request.Headers[RequestHeader], HeaderValue, StringComparison.Ordinal);

    /// <summary>Sets the cookie in the browser.</summary>
    public static void Set(HttpContext http, string secret) =>
        http.Response.Headers.SetCookie = $"{Name}={secret}; {Attributes(http)}";

    /// <summary>Deletes the cookie in the browser.</summary>
    public static void Delete(HttpContext http) =>
        http.Response.Headers.SetCookie = $"{Name}=; Max-Age=0; {Attributes(http)}";

    private static string Attributes(HttpContext http) =>
        http.Request.IsHttps ? "Path=/; HttpOnly; SameSite=Strict; Secure" : "Path=/; HttpOnly; SameSite=Strict";
}
