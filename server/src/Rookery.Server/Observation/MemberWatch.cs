using System.Globalization;
using System.Runtime.InteropServices;
using System.Text.Json;
using Rookery.Platform;

namespace Rookery.Server.Observation;

/// <summary>
/// Polls one other member for its samples. The member answers when it has taken a sample, every ten seconds. While the
/// dashboard is open in a browser, the poll is every second. Requests follow each other on one connection, because a
/// new connection costs a TLS handshake.
/// </summary>
internal sealed class MemberWatch(
    ServerContext context,
    NodeObservation observation,
    ObservedNode observed,
    string nodeId
)
{
    // A client is replaced after this time, because certificate and addresses may have changed.
    private static readonly TimeSpan ClientLifetime = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan WatchedInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan WatchedTimeout = TimeSpan.FromSeconds(2.5);
    private static readonly TimeSpan UnwatchedTimeout = MemberRequests.MaxWait + TimeSpan.FromSeconds(5);

    // Enough for a day of history, with some reserve.
    private const int MaxAnswerBytes = 8 << 20;

    private HttpClient? _client;
    private long _clientMadeAt;
    private bool _hasRestored;

    /// <summary>Polls until it is cancelled.</summary>
    public async Task RunAsync(CancellationToken stopping)
    {
        try
        {
            while (!stopping.IsCancellationRequested)
            {
                await PollOnceAsync(stopping);
            }
        }
        finally
        {
            _client?.Dispose();
        }
    }

    private async Task PollOnceAsync(CancellationToken stopping)
    {
        long startedAt = context.Time.GetTimestamp();

        // Taken before IsWatched is read: a browser that opens the dashboard in between cancels it.
        var watchBegins = observation.WatchBegins;
        bool isWatched = observation.IsWatched;
        var woken = isWatched ? CancellationToken.None : watchBegins;
        try
        {
            if (!await PollAsync(isWatched, woken, stopping))
            {
                return; // ask again at once: the member has more
            }
        }
        catch (Exception failure) when (failure is not InvariantViolationException)
        {
            // This also catches answers of other versions that this version cannot read. Polling continues, so that the
            // member is seen again after its next upgrade.
            _client?.Dispose();
            _client = null;
            bool isWoken = failure is OperationCanceledException && woken.IsCancellationRequested;
            if (!stopping.IsCancellationRequested && !isWoken)
            {
                observed.RecordFailure();
                await PauseAsync(isWatched ? WatchedInterval : SampleHistory.Span, startedAt, woken, stopping);
            }

            return;
        }

        // If no browser shows the dashboard, the member delays its answer until it has a sample. The pause is for a
        // member that answers at once.
        await PauseAsync(WatchedInterval, startedAt, woken, stopping);
    }

    private async Task PauseAsync(TimeSpan atLeast, long startedAt, CancellationToken woken, CancellationToken stopping)
    {
        var remaining = atLeast - context.Time.GetElapsedTime(startedAt);
        if (remaining <= TimeSpan.Zero)
        {
            return;
        }

        using var linked = CancellationTokenSource.CreateLinkedTokenSource(stopping, woken);
        try
        {
            await Task.Delay(remaining, context.Time, linked.Token);
        }
        catch (OperationCanceledException)
        {
            // The node stops, or a browser opens the dashboard.
        }
    }

    /// <summary>Sends one request for samples and records the answer.</summary>
    /// <param name="isWatched">Whether a browser shows the dashboard.</param>
    /// <param name="woken">Cancelled when a browser opens it.</param>
    /// <param name="stopping">Cancelled when the node stops.</param>
    /// <returns>False if the next request is due at once.</returns>
    private async Task<bool> PollAsync(bool isWatched, CancellationToken woken, CancellationToken stopping)
    {
        if (_client is not null && context.Time.GetElapsedTime(_clientMadeAt) >= ClientLifetime)
        {
            _client.Dispose();
            _client = null;
        }

        if (_client is null)
        {
            _client =
                context.Options.ConnectToMember?.Invoke(nodeId)
                ?? throw new HttpRequestException("It is not known where this member is.");
            _client.MaxResponseContentBufferSize = MaxAnswerBytes;
            _clientMadeAt = context.Time.GetTimestamp();
        }

        if (!_hasRestored)
        {
            await RestoreHistoryAsync(stopping);
            _hasRestored = true;
        }

        string path = string.Create(
            CultureInfo.InvariantCulture,
            $"{MemberRequests.SamplesPath}?since={observed.History.NewestUnixMilliseconds}"
                + $"&slowSince={observed.Slow.NewestUnixMicroseconds}&show={(isWatched ? "true" : "false")}"
        );
        using var answer = await GetAsync(path, isWatched, woken, stopping);
        var root = answer.RootElement;
        observed.RecordAnswer(
            new MemberAnswer(
                JsonMarshal.GetRawUtf8Value(root.GetProperty("Sample"u8)).ToArray(),
                root.GetProperty("Sample"u8).GetProperty("Reason"u8).GetString(),
                ClusterReport.Read(root.GetProperty("Sight"u8)),
                ObservationJson.ReadAlerts(root.GetProperty("Alerts"u8)),
                root.GetProperty("Sample"u8).TryGetProperty("UptimeSeconds"u8, out var uptime)
                && uptime.ValueKind == JsonValueKind.Number
                    ? TimeSpan.FromSeconds(uptime.GetDouble())
                    : null
            )
        );
        return !RecordHistory(root, observed);
    }

    /// <summary>Restores this node's history from before its start, which the other member remembers.</summary>
    private async Task RestoreHistoryAsync(CancellationToken stopping)
    {
        var self = observation.Self;
        var restored = new SampleHistory(observation.Memory);
        try
        {
            bool hasMore = true;
            while (hasMore)
            {
                string path = string.Create(
                    CultureInfo.InvariantCulture,
                    $"{MemberRequests.KeptPath}?node={Uri.EscapeDataString(self.Tag)}"
                        + $"&since={restored.NewestUnixMilliseconds}&slowSince=0"
                );
                using var answer = await GetAsync(path, isWatched: true, CancellationToken.None, stopping);
                int before = restored.Count;
                self.Slow.Add(ObservationJson.ReadSlow(answer.RootElement.GetProperty("Slow"u8)));
                foreach (var row in ObservationJson.ReadHistory(answer.RootElement.GetProperty("History"u8)))
                {
                    restored.Add(row.UnixMilliseconds, row.Figures);
                }

                hasMore = answer.RootElement.GetProperty("HasMore"u8).GetBoolean() && restored.Count > before;
            }

            self.History.AddBefore(restored.Between(long.MinValue, long.MaxValue));
        }
        finally
        {
            restored.Clear();
        }
    }

    /// <summary>Records the history and the slow events of an answer.</summary>
    /// <returns>Whether the member has more.</returns>
    private static bool RecordHistory(JsonElement answer, ObservedNode node)
    {
        node.Slow.Add(ObservationJson.ReadSlow(answer.GetProperty("Slow"u8)));
        foreach (var row in ObservationJson.ReadHistory(answer.GetProperty("History"u8)))
        {
            node.History.Add(row.UnixMilliseconds, row.Figures);
        }

        return answer.GetProperty("HasMore"u8).GetBoolean();
    }

    private async Task<JsonDocument> GetAsync(
        string path,
        bool isWatched,
        CancellationToken woken,
        CancellationToken stopping
    )
    {
        using var timeout = new CancellationTokenSource(isWatched ? WatchedTimeout : UnwatchedTimeout, context.Time);
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, stopping, woken);
        using var answer = await _client!.GetAsync(
            new Uri(path, UriKind.Relative),
            HttpCompletionOption.ResponseContentRead,
            linked.Token
        );
        answer.EnsureSuccessStatusCode();
        return await JsonDocument.ParseAsync(
            await answer.Content.ReadAsStreamAsync(linked.Token),
            cancellationToken: linked.Token
        );
    }
}
