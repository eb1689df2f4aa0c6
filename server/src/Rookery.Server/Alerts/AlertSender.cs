using System.Net;
using System.Net.Http.Headers;
using System.Threading.Channels;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Server.Configuration;
using Rookery.Server.Raven;
using Rookery.Server.Support;

namespace Rookery.Server.Alerts;

/// <summary>
/// Sends a message to a webhook when an alert begins and when it ends, once for the whole cluster. The leader sends the
/// alerts of all members that report to it. A node that knows no leader sends its own alerts. If members do not
/// exchange alerts, each sends its own, and the leader also sends those about the cluster. A message that cannot be
/// sent is retried at growing intervals; a full queue drops the oldest message. The webhook's URL may be secret, so
/// only its host is logged.
/// </summary>
public sealed class AlertSender : IAsyncDisposable
{
    private const int MaxWaiting = 64;

    private static readonly TimeSpan SendTimeout = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan FirstPause = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan MaxPause = TimeSpan.FromMinutes(5);

    // A member that has just started evaluates its alerts at its second check, and reports them with its next sample.
    // Until then, an alert that the member does not report counts as active.
    private static readonly TimeSpan FirstReportDelay = TimeSpan.FromMinutes(1);

    private readonly ServerContext _context;
    private readonly WebhookConfiguration? _ofFile;
    private readonly string? _token;
    private readonly HttpClient _client;

    // For a webhook on this machine.
    private readonly HttpClient _localClient;
    private readonly AlertOutbox _outbox = new();
    private readonly Channel<AlertMessage> _waiting;
    private readonly CancellationTokenSource _stopping = new();
    private readonly ITimer _timer;
    private readonly Task _sending;

    // The leader, and the timestamp since when it is known to lead.
    private (string? Tag, long Since) _leader;

    // Whether the webhook did not accept the last message.
    private bool _isFailing;

    // Whether the search for changes or a message has failed, which is logged once.
    private int _hasFailed;
    private int _isDisposed;
    private int _isSending;

    // Etag of the last settings that could not be read, which is logged once.
    private long _unknownEtag;
    private Uri? _hiddenUrl;

    /// <summary>Starts to send.</summary>
    /// <param name="context">The node whose alerts are sent.</param>
    /// <param name="ofFile">Where this node's file says to send; null to send to the webhook of the cluster, while
    /// there is one.</param>
    /// <param name="token">The bearer token to send to the webhook of the file; null for none.</param>
    public AlertSender(ServerContext context, WebhookConfiguration? ofFile, string? token)
    {
        (_context, _ofFile, _token) = (context, ofFile, token);
        _waiting = Channel.CreateBounded<AlertMessage>(
            new BoundedChannelOptions(MaxWaiting) { FullMode = BoundedChannelFullMode.DropOldest, SingleReader = true },
            dropped => GiveUp(dropped, $"{MaxWaiting} newer ones wait")
        );

        (_client, _localClient) = (ClientFor(isLocal: false), ClientFor(isLocal: true));
        _timer = context.Time.CreateTimer(
            static sender => ((AlertSender)sender!).QueueChangesSafely(),
            this,
            AlertWatch.Interval,
            AlertWatch.Interval
        );
        _sending = SocketThreads.RunOnPoolAsync(SendAllAsync);
    }

    /// <summary>The webhook to which alerts are sent now; null without one.</summary>
    public WebhookConfiguration? Webhook => _ofFile ?? Settings.Webhook;

    /// <summary>Whether the webhook is the one of this node's file.</summary>
    public bool IsOfFile => _ofFile is not null;

    /// <summary>
    /// What is set for the whole cluster, as this node knows it; nothing while its data are not open, or if a newer
    /// version set it.
    /// </summary>
    internal AlertSettings Settings
    {
        get
        {
            var stored = Stored;
            try
            {
                return AlertSettings.Of(stored);
            }
            catch (RefusedException unknown)
            {
                if (Interlocked.Exchange(ref _unknownEtag, stored.Etag) != stored.Etag)
                {
                    _context.Log.LogWarning(
                        LogEvents.WebhookFails,
                        "The settings of alerts for the whole cluster are not used: {Failure}",
                        unknown.Message
                    );
                }

                return AlertSettings.None;
            }
        }
    }

    private DatabaseConfiguration Stored =>
        _context.Readiness.Node is { Diagnosis: null } node
            ? node.Databases.ServerConfigurations.Find(ConfigurationName.Alerts)
            : default;

    /// <summary>Whether a request is in progress.</summary>
    internal bool IsSending => Volatile.Read(ref _isSending) != 0;

    /// <summary>Sends a test message once, also in quiet hours.</summary>
    /// <returns>Why it failed, in one sentence; null if it was accepted.</returns>
    /// <exception cref="RefusedException">The node stops (503).</exception>
    public async Task<string?> TestAsync(CancellationToken cancellationToken)
    {
        var now = _context.Time.GetUtcNow();
        var alert = new ActiveAlert(
            "test",
            AlertSeverity.Warning,
            now,
            "This is a test: alerts of Rookery arrive here.",
            "Nothing is to be done.",
            AlertDefinition.Page
        );
        string? failure;
        try
        {
            (failure, _) = await SendAsync(
                MessageOf(AlertMessage.Test, new MemberAlert(_context.Options.NodeTag, alert), now),
                cancellationToken
            );
        }
        catch (ObjectDisposedException)
        {
            throw RefusedException.NodeStops();
        }

        // A stop ends the request as a timeout does.
        return failure is not null && Volatile.Read(ref _isDisposed) != 0
            ? throw RefusedException.NodeStops()
            : failure;
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) != 0)
        {
            return;
        }

        // After this no check runs, so the caller may close the node.
        await _timer.DisposeAsync();
        await _stopping.CancelAsync();
        await _sending;
        _client.Dispose();
        _localClient.Dispose();
        _stopping.Dispose();
    }

    // Redirects are not followed, because they could send the token elsewhere. Plain HTTP carries the token only to
    // this machine, so a webhook here is not reached through a proxy of the environment.
    private static HttpClient ClientFor(bool isLocal)
    {
        var handler = new SocketsHttpHandler
        {
            UseCookies = false,
            AllowAutoRedirect = false,
            ConnectTimeout = SendTimeout,
        };
        if (isLocal)
        {
            handler.UseProxy = false;
            handler.ConnectCallback = static (context, cancellation) =>
                ThisMachine.ConnectAsync(context.DnsEndPoint, cancellation);
        }

        var client = new HttpClient(handler) { Timeout = Timeout.InfiniteTimeSpan };
        client.DefaultRequestHeaders.UserAgent.Add(
            new ProductInfoHeaderValue("Rookery", ProductVersion.Text.Split('+')[0])
        );
        return client;
    }

    private void QueueChangesSafely()
    {
        try
        {
            QueueChanges();
        }
        catch (Exception failure) when (failure is IOException or ObjectDisposedException or InvalidOperationException)
        {
            // The node is closing or a file system does not answer; the next check tries again.
            _context.Log.LogDebug(failure, "The active alerts could not be read");
        }
        catch (Exception failure) when (failure is not InvariantViolationException)
        {
            // An exception on the timer's thread would end the process, as in AlertWatch.
            LogFailure(failure);
        }
    }

    private void HideUrl(WebhookConfiguration webhook)
    {
        if (webhook.Url != _hiddenUrl)
        {
            _hiddenUrl = webhook.Url;
            _context.RecentLog.Secrets.HidePath(webhook.Url);
        }
    }

    private void LogFailure(Exception failure)
    {
        if (Interlocked.Exchange(ref _hasFailed, 1) == 0)
        {
            _context.Log.LogError(
                LogEvents.AlertsFail,
                failure,
                "The node could not send alerts to the webhook because of an error in Rookery, and goes on"
            );
        }
    }

    private void QueueChanges()
    {
        var settings = Settings;
        var webhook = _ofFile ?? settings.Webhook;
        if (webhook is null)
        {
            _outbox.Clear();
            return;
        }

        HideUrl(webhook);

        var cluster = _context.Readiness.Node is { Diagnosis: null } node ? node.ReadStatistics()?.Consensus : null;
        bool isLeader = cluster is not null && ClusterMargin.IsLeader(cluster);
        bool knowsNoLeader = cluster?.LeaderTag is null;
        var own = _context.ActiveAlerts().Select(alert => new MemberAlert(_context.Options.NodeTag, alert));
        var others = _context.MemberAlerts?.Invoke();
        bool IsMine(MemberAlert alert) =>
            isLeader
            || others is null
            || (knowsNoLeader && string.Equals(alert.Node, _context.Options.NodeTag, StringComparison.Ordinal));
        if (!string.Equals(_leader.Tag, cluster?.LeaderTag, StringComparison.Ordinal))
        {
            _leader = (cluster?.LeaderTag, _context.Time.GetTimestamp());
        }

        var now = _context.Time.GetUtcNow();
        var quietSince = settings.QuietSince(now);
        foreach (var (state, alert) in _outbox.Update([.. own, .. others ?? []], IsMine, HasEnded, now, quietSince))
        {
            _waiting.Writer.TryWrite(MessageOf(state, alert, now));
        }
    }

    private bool HasEnded(MemberAlert alert) => IsJudgedAgain(alert.Alert.Name, ReadJudgingTime(alert));

    /// <summary>
    /// Returns how long the node that judges an alert has done so. For an alert about the cluster, this is the time
    /// since its leader became leader; otherwise it is the uptime of the alert's node, null if that node is not
    /// observed.
    /// </summary>
    private TimeSpan? ReadJudgingTime(MemberAlert alert)
    {
        if (AlertCatalogue.Find(alert.Alert.Name) is { IsOfCluster: true })
        {
            return _leader.Tag is null ? TimeSpan.Zero : _context.Time.GetElapsedTime(_leader.Since);
        }

        return _context.Options.IsObserved ? _context.Observation.Find(alert.Node)?.LastAnswer?.Uptime : null;
    }

    /// <summary>
    /// Whether the node that judges an alert has done so long enough to report it again. A node that has just started,
    /// or just become leader, does not report at once a condition that holds all the time.
    /// </summary>
    /// <param name="name">Name of the alert.</param>
    /// <param name="judging">How long that node has judged; null if it is not known.</param>
    internal static bool IsJudgedAgain(string name, TimeSpan? judging) =>
        judging is null || judging >= (AlertCatalogue.Find(name)?.For ?? TimeSpan.Zero) + FirstReportDelay;

    private AlertMessage MessageOf(string state, MemberAlert alert, DateTimeOffset now)
    {
        string? url = _context.Readiness.Node is { Diagnosis: null } node
            ? node.Consensus.View.Members.FirstOrDefault(static member => member.IsSelf)?.Url
            : null;
        return new AlertMessage(
            state,
            _context.Options.ClusterName,
            alert.Node,
            alert.Alert,
            now,
            url is not null && Uri.TryCreate(url, UriKind.Absolute, out var address) ? address : null
        );
    }

    private async Task SendAllAsync()
    {
        try
        {
            await foreach (var message in _waiting.Reader.ReadAllAsync(_stopping.Token))
            {
                try
                {
                    await SendUntilAcceptedAsync(message);
                }
                catch (Exception failure)
                    when (failure is not (OperationCanceledException or InvariantViolationException))
                {
                    // The next messages are sent all the same.
                    LogFailure(failure);
                    GiveUp(message, $"an error in Rookery ({failure.GetType().Name})");
                }
            }
        }
        catch (OperationCanceledException)
        {
            // The node stops.
        }
    }

    private async Task SendUntilAcceptedAsync(AlertMessage message)
    {
        for (var pause = FirstPause; ; pause = pause * 2 < MaxPause ? pause * 2 : MaxPause)
        {
            var (failure, isFinal) = await SendAsync(message, _stopping.Token);
            if (failure is null)
            {
                if (_isFailing)
                {
                    _context.Log.LogInformation(
                        LogEvents.WebhookWorks,
                        "The webhook at {Place} takes messages again.",
                        Webhook is { } webhook ? ShownSetting.PlaceOf(webhook.Url) : string.Empty
                    );
                }

                _isFailing = false;
                return;
            }

            if (!_isFailing)
            {
                _context.Log.LogWarning(LogEvents.WebhookFails, "An alert could not be sent: {Failure}", failure);
            }

            _isFailing = true;
            if (isFinal)
            {
                GiveUp(message, failure.TrimEnd('.'));
                return;
            }

            await Task.Delay(pause, _context.Time, _stopping.Token);
        }
    }

    private void GiveUp(AlertMessage message, string reason) =>
        _context.Log.LogWarning(
            LogEvents.AlertGivenUp,
            "The webhook was not notified that alert {Name} of node {Node} is {State}: {Why}.",
            message.Alert.Name,
            message.Node,
            message.State,
            reason
        );

    private async Task<(string? Failure, bool IsPermanentRefusal)> SendAsync(
        AlertMessage message,
        CancellationToken cancellationToken
    )
    {
        if (Webhook is not { } webhook)
        {
            return ("there is no webhook any more.", true);
        }

        HideUrl(webhook);
        string place = ShownSetting.PlaceOf(webhook.Url);
        bool isNtfy = webhook.Form is WebhookSettings.Ntfy;
        Volatile.Write(ref _isSending, 1);
        using var timeout = new CancellationTokenSource(SendTimeout, _context.Time);
        using var timeoutOrCancelled = CancellationTokenSource.CreateLinkedTokenSource(
            timeout.Token,
            cancellationToken
        );
        try
        {
            string? topic = isNtfy ? Uri.UnescapeDataString(webhook.Url.Segments[^1]) : null;
            using var content = new ByteArrayContent(message.Encode(topic));
            content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
            var target = isNtfy ? new Uri(webhook.Url, ".") : webhook.Url;
            using var request = new HttpRequestMessage(HttpMethod.Post, target) { Content = content };
            if (IsOfFile && _token is not null)
            {
                request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", _token);
            }

            var client = webhook.Url.IsLoopback ? _localClient : _client;
            using var answer = await client.SendAsync(
                request,
                HttpCompletionOption.ResponseHeadersRead,
                timeoutOrCancelled.Token
            );
            return answer.IsSuccessStatusCode
                ? (null, false)
                : (
                    $"the webhook at {place} answered with {(int)answer.StatusCode}{Hint(answer.StatusCode)}.",
                    IsPermanentRefusal(answer.StatusCode)
                );
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return ($"the webhook at {place} did not answer within {SendTimeout.TotalSeconds:0} seconds.", false);
        }
        catch (HttpRequestException failure)
        {
            return ($"the webhook at {place} cannot be reached: {Describe(failure)}.", false);
        }
        finally
        {
            Volatile.Write(ref _isSending, 0);
        }
    }

    // The exception's own message contains the URL, which may contain a secret.
    private static string Describe(HttpRequestException failure) =>
        failure.HttpRequestError switch
        {
            HttpRequestError.ConnectionError => "nothing answers there",
            HttpRequestError.NameResolutionError => "its name does not resolve",
            HttpRequestError.SecureConnectionError => "TLS failed; check the server's certificate",
            HttpRequestError.ResponseEnded => "it closed the connection without an answer",
            _ => "it gave no answer that can be read",
        };

    private string Hint(HttpStatusCode status) =>
        status switch
        {
            HttpStatusCode.Unauthorized or HttpStatusCode.Forbidden => IsOfFile
                ? ": look at the file of its token (webhook.tokenFile)"
                : ": look at its URL",
            >= HttpStatusCode.MultipleChoices and < HttpStatusCode.BadRequest =>
                ", a redirect: set the URL that it leads to",
            HttpStatusCode.NotFound => ": look at its URL",
            _ => string.Empty,
        };

    /// <summary>Whether a retry is useless, because the receiver refuses the message itself.</summary>
    private static bool IsPermanentRefusal(HttpStatusCode status) =>
        status
            is >= HttpStatusCode.BadRequest
                and < HttpStatusCode.InternalServerError
                and not (
                    HttpStatusCode.RequestTimeout
                    or HttpStatusCode.TooManyRequests
                    or HttpStatusCode.Unauthorized
                    or HttpStatusCode.Forbidden
                    or HttpStatusCode.NotFound
                );
}
