using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// Answers without a body. They say so by status or Content-Length: RavenDB's clients throw on an empty chunked body.
/// </summary>
internal static class Empty
{
    /// <summary>204.</summary>
    public static Task NoContent(HttpContext http) => Status(http, StatusCodes.Status204NoContent);

    /// <summary>404: "no result", never "no such route".</summary>
    public static Task NotFound(HttpContext http) => Status(http, StatusCodes.Status404NotFound);

    /// <summary>Any status.</summary>
    public static Task Status(HttpContext http, int status)
    {
        Set(http, status);
        return Task.CompletedTask;
    }

    /// <summary>Any status; the answer ends when its handler does.</summary>
    public static void Set(HttpContext http, int status)
    {
        http.Response.StatusCode = status;
        if (status is not (StatusCodes.Status204NoContent or StatusCodes.Status304NotModified))
        {
            http.Response.ContentLength = 0;
        }
    }
}
