using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// Sends answers without a body. The status or Content-Length declares the absence, because RavenDB's clients throw on
/// an empty chunked body.
/// </summary>
internal static class EmptyResponse
{
    /// <summary>Answers 204.</summary>
    public static Task AnswerNoContent(HttpContext http) => Answer(http, StatusCodes.Status204NoContent);

    /// <summary>
    /// Answers 404, which RavenDB's clients read as "no result". Not for unknown routes, which are answered 501.
    /// </summary>
    public static Task AnswerNotFound(HttpContext http) => Answer(http, StatusCodes.Status404NotFound);

    /// <summary>Answers with a status.</summary>
    public static Task Answer(HttpContext http, int status)
    {
        Set(http, status);
        return Task.CompletedTask;
    }

    /// <summary>Sets a status and an empty body; the answer is sent when the handler ends.</summary>
    public static void Set(HttpContext http, int status)
    {
        http.Response.StatusCode = status;
        if (status is not (StatusCodes.Status204NoContent or StatusCodes.Status304NotModified))
        {
            http.Response.ContentLength = 0;
        }
    }
}
