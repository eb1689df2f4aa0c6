using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging;
using Rookery.Server.Access;
using Rookery.Server.Observation;
using Rookery.Server.Raven;

namespace Rookery.Server.Support;

/// <summary>
/// GET /admin/logs?after=SEQUENCE&amp;limit=500: the last lines of this node's log, oldest first. It works without open
/// data, because the log then shows the reason.
/// </summary>
internal static class LogRoute
{
    private const int DefaultLimit = 500;

    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes
            .MapWithoutData("/admin/logs", RouteScope.Admin, RavenRoute.OnServer(http => AnswerAsync(http, context)))
            .OnAnyMember("after", "limit");

    /// <summary>Writes lines as the member <c>Lines</c>.</summary>
    public static void Write(Utf8JsonWriter json, IEnumerable<LogLine> lines)
    {
        json.WriteStartArray("Lines"u8);
        foreach (var line in lines)
        {
            json.WriteStartObject();
            json.WriteNumber("Sequence"u8, line.Sequence);
            json.WriteString("Time"u8, line.Time.UtcDateTime);
            json.WriteString("Level"u8, NameOf(line.Level));
            json.WriteNumber("EventId"u8, line.EventId);
            json.WriteString("Text"u8, line.Text);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static Task AnswerAsync(HttpContext http, ServerContext context)
    {
        long? after = ReadNumber(http, "after", min: 0, long.MaxValue);
        int limit = (int)(ReadNumber(http, "limit", min: 1, LogRing.DefaultLines) ?? DefaultLimit);
        return JsonResponse.SendAsync(http, json => Write(json, context.RecentLog.Read(after, limit)));
    }

    private static long? ReadNumber(HttpContext http, string name, long min, long max)
    {
        string? text = http.Request.Query[name];
        if (string.IsNullOrEmpty(text))
        {
            return null;
        }

        if (
            long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long value)
            && value >= min
            && value <= max
        )
        {
            return value;
        }

        throw RefusedException.BadRequest(
            $"'{name}' must be a whole "
                + $"number{(max < long.MaxValue ? $" from {min} to {max}" : string.Empty)}, not '{text}'."
        );
    }

    internal static string NameOf(LogLevel level) =>
        level switch
        {
            LogLevel.Trace or LogLevel.Debug or LogLevel.Information => "information",
            LogLevel.Warning => "warning",
            _ => "error",
        };
}
