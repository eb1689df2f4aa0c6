using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Server.Access;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Observation;

/// <summary>
/// GET /dashboard/history?node=TAG[&amp;from=][&amp;to=][&amp;points=]: the figures of a member for 24 hours. GET
/// /dashboard/slow?node=TAG: the slow disk events of a member. For a member that is down, both answer from the samples
/// that this node kept. For the time before this node's start, they answer from the samples that other members kept.
/// </summary>
internal sealed class HistoryRoutes(ServerContext context)
{
    private const int DefaultPoints = 600;
    private const int MaxPoints = 1440;
    private const long LastSecond = 253_402_300_799; // the last second of the year 9999

    private static readonly RouteParameters Parameters = new("node", "from", "to", "points")
    {
        // A page stays open while its node is upgraded.
        Ignored = new Dictionary<string, string>(StringComparer.Ordinal)
        {
            ["columns"] = "names the columns that a page of an earlier version shows; the answer has all",
        },
    };

    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        var history = new HistoryRoutes(context);
        routes
            .MapWithoutData("/dashboard/history", RouteScope.Metrics, RavenRoute.OnServer(history.AnswerHistoryAsync))
            .Taking(Parameters);
        routes
            .MapWithoutData("/dashboard/slow", RouteScope.Metrics, RavenRoute.OnServer(history.AnswerSlowAsync))
            .Taking(new RouteParameters("node"));
    }

    private Task AnswerHistoryAsync(HttpContext http)
    {
        var node = Find(http);
        var parameters = new QueryParameters(http);
        long now = context.KnownTime.ToUnixTimeSeconds();
        long to = Math.Min(parameters.Number("to", now), LastSecond);
        long from = Math.Min(
            parameters.Number("from", Math.Max(0, to - (long)SampleHistory.Retention.TotalSeconds)),
            LastSecond
        );
        long points = parameters.Number("points", DefaultPoints);
        if (from > to || points is < 1 or > MaxPoints)
        {
            throw RefusedException.BadRequest(
                $"'from' and 'to' are seconds since 1970 UTC, in this order, and 'points' is 1 to {MaxPoints}."
            );
        }

        return context.LargeAnswers.SendAsync(
            http,
            () => JsonResponse.SendAsync(http, json => WriteMembers(json, context, node, from, to, (int)points))
        );
    }

    /// <summary>Writes the history of a node as members of an object.</summary>
    /// <param name="json">Writer of the object.</param>
    /// <param name="context">State of this node.</param>
    /// <param name="node">The node whose history is written.</param>
    /// <param name="from">First second, since 1970 UTC.</param>
    /// <param name="to">Last second, since 1970 UTC, inclusive.</param>
    /// <param name="points">Number of rows at most.</param>
    public static void WriteMembers(
        Utf8JsonWriter json,
        ServerContext context,
        ObservedNode node,
        long from,
        long to,
        int points
    )
    {
        var merged = new MergedHistory(from, to, points);
        long newest = node.History.NewestUnixMilliseconds;
        json.WriteString("Node"u8, node.Tag);
        json.WriteNumber("SpanSeconds"u8, merged.SpanSeconds);
        if (newest > 0)
        {
            json.WriteString("LastSeen"u8, DocumentJson.Date(DateTimeOffset.FromUnixTimeMilliseconds(newest).UtcTicks));
        }
        else
        {
            json.WriteNull("LastSeen"u8);
        }

        json.WriteBoolean("IsObserved"u8, node != context.Observation.Self);
        json.WriteStartArray("Columns"u8);
        json.WriteStringValue("UnixSecond"u8);
        foreach (var figure in Enum.GetValues<Figure>())
        {
            json.WriteStringValue(Figures.NameOf(figure));
        }

        json.WriteEndArray();
        json.WriteStartArray("Rows"u8);
        foreach (var row in merged.Of(node.History.Between(from * 1000, (to * 1000) + 999)))
        {
            json.WriteStartArray();
            json.WriteNumberValue(row.UnixMilliseconds / 1000);
            for (int figure = 0; figure < row.Figures.Length; figure++)
            {
                NodeSample.WriteFigure(json, (Figure)figure, row.Figures[figure]);
            }

            json.WriteEndArray();
        }

        json.WriteEndArray();
    }

    private Task AnswerSlowAsync(HttpContext http)
    {
        var node = Find(http);
        var events = node == context.Observation.Self ? context.Observation.OwnSlowEvents(0) : node.Slow.Since(0);
        return JsonResponse.SendAsync(http, json => ObservationJson.WriteSlowMembers(json, events));
    }

    private ObservedNode Find(HttpContext http)
    {
        string? tag = new QueryParameters(http).Text("node");
        var observation = context.Observation;
        return string.IsNullOrEmpty(tag)
            ? observation.Self
            : observation.Find(tag)
                ?? throw RefusedException.BadRequest(
                    $"This node knows no node '{tag}'; it knows {string.Join(", ", TagsOf(observation))}."
                );
    }

    private static IEnumerable<string> TagsOf(NodeObservation observation) =>
        observation.Others.Select(static other => other.Tag).Append(observation.Self.Tag).Order(StringComparer.Ordinal);
}
