using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace Rookery.Server;

/// <summary>/livez: the process runs. /readyz: documents are served; if not, 503 and the sentence why.</summary>
internal static class HealthRoutes
{
    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        routes.MapGet("/livez", static http => http.Response.WriteAsync("ok\n")).WithMetadata(WithoutData.Instance);
        routes.MapGet("/readyz", http => AnswerReadyAsync(http, context)).WithMetadata(WithoutData.Instance);
    }

    private static Task AnswerReadyAsync(HttpContext http, ServerContext context)
    {
        string? reason = context.Readiness.Reason;
        http.Response.StatusCode = reason is null ? StatusCodes.Status200OK : StatusCodes.Status503ServiceUnavailable;
        http.Response.ContentType = "text/plain; charset=utf-8";
        return http.Response.WriteAsync((reason ?? "ok") + "\n");
    }
}
