using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Documents.Consensus;
using Rookery.Server.Access;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Cluster;

namespace Rookery.Server.Operations;

/// <summary>
/// GET /sd/prometheus: HTTP service discovery for Prometheus, with two targets for each member: its own metrics and
/// those of its machine. Any member answers from its own knowledge, even without a leader.
/// </summary>
internal static class DiscoveryRoute
{
    // Two jobs, because both sources have process metrics with the same names.
    private static readonly (string Job, string Path)[] Sources =
    [
        ("rookery", "/metrics"),
        ("node", "/metrics/machine"),
    ];

    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes
            .MapWithoutData(
                "/sd/prometheus",
                RouteScope.Metrics,
                http =>
                    context.Readiness.Node is { Diagnosis: null } node
                        ? AnswerAsync(http, context.Options, node.Consensus.View.Members)
                        : ErrorResponse.WriteAsync(
                            http,
                            StatusCodes.Status503ServiceUnavailable,
                            ErrorResponse.RavenException,
                            context.Readiness.Reason ?? "The node is opening its data."
                        )
            )
            .Taking(RouteParameters.None);

    private static async Task AnswerAsync(
        HttpContext http,
        ServerOptions options,
        IReadOnlyList<ClusterViewMember> members
    )
    {
        using var answer = ResponseBuffer.Rent();
        var urls = new NodeUrl(http, members);
        using (var json = new Utf8JsonWriter(answer))
        {
            json.WriteStartArray();
            foreach (var member in members)
            {
                if (Uri.TryCreate(urls.Of(member), UriKind.Absolute, out var url))
                {
                    WriteMember(json, url, member.Name.Length > 0 ? member.Name : member.Tag, options.ClusterName);
                }
            }

            json.WriteEndArray();
        }

        await answer.SendAsync(http);
    }

    private static void WriteMember(Utf8JsonWriter json, Uri url, string name, string cluster)
    {
        foreach (var (job, path) in Sources)
        {
            json.WriteStartObject();
            json.WriteStartArray("targets"u8);
            json.WriteStringValue(string.Create(CultureInfo.InvariantCulture, $"{url.Host}:{url.Port}"));
            json.WriteEndArray();
            json.WriteStartObject("labels"u8);
            json.WriteString("__scheme__"u8, url.Scheme);
            json.WriteString("__metrics_path__"u8, path);
            json.WriteString("job"u8, job);
            json.WriteString("node"u8, name);
            json.WriteString("cluster"u8, cluster);
            json.WriteEndObject();
            json.WriteEndObject();
        }
    }
}
