using System.Net;
using System.Net.Security;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Server.Alerts;
using Rookery.Server.Tests.Access;

namespace Rookery.Server.Tests.Alerts;

/// <summary>The webhook and the quiet hours of the whole cluster, as its members store and read them.</summary>
public sealed class AlertSettingsTests(SecureServer node, NodeInDiagnosis inDiagnosis)
    : IClassFixture<SecureServer>,
        IClassFixture<NodeInDiagnosis>
{
    private const string Path = "/admin/alerts/webhook";

    [Fact]
    public async Task Quiet_hours_do_not_bring_back_a_URL_that_was_replaced_meanwhile()
    {
        Assert.Equal(204, await SetAsync("""{"Url":"https://ntfy.sh/known-to-others","Form":"ntfy"}"""));
        using var handler = new SocketsHttpHandler
        {
            SslOptions = new SslClientAuthenticationOptions { CertificateChainPolicy = node.TrustPolicy() },
            Expect100ContinueTimeout = TimeSpan.FromMinutes(1),
        };
        using var http = new HttpClient(handler);
        using var request = new HttpRequestMessage(HttpMethod.Put, new Uri(node.Address, Path));
        request.Headers.ExpectContinue = true;
        request.Headers.TryAddWithoutValidation("Authorization", "Bearer " + SecureServer.LocalKey);

        // The body is asked for after the settings were read.
        request.Content = new LateBody(
            """{"QuietFrom":"21:00","QuietUntil":"06:30"}""",
            async () => Assert.Equal(204, await SetAsync("""{"Url":"https://ntfy.sh/known-to-nobody","Form":"ntfy"}"""))
        );
        using var answer = await http.SendAsync(request);
        Assert.Equal(HttpStatusCode.Conflict, answer.StatusCode);
        Assert.Equal("https://ntfy.sh/known-to-nobody", AlertSettings.Of(Stored).Url);
        Assert.Equal(204, await SetAsync("""{"QuietFrom":"21:00","QuietUntil":"06:30"}"""));
        Assert.Equal("https://ntfy.sh/known-to-nobody", AlertSettings.Of(Stored).Url);
    }

    [Fact]
    public async Task Settings_of_a_newer_version_are_named_and_end_nothing()
    {
        await using var sender = new AlertSender(node.Context, ofFile: null, token: null);
        await node.ProposeAsync(
            CommandEncoder.SetConfiguration(
                database: 0,
                ConfigurationName.Alerts,
                """{"Url":"https://ntfy.sh/topic-1234567","Sound":"loud"}"""u8
            )
        );
        Assert.Null(sender.Webhook);
        Assert.Null(sender.Webhook);
        Assert.Contains("'Sound'", Assert.Single(node.Log.Lines, IsAboutAlerts), StringComparison.Ordinal);
        (await node.SendAsync("GET", Path, SecureServer.LocalKey)).IsRefusal(501, "'Sound'");
        Assert.Equal(501, await SetAsync("""{"QuietFrom":"21:00","QuietUntil":"06:30"}"""));
        node.Context.AlertSender = sender;
        (await node.SendAsync("POST", "/admin/alerts/test", SecureServer.LocalKey)).IsRefusal(501, "'Sound'");
        node.Context.AlertSender = null;
        Assert.Equal(204, await SetAsync("""{"Url":"https://ntfy.sh/another-topic","Form":"ntfy"}"""));
        Assert.Equal("https://ntfy.sh/another-topic", sender.Webhook?.Url.ToString());
    }

    /// <summary>Formerly, it answered that no webhook was set.</summary>
    [Fact]
    public async Task A_node_whose_data_are_not_open_does_not_know_whether_there_is_a_webhook()
    {
        using var answer = await inDiagnosis.Http.PostAsync(new Uri("/admin/alerts/test", UriKind.Relative), null);
        Assert.Equal(HttpStatusCode.ServiceUnavailable, answer.StatusCode);
        Assert.Contains("data are not open", await answer.Content.ReadAsStringAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_path_of_the_webhook_is_hidden_once_the_node_looks_for_alerts()
    {
        await using var sender = new AlertSender(node.Context, ofFile: null, token: null);
        Assert.Equal(204, await SetAsync("""{"Url":"https://ntfy.sh/topic-of-the-cluster","Form":"ntfy"}"""));
        node.Time.Advance(AlertWatch.Interval);
        Assert.Equal(
            "sent to https://ntfy.sh/(secret)",
            node.Context.RecentLog.Secrets.Clean("sent to https://ntfy.sh/topic-of-the-cluster")
        );
    }

    [Theory]
    [InlineData("""{"Form":"json"}""")]
    [InlineData("""{"Form":"nonsense","QuietFrom":"21:00","QuietUntil":"06:30"}""")]
    public async Task A_form_without_its_URL_is_refused(string body) => Assert.Equal(400, await SetAsync(body));

    private static bool IsAboutAlerts(string line) => line.Contains("are not used", StringComparison.Ordinal);

    private DatabaseConfiguration Stored =>
        node.Context.Node.Databases.ServerConfigurations.Find(ConfigurationName.Alerts);

    private async Task<int> SetAsync(string body) =>
        (await node.SendAsync("PUT", Path, SecureServer.LocalKey, body)).Status;

    private sealed class LateBody(string text, Func<Task> before) : HttpContent
    {
        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
        {
            await before();
            await stream.WriteAsync(Encoding.UTF8.GetBytes(text));
        }

        protected override bool TryComputeLength(out long length)
        {
            length = text.Length;
            return true;
        }
    }
}
