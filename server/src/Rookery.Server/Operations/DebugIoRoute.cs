using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Observation;

namespace Rookery.Server.Operations;

/// <summary>
/// /debug/io?since=&amp;until=&amp;span=&amp;node=: the disk operations of this node. The answer contains all
/// operations and the slow ones between two times (microseconds since 1970 UTC), totals of the last 24 hours in spans
/// of <c>span</c> seconds, and the devices. With only=rollups it contains the totals only. Rows of values instead of
/// objects keep the answer small.
/// </summary>
internal static class DebugIoRoute
{
    private const int DaySeconds = 24 * 60 * 60;
    private const int DefaultSpanSeconds = 60;

    // A day in spans of one second would be tens of megabytes.
    private const int MaxSpans = 4096;

    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes
            .MapWithoutData("/debug/io", RouteScope.Metrics, http => AnswerAsync(http, context))
            .OnAnyMember("since", "until", "span", "only");

    private static async Task AnswerAsync(HttpContext http, ServerContext context)
    {
        if (
            !TryRead(http, "since", fallback: 0, out long since)
            || !TryRead(http, "until", long.MaxValue, out long until)
            || !TryRead(http, "span", DefaultSpanSeconds, out long span)
            || span is < 1 or > DaySeconds
            || until < since
        )
        {
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status400BadRequest,
                ErrorResponse.BadRequest,
                $"'since' and 'until' must be microseconds since 1970 UTC, the first not after the other, "
                    + $"and 'span' 1 to {DaySeconds} seconds, all whole numbers."
            );
            return;
        }

        string? only = http.Request.Query["only"];
        if (!string.IsNullOrEmpty(only) && !string.Equals(only, "rollups", StringComparison.Ordinal))
        {
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status400BadRequest,
                ErrorResponse.BadRequest,
                "'only' can be 'rollups'; without it the answer contains everything."
            );
            return;
        }

        await context.LargeAnswers.SendAsync(
            http,
            async () =>
            {
                http.Response.ContentType = "application/json; charset=utf-8";
                await using var json = new Utf8JsonWriter(http.Response.BodyWriter);
                Write(json, context, since, until, span, only);
            }
        );
    }

    /// <summary>Writes the whole answer.</summary>
    /// <param name="json">Writer of the answer.</param>
    /// <param name="context">State of this node.</param>
    /// <param name="since">Excludes operations that ended at or before this time, in microseconds since 1970
    /// UTC.</param>
    /// <param name="until">Excludes operations that ended after this time.</param>
    /// <param name="span">Length of a span in seconds.</param>
    /// <param name="only">Null or empty for everything, otherwise "rollups".</param>
    public static void Write(
        Utf8JsonWriter json,
        ServerContext context,
        long since,
        long until,
        long span,
        string? only = null
    )
    {
        json.WriteStartObject();
        json.WriteString("Node"u8, context.Options.NodeTag);
        json.WriteString("NodeName"u8, context.Options.NodeName);
        json.WriteStartObject("Devices"u8);
        json.WriteString("Journal"u8, context.Io.JournalDevice);
        json.WriteString("Data"u8, context.Io.DataDevice);
        json.WriteEndObject();
        if (string.IsNullOrEmpty(only))
        {
            var page = context.Io.EventsBetween(since, until);
            WriteEvents(json, "Events", page.Events, page);
            WriteEvents(json, "SlowEvents", context.Io.SlowEventsSince(since, page.UntilUnixMicroseconds));
        }

        WriteRollUps(json, span, ReadRollUps(context, since, until, span));
        json.WriteEndObject();
    }

    // The second that contains the end is included as a whole, because totals are kept for whole seconds.
    private static IReadOnlyList<IoRollUp> ReadRollUps(ServerContext context, long since, long until, long span)
    {
        long end = Math.Min(until / 1_000_000, context.Time.GetUtcNow().ToUnixTimeSeconds()) + 1;
        return context.Io.RollUps(
            Math.Max(since / 1_000_000, end - Math.Min(DaySeconds, span * MaxSpans)),
            end,
            (int)span
        );
    }

    private static bool TryRead(HttpContext http, string name, long fallback, out long value)
    {
        string? text = http.Request.Query[name];
        value = fallback;
        return string.IsNullOrEmpty(text)
            || long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out value);
    }

    private static void WriteEvents(
        Utf8JsonWriter json,
        string name,
        IReadOnlyList<IoEvent> events,
        IoEventPage? page = null
    )
    {
        json.WriteStartObject(name);
        if (page is not null)
        {
            json.WriteNumber("FromUnixMicroseconds"u8, page.FromUnixMicroseconds);
            json.WriteNumber("UntilUnixMicroseconds"u8, page.UntilUnixMicroseconds);
        }

        WriteColumns(json, "Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes");
        json.WriteStartArray("Rows"u8);
        foreach (var ioEvent in events)
        {
            json.WriteStartArray();
            json.WriteStringValue(IoKindName.Of(ioEvent.Kind));
            json.WriteNumberValue(ioEvent.StartUnixMicroseconds);
            json.WriteNumberValue(ioEvent.DurationMicroseconds);
            json.WriteNumberValue(ioEvent.Bytes);
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
