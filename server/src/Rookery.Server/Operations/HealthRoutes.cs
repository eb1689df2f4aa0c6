using System.Buffers;
using System.Collections.Frozen;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Server.Access;
using Rookery.Server.Observation;
using Rookery.Server.Raven;

namespace Rookery.Server.Operations;

/// <summary>
/// /livez: 200 while the process runs. /readyz: 200 if the node serves documents, otherwise 503 with the reason. Reads
/// with consistency=local are enough for 200; a joining member must first have received all documents. /readyz?verbose
/// answers in JSON with figures, /readyz?words with the lines of <c>rookery status</c>.
/// </summary>
internal static class HealthRoutes
{
    // Members whose values are fixed words, letters of members, versions or times. A machine may be named like one of
    // them ("leader"), and programs read them.
    private static readonly FrozenSet<string> FixedWords = FrozenSet.Create(
        StringComparer.Ordinal,
        "Version",
        "ImageRelease",
        "NodeTag",
        "Expires",
        "Model",
        "Now",
        "SinceBoot",
        "Role",
        "Leader",
        "Time",
        "LimitedBy",
        "Tag"
    );

    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        routes
            .MapWithoutData("/livez", RouteScope.Open, static http => http.Response.WriteAsync("ok\n"))
            .Taking(RouteParameters.None);
        routes
            .MapWithoutData("/readyz", RouteScope.Open, http => AnswerReadyAsync(http, context))
            .Taking(new RouteParameters("verbose", "words"));
    }

    private static Task AnswerReadyAsync(HttpContext http, ServerContext context)
    {
        var cluster = context.Readiness.Node?.ReadStatistics()?.Consensus;
        string? reason = context.Readiness.Reason ?? cluster?.Unready;
        http.Response.StatusCode = reason is null ? StatusCodes.Status200OK : StatusCodes.Status503ServiceUnavailable;
        bool inWords = http.Request.Query.ContainsKey("words");
        if (inWords || http.Request.Query.ContainsKey("verbose"))
        {
            return AnswerVerboseAsync(http, context, reason, inWords);
        }

        http.Response.ContentType = "text/plain; charset=utf-8";
        string answer =
            reason ?? ((cluster?.Trouble ?? FindGrowthRefusal(context)) is { } trouble ? $"ok, but: {trouble}" : "ok");
        return http.Response.WriteAsync(context.PublicText.For(http, answer) + "\n", http.RequestAborted);
    }

    private static async Task AnswerVerboseAsync(HttpContext http, ServerContext context, string? reason, bool inWords)
    {
        bool isTrusted = context.PublicText.IsTrusted(http);
        var body = new ArrayBufferWriter<byte>();
        await using (var json = new Utf8JsonWriter(body, new JsonWriterOptions { Indented = true }))
        {
            // The progress of forming a cluster names other machines, so only trusted callers receive it.
            WriteVerbose(json, context, reason, isTrusted ? context.Options.Forming?.Invoke() : null);
        }

        if (!isTrusted)
        {
            body = RewriteForEveryone(body.WrittenMemory, context.PublicText);
        }

        using var status = JsonDocument.Parse(body.WrittenMemory);
        if (StatusWords.IsSelfContained(status.RootElement))
        {
            http.Response.Headers[StatusWords.Header] = StatusWords.IsWell(status.RootElement)
                ? StatusWords.Well
                : StatusWords.Unwell;
        }

        http.Response.ContentType = inWords ? "text/plain; charset=utf-8" : "application/json; charset=utf-8";
        if (inWords)
        {
            await http.Response.WriteAsync(
                string.Join('\n', StatusWords.Describe(status.RootElement)) + "\n",
                http.RequestAborted
            );
        }
        else
        {
            await http.Response.Body.WriteAsync(body.WrittenMemory, http.RequestAborted);
        }
    }

    // Rewrites all strings except the known fixed words, so that a sentence that is added later cannot be forgotten.
    private static ArrayBufferWriter<byte> RewriteForEveryone(ReadOnlyMemory<byte> answer, PublicText text)
    {
        var body = new ArrayBufferWriter<byte>();
        using var json = new Utf8JsonWriter(body, new JsonWriterOptions { Indented = true });
        var reader = new Utf8JsonReader(answer.Span);
        string member = "";
        while (reader.Read())
        {
            switch (reader.TokenType)
            {
                case JsonTokenType.StartObject:
                    json.WriteStartObject();
                    break;
                case JsonTokenType.EndObject:
                    json.WriteEndObject();
                    break;
                case JsonTokenType.StartArray:
                    json.WriteStartArray();
                    break;
                case JsonTokenType.EndArray:
                    json.WriteEndArray();
                    break;
                case JsonTokenType.PropertyName:
                    member = reader.GetString()!;
                    json.WritePropertyName(member);
                    break;
                case JsonTokenType.String:
                    string value = reader.GetString()!;
                    json.WriteStringValue(FixedWords.Contains(member) ? value : text.ForEveryone(value));
                    break;
                default:
                    json.WriteRawValue(reader.ValueSpan);
                    break;
            }
        }

        return body;
    }

    /// <summary>Returns why writes that grow the data are refused; null if they are accepted.</summary>
    private static string? FindGrowthRefusal(ServerContext context) =>
        context.Readiness.Node?.ReadStatistics()?.Consensus is { } cluster
            ? GrowthRule.WhyRefused(
                LiveCluster.Of(
                    cluster,
                    context.Observation,
                    context.Options.NodeTag,
                    reason: null,
                    context.Options.NodeName
                )
            )
            : null;

    /// <summary>Writes the answer of /readyz?verbose.</summary>
    public static void WriteVerbose(Utf8JsonWriter json, ServerContext context, string? reason, string? forming)
    {
        json.WriteStartObject();
        json.WriteBoolean("Ready"u8, reason is null);
        json.WriteString("Reason"u8, reason);
        json.WriteString("Version"u8, ProductVersion.Text);
        if (context.Options.MachineNotes?.Invoke().ImageRelease is { } release)
        {
            json.WriteString("ImageRelease"u8, release);
        }

        json.WriteString("NodeTag"u8, context.Options.NodeTag);
        json.WriteNumber("MemoryBudgetBytes"u8, context.Memory.TotalBytes);

        if (forming is not null)
        {
            json.WriteString("Forming"u8, forming);
        }

        if (context.Connections is { } connections)
        {
            json.WriteStartObject("Connections"u8);
            json.WriteNumber("MaxPerAddress"u8, connections.Max);
            json.WriteNumber("Refused"u8, connections.Refused);
            if (connections.SinceLastRefusal is { } since)
            {
                json.WriteNumber("LastRefusedSecondsAgo"u8, Math.Round(since.TotalSeconds));
            }

            json.WriteEndObject();
        }

        CertificateHealth.Write(json, context);
        BoardHealth.Write(json, context.Options.Board);
        if (context.Readiness.Node is { } node && node.ReadStatistics() is { } statistics)
        {
            json.WriteString("Recovery"u8, statistics.Recovery);
            json.WriteString("StorageHealth"u8, statistics.Storage.Health);
            json.WriteNumber("DamagedPlaces"u8, statistics.DamagedPlaces);
            json.WriteNumber("Databases"u8, node.Databases.All.Count);
            IndexMetrics.Write(json, node, context.Indexes);
            json.WriteNumber("JournalLastIndex"u8, statistics.JournalLastIndex);
            json.WriteNumber("AppliedIndex"u8, statistics.AppliedIndex);
            json.WriteNumber("ManifestIndex"u8, statistics.ManifestIndex);
            json.WriteNumber("Sequence"u8, statistics.Sequence);
            json.WriteNumber("QueuedCommands"u8, statistics.QueuedCommands);
            json.WriteString("GrowthRefusal"u8, FindGrowthRefusal(context));
            if (statistics.Consensus is { } cluster)
            {
                ClusterHealth.Write(json, cluster, LeaderReport.Of(cluster, context.Observation));
            }
        }

        json.WriteEndObject();
    }
}
