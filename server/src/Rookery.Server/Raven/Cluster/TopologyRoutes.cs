using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;

namespace Rookery.Server.Raven.Cluster;

/// <summary>
/// topology, cluster/topology, cluster/node-info, build/version and healthcheck.
/// </summary>
internal sealed class TopologyRoutes(ServerContext context)
{
    private string Tag => context.Node.Consensus.NodeTag;

    /// <summary>GET topology?name=…: the nodes of one database.</summary>
    public Task DatabaseTopologyAsync(HttpContext http) =>
        RavenRoute.WithDatabase(
            context,
            http,
            new QueryParameters(http).RequiredText("name"),
            (_, database) => JsonResponse.SendAsync(http, json => WriteDatabaseTopology(json, http, database))
        );

    /// <summary>GET cluster/topology: all nodes.</summary>
    public Task ClusterTopologyAsync(HttpContext http) =>
        JsonResponse.SendAsync(
            http,
            json =>
            {
                var view = context.Node.Consensus.View;
                json.WriteStartObject("Topology"u8);
                json.WriteString("TopologyId"u8, context.Node.ClusterId);
                var urls = new NodeUrl(http, view.Members);
                WriteUrls(json, "AllNodes"u8, view.Members, urls);
                WriteUrls(json, "Members"u8, view.Members.Where(static member => member.IsVoter), urls);
                WriteUrls(json, "Promotables"u8, view.Members.Where(static member => !member.IsVoter), urls);
                json.WriteStartObject("Watchers"u8);
                json.WriteEndObject();
                json.WriteString(
                    "LastNodeId"u8,
                    view.Members.Select(static member => member.Tag).Max(StringComparer.Ordinal) ?? Tag
                );
                json.WriteNumber("Etag"u8, view.Etag);
                json.WriteEndObject();
                json.WriteNumber("Etag"u8, view.Etag);
                json.WriteString("Leader"u8, context.Node.Consensus.LeaderTag);
                WriteState(json);
                json.WriteStartObject("Status"u8);
                json.WriteEndObject();
            }
        );

    /// <summary>GET cluster/node-info: this node.</summary>
    public Task NodeInfoAsync(HttpContext http) =>
        JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteString("TopologyId"u8, context.Node.ClusterId);
                WriteState(json);
            }
        );

    /// <summary>GET healthcheck: RavenDB's clients send it before they again use a node that failed.</summary>
    public static Task HealthAsync(HttpContext http, Database database) => EmptyResponse.AnswerNoContent(http);

    /// <summary>
    /// GET build/version: the RavenDB version whose dialect this is. Some clients switch features on it.
    /// </summary>
    public static Task VersionAsync(HttpContext http) =>
        JsonResponse.SendAsync(
            http,
            static json =>
            {
                json.WriteNumber("BuildVersion"u8, 72000);
                json.WriteString("ProductVersion"u8, "7.2"u8);
                json.WriteString("CommitHash"u8, "rookery"u8);
                json.WriteString("FullVersion"u8, "7.2.0"u8);
            }
        );

    private void WriteDatabaseTopology(Utf8JsonWriter json, HttpContext http, Database database)
    {
        var view = context.Node.Consensus.View;
        json.WriteNumber("Etag"u8, view.Etag);
        json.WriteStartArray("Nodes"u8);
        var urls = new NodeUrl(http, view.Members);
        foreach (var member in view.Members)
        {
            if (urls.Of(member) is not { } url)
            {
                continue;
            }

            json.WriteStartObject();
            json.WriteString("Url"u8, url);
            json.WriteString("ClusterTag"u8, member.Tag);
            json.WriteString("Database"u8, database.Name);

            // Clients write to the first node of the role "Member" and read from all of them. They read from nodes of
            // other roles only if no Member answers.
            json.WriteString(
                "ServerRole"u8,
                !member.IsVoter ? "Promotable"u8
                    : member.IsUp ? "Member"u8
                    : "Rehab"u8
            );
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteUrls(
        Utf8JsonWriter json,
        ReadOnlySpan<byte> name,
        IEnumerable<ClusterViewMember> members,
        NodeUrl urls
    )
    {
        json.WriteStartObject(name);
        foreach (var member in members)
        {
            if (urls.Of(member) is { } url)
            {
                json.WriteString(member.Tag, url);
            }
        }

        json.WriteEndObject();
    }

    private void WriteState(Utf8JsonWriter json)
    {
        json.WriteString("NodeTag"u8, Tag);
        json.WriteString("ServerRole"u8, "Member"u8);
        json.WriteString("CurrentState"u8, context.Node.Consensus.IsLeader ? "Leader"u8 : "Follower"u8);
    }
}
