using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Disk;

namespace Rookery.Server;

/// <summary>
/// /debug/io?since=&amp;span=&amp;node=: the disk work of this node. Raw events and slow ones after a time (microseconds since 1970 UTC), roll-ups of the last 24 hours in spans of
/// seconds. Columns instead of objects, because a page of events is read by a program that draws it.
/// </summary>
internal static class DebugIoRoute
{
    private const int DaySeconds = 24 * 60 * 60;
    private const int DefaultSpanSeconds = 60;

    // A day in seconds would be some tens of megabytes.
    private const int MostSpans = 4096;

    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes.MapWithoutData("/debug/io", RouteScope.Metrics, http => AnswerAsync(http, context)).OnAnyMember();

    private static async Task AnswerAsync(HttpContext http, ServerContext context)
    {
        if (!TryRead(http, "since", 0, out long since) || !TryRead(http, "span", DefaultSpanSeconds, out long span) || span is < 1 or > DaySeconds)
        {
            await ErrorAnswer.WriteAsync(
                http,
                StatusCodes.Status400BadRequest,
                ErrorAnswer.BadRequest,
                $"'since' must be microseconds since 1970 UTC and 'span' 1 to {DaySeconds} seconds, both whole numbers.");
            return;
        }

        http.Response.ContentType = "application/json; charset=utf-8";
        await using var json = new Utf8JsonWriter(http.Response.BodyWriter);
        Write(json, context, since, span);
    }

    /// <summary>Writes the whole answer.</summary>
    /// <param name="json">Where to.</param>
    /// <param name="context">The node.</param>
    /// <param name="since">Events that ended after it, in microseconds since 1970.</param>
    /// <param name="span">How many seconds one roll-up covers.</param>
    public static void Write(Utf8JsonWriter json, ServerContext context, long since, long span)
    {
        long now = context.Time.GetUtcNow().ToUnixTimeSeconds();
        json.WriteStartObject();
        WriteEvents(json, "Events", context.Io.EventsSince(since));
        WriteEvents(json, "SlowEvents", context.Io.SlowEventsSince(since));
        WriteRollUps(json, span, context.Io.RollUps(Math.Max(since / 1_000_000, now - Math.Min(DaySeconds, span * MostSpans)), now + 1, (int)span));
        json.WriteEndObject();
    }

    private static bool TryRead(HttpContext http, string name, long fallback, out long value)
    {
        string? text = http.Request.Query[name];
        value = fallback;
        return string.IsNullOrEmpty(text) || long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out value);
    }

    private static void WriteEvents(Utf8JsonWriter json, string name, IReadOnlyList<IoEvent> events)
    {
        json.WriteStartObject(name);
        WriteColumns(json, "Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes");
        json.WriteStartArray("Rows"u8);
        foreach (var happened in events)
        {
            json.WriteStartArray();
            json.WriteStringValue(IoKindName.Of(happened.Kind));
            json.WriteNumberValue(happened.StartUnixMicroseconds);
            json.WriteNumberValue(happened.DurationMicroseconds);
            json.WriteNumberValue(happened.Bytes);
            json.WriteEndArray();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void WriteRollUps(Utf8JsonWriter json, long span, IReadOnlyList<IoRollUp> rollUps)
    {
        json.WriteStartObject("RollUps"u8);
        json.WriteNumber("SpanSeconds"u8, span);
        WriteColumns(json, "UnixSecond", "Kind", "Count", "Bytes", "TotalMicroseconds", "MaxMicroseconds");
        json.WriteStartArray("Rows"u8);
        foreach (var rollUp in rollUps)
        {
            json.WriteStartArray();
            json.WriteNumberValue(rollUp.UnixSecond);
            json.WriteStringValue(IoKindName.Of(rollUp.Kind));
            json.WriteNumberValue(rollUp.Count);
            json.WriteNumberValue(rollUp.Bytes);
            json.WriteNumberValue(rollUp.TotalMicroseconds);
            json.WriteNumberValue(rollUp.MaxMicroseconds);
            json.WriteEndArray();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void WriteColumns(Utf8JsonWriter json, params ReadOnlySpan<string> names)
    {
        json.WriteStartArray("Columns"u8);
        foreach (string name in names)
        {
            json.WriteStringValue(name);
        }

        json.WriteEndArray();
    }
}
