using System.Text;
using System.Text.Json;
using System.Threading.Channels;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Rookery.Server.Alerts;
using Rookery.Server.Configuration;
using Rookery.Server.Tests.Access;

namespace Rookery.Server.Tests.Alerts;

/// <summary>
/// Notifications about alerts to a webhook, here a server of the test. The sender works every ten seconds of the node's
/// simulated clock.
/// </summary>
public sealed class AlertSenderTests : IAsyncLifetime
{
    private const string Token = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2";

    // Instead of an HTTP status: the webhook does not answer, or it closes the connection without an answer.
    private const int Hangs = 999;
    private const int Closes = 998;

    private readonly SecureServer _node = new();
    private readonly Channel<Received> _received = Channel.CreateUnbounded<Received>();

    // How the webhook answers the next requests; afterwards it answers with 200.
    private readonly Queue<int> _statuses = new();
    private readonly List<ActiveAlert> _active = [];
    private WebApplication _hook = null!;
    private string _hookUrl = string.Empty;

    public async Task InitializeAsync()
    {
        await _node.InitializeAsync();
        _node.Context.ActiveAlerts = () => [.. _active];
        var builder = WebApplication.CreateSlimBuilder();
        _hook = builder.Build();
        _hook.Urls.Add("http://127.0.0.1:0");
        _hook.Run(async http =>
        {
            using var reader = new StreamReader(http.Request.Body);
            var received = new Received(
                http.Request.Path,
                http.Request.Headers.Authorization,
                await reader.ReadToEndAsync()
            );
            lock (_statuses)
            {
                http.Response.StatusCode = _statuses.TryDequeue(out int status) ? status : StatusCodes.Status200OK;
            }

            await _received.Writer.WriteAsync(received);
            if (http.Response.StatusCode is Closes)
            {
                http.Abort();
            }
            else if (http.Response.StatusCode is Hangs)
            {
                await Task.Delay(Timeout.InfiniteTimeSpan, http.RequestAborted)
                    .ContinueWith(static _ => { }, TaskScheduler.Default);
            }
        });
        await _hook.StartAsync();
        _hookUrl = _hook.Urls.Single();
    }

    public async Task DisposeAsync()
    {
        await _hook.DisposeAsync();
        await _node.DisposeAsync();
    }

    [Fact]
    public async Task Begin_and_end_of_an_alert_are_each_sent_once()
    {
        await using var sender = CreateSender("/hook/T0001", WebhookSettings.Json, Token);
        _active.Add(HotAlert());
        await AdvanceAsync(sender, seconds: 10);
        var (path, authorization, body) = await NextAsync();
        Assert.Equal(("/hook/T0001", "Bearer " + Token), (path, authorization));
        using (var sentJson = JsonDocument.Parse(body))
        {
            Assert.Equal(
                [
                    "firing",
                    "hot",
                    "warning",
                    "home",
                    "A",
                    "It has 82 °C.",
                    "Give it air.",
                    "/help/reference/alerts.md#hot",
                ],
                ((string[])["State", "Name", "Severity", "Cluster", "Node", "Sentence", "Fix", "Help"]).Select(name =>
                    sentJson.RootElement.GetProperty(name).GetString()!
                )
            );
        }

        await AdvanceAsync(sender, seconds: 600);
        _active.Clear();
        await AdvanceAsync(sender, seconds: 10);
        Assert.Equal("resolved", StateOf((await NextAsync()).Body));
        await AdvanceAsync(sender, seconds: 600);
        Assert.False(_received.Reader.TryRead(out _));
    }

    [Fact]
    public async Task Messages_to_ntfy_have_its_format_and_are_posted_to_the_url_above_the_topic()
    {
        await using var sender = CreateSender("/ntfy/our-rookery", WebhookSettings.Ntfy, token: null);
        _active.Add(HotAlert() with { Severity = AlertSeverity.Critical });
        await AdvanceAsync(sender, seconds: 10);
        var (path, authorization, body) = await NextAsync();
        Assert.Equal(("/ntfy/", null), (path, authorization));
        Assert.Equal(
            """{"topic":"our-rookery","title":"home A: hot","message":"It has 82 \u00B0C. Give it air.","priority":5,"tags":["rotating_light"]}""",
            body
        );
        _active.Clear();
        await AdvanceAsync(sender, seconds: 10);
        Assert.Equal(
            """{"topic":"our-rookery","title":"home A: hot is over","message":"It has 82 \u00B0C.","priority":3,"tags":["white_check_mark"]}""",
            (await NextAsync()).Body
        );
    }

    [Fact]
    public async Task A_failed_message_is_retried_at_growing_intervals_and_logged_once()
    {
        lock (_statuses)
        {
            _statuses.Enqueue(500);
            _statuses.Enqueue(429);
            _statuses.Enqueue(401);
        }

        await using var sender = CreateSender("/hook/T0001", WebhookSettings.Json, Token);
        _active.Add(HotAlert());
        await AdvanceAsync(sender, seconds: 10);
        for (int i = 0; i < 4; i++)
        {
            Assert.Equal("firing", StateOf((await NextAsync()).Body));

            // Retries after 5, 10 and 20 s, while no request is in progress. The fourth attempt succeeds.
            await AdvanceUntilAsync(sender, () => _received.Reader.Count > 0 || i == 3, "the message is sent again");
        }

        await AdvanceUntilAsync(
            sender,
            () => _node.Log.Lines.Any(static line => line.Contains("could not be sent", StringComparison.Ordinal)),
            "the failure is logged"
        );
        Assert.Contains(
            $"the webhook at {_hookUrl} answered with 500.",
            Assert.Single(_node.Log.Lines),
            StringComparison.Ordinal
        );
        Assert.DoesNotContain(
            _node.Log.Lines,
            static line =>
                line.Contains("T0001", StringComparison.Ordinal) || line.Contains(Token, StringComparison.Ordinal)
        );
    }

    [Fact]
    public async Task A_message_refused_as_invalid_does_not_block_later_ones()
    {
        lock (_statuses)
        {
            _statuses.Enqueue(400);
        }

        await using var sender = CreateSender("/hook", WebhookSettings.Json, token: null);
        _active.Add(HotAlert());
        await AdvanceAsync(sender, seconds: 10);
        Assert.Equal("firing", StateOf((await NextAsync()).Body));
        _active.Clear();
        await AdvanceAsync(sender, seconds: 10);
        Assert.Equal("resolved", StateOf((await NextAsync()).Body));
        Assert.Single(
            _node.Log.Lines,
            static line =>
                line.Contains("not notified that alert hot of node A is firing: the webhook", StringComparison.Ordinal)
        );
    }

    [Fact]
    public async Task Messages_dropped_from_a_full_queue_are_logged_by_name()
    {
        // The webhook refuses all messages, so the queue of 64 stays full.
        lock (_statuses)
        {
            Enumerable.Repeat(500, 1000).ToList().ForEach(_statuses.Enqueue);
        }

        await using var sender = CreateSender("/hook", WebhookSettings.Json, token: null);
        _active.AddRange(Enumerable.Range(0, 70).Select(static number => HotAlert() with { Name = $"hot{number}" }));
        await AdvanceAsync(sender, seconds: 10);
        Assert.Contains(
            _node.Log.Lines,
            static line => line.Contains("is firing: 64 newer ones wait", StringComparison.Ordinal)
        );
    }

    [Theory]
    [InlineData(Hangs, "did not answer within 10 seconds.")]
    [InlineData(Closes, "cannot be reached: ")]
    [InlineData(500, "answered with 500.")]
    public async Task A_webhook_that_hangs_closes_or_fails_is_logged_and_retried(int behaviour, string sentence)
    {
        lock (_statuses)
        {
            _statuses.Enqueue(behaviour);
        }

        await using var sender = CreateSender("/hook", WebhookSettings.Json, token: null);
        _active.Add(HotAlert());
        _node.Time.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal("firing", StateOf((await NextAsync()).Body));
        if (behaviour == Hangs)
        {
            _node.Time.Advance(TimeSpan.FromSeconds(10));
        }

        await AdvanceUntilAsync(sender, () => _received.Reader.Count > 0, "the message is sent again");
        Assert.Equal("firing", StateOf((await NextAsync()).Body));
        Assert.Contains(
            sentence,
            Assert.Single(_node.Log.Lines, static line => line.Contains("could not be sent", StringComparison.Ordinal)),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_fault_of_the_node_is_logged_once_and_does_not_end_the_process()
    {
        await using var sender = CreateSender("/hook", WebhookSettings.Json, token: null);
        _node.Context.ActiveAlerts = static () => throw new NotSupportedException("A fault.");
        await AdvanceAsync(sender, seconds: 60);
        Assert.Contains("because of an error in Rookery", Assert.Single(_node.Log.Lines), StringComparison.Ordinal);
        _node.Context.ActiveAlerts = () => [HotAlert()];
        await AdvanceAsync(sender, seconds: 10);
        Assert.Equal("firing", StateOf((await NextAsync()).Body));
    }

    [Fact]
    public async Task A_redirect_is_not_followed()
    {
        lock (_statuses)
        {
            _statuses.Enqueue(302);
        }

        await using var sender = CreateSender("/hook", WebhookSettings.Json, Token);
        Assert.Contains(
            "answered with 302, a redirect",
            await sender.TestAsync(CancellationToken.None),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task An_admin_can_send_a_test_message_and_gets_the_result()
    {
        (await _node.SendAsync("POST", "/admin/alerts/test", SecureServer.LocalKey)).IsRefusal(
            409,
            "No webhook is set"
        );
        await using var sender = CreateSender("/hook/T0001", WebhookSettings.Json, Token);
        _node.Context.AlertSender = sender;
        var answer = await _node.SendAsync("POST", "/admin/alerts/test", SecureServer.LocalKey);
        Assert.Equal((200, $$"""{"Message":"{{_hookUrl}} accepted a test message."}"""), (answer.Status, answer.Body));
        Assert.Equal("test", StateOf((await NextAsync()).Body));
        await _hook.StopAsync();
        (await _node.SendAsync("POST", "/admin/alerts/test", SecureServer.LocalKey)).IsRefusal(
            502,
            $"the webhook at {_hookUrl} cannot be reached: nothing answers there."
        );

        // A stop ends the sender first, and requests are answered until its end.
        await sender.DisposeAsync();
        (await _node.SendAsync("POST", "/admin/alerts/test", SecureServer.LocalKey)).IsRefusal(
            503,
            Readiness.NodeStops
        );
    }

    [Fact]
    public async Task A_webhook_that_an_admin_sets_is_used_until_it_is_removed_and_its_path_is_not_told()
    {
        await using var sender = new AlertSender(_node.Context, ofFile: null, token: null);
        _node.Context.AlertSender = sender;
        _active.Add(HotAlert());
        await AdvanceAsync(sender, seconds: 60);
        Assert.False(_received.Reader.TryRead(out _));
        Assert.Equal(204, await SetAsync($$"""{"Url":"{{_hookUrl}}/ntfy/secret","Form":"ntfy"}"""));
        await AdvanceAsync(sender, seconds: 10);
        Assert.Equal("/ntfy/", (await NextAsync()).Path);
        Assert.Equal(204, await SetAsync("""{"QuietFrom":"21:00","QuietUntil":"06:30"}"""));
        var shown = await _node.SendAsync("GET", "/admin/alerts/webhook", SecureServer.LocalKey);
        Assert.Equal(
            $$"""{"Place":"{{_hookUrl}}","Form":"ntfy","IsOfFile":false,"QuietFrom":"21:00","QuietUntil":"06:30"}""",
            shown.Body
        );
        Assert.Equal(200, (await _node.SendAsync("POST", "/admin/alerts/test", SecureServer.LocalKey)).Status);
        Assert.Equal("/ntfy/", (await NextAsync()).Path);
        Assert.Equal(204, await SetAsync("null"));
        _active.Clear();
        await AdvanceAsync(sender, seconds: 600);
        Assert.False(_received.Reader.TryRead(out _));
        (await _node.SendAsync("POST", "/admin/alerts/test", SecureServer.LocalKey)).IsRefusal(
            409,
            "No webhook is set"
        );
    }

    [Theory]
    [InlineData("""{"Url":"https://ntfy.sh/","Form":"ntfy"}""", 400)]
    [InlineData("""{"Url":"file:///etc/passwd"}""", 400)]
    [InlineData("""{"QuietFrom":"21:00"}""", 400)]
    [InlineData("""{"QuietFrom":"21:00","QuietUntil":"21:00"}""", 400)]
    [InlineData("""{"QuietFrom":"24:00","QuietUntil":"06:00"}""", 400)]
    [InlineData("""{"Url":"https://ntfy.sh/x","Token":"t"}""", 501)]
    public async Task Settings_of_alerts_that_are_invalid_or_unknown_are_refused(string body, int status) =>
        Assert.Equal(status, await SetAsync(body));

    private async Task<int> SetAsync(string body) =>
        (await _node.SendAsync("PUT", "/admin/alerts/webhook", SecureServer.LocalKey, body)).Status;

    [Theory]
    [InlineData("member_down", 359, false)]
    [InlineData("member_down", 360, true)]
    [InlineData("halted", 59, false)]
    [InlineData("halted", 60, true)]
    [InlineData("of_another_version", 60, true)]
    [InlineData("member_down", null, true)]
    public void A_node_ends_an_alert_only_after_it_was_up_for_the_alerts_period(
        string name,
        int? seconds,
        bool isOver
    ) =>
        Assert.Equal(
            isOver,
            AlertSender.IsJudgedAgain(name, seconds is { } known ? TimeSpan.FromSeconds(known) : null)
        );

    [Fact]
    public async Task An_alert_that_a_new_leader_does_not_report_for_a_while_is_not_sent_as_resolved()
    {
        await using var sender = CreateSender("/hook", WebhookSettings.Json, token: null);
        ActiveAlert down = HotAlert() with { Name = "member_down", Member = "C" };
        _active.Add(down);
        await AdvanceAsync(sender, seconds: 10);
        Assert.Equal("firing", StateOf((await NextAsync()).Body));

        // A member that has just become leader reports no alerts until it has observed the others for a while.
        _active.Clear();
        await AdvanceAsync(sender, seconds: 300);
        _active.Add(down);
        await AdvanceAsync(sender, seconds: 600);
        Assert.False(_received.Reader.TryRead(out _));
        _active.Clear();
        await AdvanceAsync(sender, seconds: 10);
        Assert.Equal("resolved", StateOf((await NextAsync()).Body));
    }

    [Theory]
    [InlineData("ftp://x/y", "json", null, "must look like")]
    [InlineData("https://u:p@ntfy.sh/x", "json", null, "without a user")]
    [InlineData("https://ntfy.sh/", "ntfy", null, "must end with the topic")]
    [InlineData("https://ntfy.sh/x", "xml", null, "must be json or ntfy, not \"xml\"")]
    [InlineData("http://192.168.1.9/x", "json", "/token", "needs a URL with https")]
    public void Invalid_webhook_settings_are_refused(string url, string form, string? token, string why)
    {
        var refused = Assert.Throws<ConfigurationException>(() =>
            ServeConfiguration.From(
                new ServeSettings { Data = "/data", Webhook = new WebhookSettings(url, form, token) }
            )
        );
        Assert.Contains(why, refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("u:p", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_webhook_is_read_from_the_file_and_shown_without_its_secrets()
    {
        var file = ConfigurationFile.Parse(
            "f.json",
            """{"data":"/data","webhook":{"url":"https://ntfy.sh/our-secret-topic","form":"ntfy","tokenFile":"/etc/token"}}"""u8
        );
        var configuration = ServeConfiguration.From(file);
        Assert.Equal(
            new WebhookConfiguration(new Uri("https://ntfy.sh/our-secret-topic"), "ntfy", "/etc/token"),
            configuration.Webhook
        );
        var shown = ShownSetting.Of(
            new ServeSettings { Memory = "128M" },
            file,
            ServeConfiguration.From(new ServeSettings { Memory = "128M" }.Over(file))
        );
        Assert.Equal(("ntfy to https://ntfy.sh with the token in /etc/token", "file"), Of("webhook"));
        Assert.Equal(("128M", "option"), Of("memory"));
        Assert.Equal(("/data", "file"), Of("data"));
        Assert.Equal(("http://127.0.0.1:8080", "default"), Of("listen"));
        Assert.Equal((null, "default"), Of("form"));

        (string?, string) Of(string name)
        {
            var setting = shown.Single(candidate => string.Equals(candidate.Name, name, StringComparison.Ordinal));
            return (setting.Value, setting.Source);
        }
    }

    [Theory]
    [InlineData("{\"webhook\": \"https://x\"}", "\"webhook\" a value that is not an object in line 1")]
    [InlineData("{\"webhook\": {\"form\": \"json\"}}", "must say \"url\" in \"webhook\"")]
    [InlineData(
        "{\"webhook\": {\"url\": \"a\",\n\"token\": \"x\"}}",
        "has the unknown setting \"webhook.token\" in line 2"
    )]
    [InlineData("{\"webhook\": {\"url\": 3}}", "\"webhook.url\" a value that is not a string")]
    [InlineData("{\"webhook\": {\"url\": \"a\", \"url\": \"b\"}}", "names \"webhook.url\" a second time")]
    public void An_invalid_webhook_in_the_file_is_refused_with_name_and_line(string text, string expected) =>
        Assert.Contains(
            expected,
            Assert
                .Throws<ConfigurationException>(() => ConfigurationFile.Parse("f.json", Encoding.UTF8.GetBytes(text)))
                .Message,
            StringComparison.Ordinal
        );

    internal static ActiveAlert HotAlert() =>
        new(
            "hot",
            AlertSeverity.Warning,
            new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero),
            "It has 82 °C.",
            "Give it air.",
            "/help/reference/alerts.md#hot"
        );

    private static string StateOf(string body)
    {
        using var sentJson = JsonDocument.Parse(body);
        return sentJson.RootElement.GetProperty("State").GetString()!;
    }

    private AlertSender CreateSender(string path, string form, string? token) =>
        new(_node.Context, new WebhookConfiguration(new Uri(_hookUrl + path), form, TokenFile: null), token);

    /// <summary>Returns the next request that the webhook received.</summary>
    private async Task<Received> NextAsync() =>
        await _received.Reader.ReadAsync().AsTask().WaitAsync(TimeSpan.FromSeconds(60));

    /// <summary>Advances the clock in steps of ten seconds, the interval at which the sender works.</summary>
    private async Task AdvanceAsync(AlertSender sender, int seconds)
    {
        for (int i = 0; i < seconds; i += 10)
        {
            await AwaitIdleAsync(sender);
            _node.Time.Advance(TimeSpan.FromSeconds(10));
        }
    }

    /// <summary>
    /// Advances the clock by a second at a time until a condition holds. The code that waits for the clock runs on
    /// another thread.
    /// </summary>
    private async Task AdvanceUntilAsync(AlertSender sender, Func<bool> holds, string expected)
    {
        for (int tries = 0; !holds(); tries++)
        {
            Assert.True(tries < 3000, $"expected within 3,000 s: {expected}");
            await AwaitIdleAsync(sender);
            _node.Time.Advance(TimeSpan.FromSeconds(1));
            await Task.Delay(10);
        }
    }

    /// <summary>
    /// Waits until no request is in progress. The simulated clock stands still meanwhile, so the request does not time
    /// out.
    /// </summary>
    private static async Task AwaitIdleAsync(AlertSender sender)
    {
        for (int tries = 0; sender.IsSending; tries++)
        {
            Assert.True(tries < 3000, "the request to the webhook ends");
            await Task.Delay(10);
        }
    }

    private sealed record Received(string Path, string? Authorization, string Body);
}
