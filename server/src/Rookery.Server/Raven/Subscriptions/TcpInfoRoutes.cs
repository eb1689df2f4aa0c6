using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Subscriptions;
using Rookery.Server.Access;
using Rookery.Server.Observation;
using Rookery.Server.Raven.Cluster;
using Rookery.Server.Subscriptions;

namespace Rookery.Server.Raven.Subscriptions;

/// <summary>Tells clients where RavenDB's TCP protocol is spoken.</summary>
internal sealed class TcpInfoRoutes(ServerContext context)
{
    // How long the member that serves a subscription may take to tell its port. The client then connects here, and is
    // redirected.
    private static readonly TimeSpan MemberTimeout = TimeSpan.FromSeconds(3);

    /// <summary>GET info/tcp: the port of this node.</summary>
    public Task InfoAsync(HttpContext http) => AnswerAsync(http, Own(http));

    /// <summary>GET {db}/info/tcp: the port of this node.</summary>
    public Task DatabaseInfoAsync(HttpContext http, Database database) => AnswerAsync(http, Own(http));

    /// <summary>
    /// GET info/remote-task/tcp?database=…&amp;remote-task=…: the port of the member that serves it. If that
    /// member does not answer, the port of this node, which then redirects the client.
    /// </summary>
    public Task RemoteTaskAsync(HttpContext http)
    {
        var parameters = new QueryParameters(http);
        string name = parameters.RequiredText("database");
        string task = parameters.RequiredText("remote-task");
        if (!Principal.Of(http).CanSee(name))
        {
            throw new RefusedException(
                StatusCodes.Status403Forbidden,
                ErrorResponse.Forbidden,
                $"The database '{name}' needs the scope read or write, which '{Principal.Of(http).Name}' does not have "
                    + "there."
            );
        }

        return RavenRoute.WithDatabase(
            context,
            http,
            name,
            async (_, database) => await AnswerAsync(http, await FindAsync(http, database, task))
        );
    }

    /// <summary>Answers another member with the port of this node.</summary>
    public Task AnswerMemberAsync(HttpContext http) =>
        JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteNumber("Port"u8, context.Subscriptions.Port?.Invoke() ?? 0);
                json.WriteString("Certificate"u8, CertificateText());
            }
        );

    private async Task<TcpInfo> FindAsync(HttpContext http, Database database, string task)
    {
        SubscriptionRecord? record;
        using (var reader = database.OpenReader())
        {
            record = SubscriptionRows.Find(reader, task);
        }

        var view = context.Node.Consensus.View;
        var serving = record is null ? null : ServingMember.Of(record, view);
        if (
            serving is null or { IsSelf: true }
            || new NodeUrl(http, view.Members).Of(serving) is not { } url
            || context.Options.ConnectToMember?.Invoke(serving.NodeId) is not { } client
        )
        {
            return Own(http);
        }

        using (client)
        {
            return await AskAsync(client, new Uri(url).Host, serving.Tag) ?? Own(http);
        }
    }

    private async Task<TcpInfo?> AskAsync(HttpClient client, string host, string tag)
    {
        using var timeout = new CancellationTokenSource(MemberTimeout, context.Time);
        try
        {
            byte[] answer = await client.GetByteArrayAsync(
                new Uri(MemberRequests.TcpPath, UriKind.Relative),
                timeout.Token
            );
            using var json = JsonDocument.Parse(answer);
            int port = json.RootElement.GetProperty("Port").GetInt32();
            return port == 0
                ? null
                : new TcpInfo(UrlOf(host, port), json.RootElement.GetProperty("Certificate").GetString(), tag);
        }
        catch (Exception failure)
            when (failure
                    is HttpRequestException
                        or OperationCanceledException
                        or JsonException
                        or KeyNotFoundException
                        or InvalidOperationException
            )
        {
            return null;
        }
    }

    private TcpInfo Own(HttpContext http) =>
        context.Subscriptions.Port?.Invoke() is { } port
            ? new TcpInfo(UrlOf(http.Request.Host.Host, port), CertificateText(), context.Options.NodeTag)
            : throw RefusedException.NotSupported(
                "This node does not listen for subscriptions: 'tcpListen' is off in its configuration."
            );

    private static string UrlOf(string host, int port) =>
        string.Create(CultureInfo.InvariantCulture, $"tcp://{host}:{port}");

    private string? CertificateText() =>
        context.Options is { IsSecure: true, Identity: { } identity } && identity() is { } current
            ? Convert.ToBase64String(current.Certificate.RawDataMemory.Span)
            : null;

    private Task AnswerAsync(HttpContext http, TcpInfo info) =>
        JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteString("Url"u8, info.Url);
                json.WriteStartArray("Urls"u8);
                json.WriteStringValue(info.Url);
                json.WriteEndArray();
                json.WriteString("Certificate"u8, info.Certificate);
                json.WriteString("NodeTag"u8, info.Tag);
                json.WriteString("ServerId"u8, context.Node.ClusterId);
            }
        );

    private sealed record TcpInfo(string Url, string? Certificate, string Tag);
}
