using System.Net;
using System.Text;
using System.Text.Json;
using Rookery.Access;

namespace Rookery.Live;

/// <summary>
/// Delivers the state of the cluster once a second: from the node's live stream or, if an older node has none, from its
/// status and metrics.
/// </summary>
/// <param name="client">The node.</param>
/// <param name="time">The clock.</param>
internal sealed class LiveFeed(NodeClient client, TimeProvider time)
{
    private const int PartLength = 8 << 10; // in characters

    // In characters. A state of nine members with hundreds of indexes and alerts has some hundred thousand.
    private const int MaxLineLength = 16 << 20;

    private static readonly TimeSpan RetryDelay = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan StateTimeLimit = TimeSpan.FromSeconds(10);

    private MetricsPage? _previous;
    private long _previousAt;

    /// <summary>Reports each state, and each error, until it is cancelled.</summary>
    /// <param name="onState">Called with each state and its event's JSON; the JSON is null without a live
    /// stream.</param>
    /// <param name="trouble">Called with the reason if there is no state.</param>
    /// <param name="cancellation">Ends the feed.</param>
    /// <exception cref="AdminException">The node rejects the token.</exception>
    public async Task RunAsync(
        Action<LiveView, string?> onState,
        Action<string> trouble,
        CancellationToken cancellation
    )
    {
        while (!cancellation.IsCancellationRequested)
        {
            AdminException? refusal = null;
            try
            {
                using var request = client.NewRequest(HttpMethod.Get, "/dashboard/live");
                using var answer = await client.AskAsync(request, cancellation);
                if (answer.IsSuccessStatusCode)
                {
                    await ListenAsync(answer, onState, cancellation);
                    trouble("The node ended the stream; connecting again.");
                }
                else if (answer.StatusCode is HttpStatusCode.NotFound or HttpStatusCode.NotImplemented)
                {
                    onState(await PollAsync(cancellation), null);
                }
                else if (answer.StatusCode is HttpStatusCode.Unauthorized or HttpStatusCode.Forbidden)
                {
                    refusal = await client.RefusalOfAsync(answer, cancellation);
                }
                else
                {
                    trouble((await client.RefusalOfAsync(answer, cancellation)).Message);
                }
            }
            catch (AdminException unanswered)
            {
                trouble(unanswered.Message);
            }
            catch (Exception failure) when (failure is IOException or HttpRequestException or TimeoutException)
            {
                trouble($"The connection to {client.Address} broke; connecting again.");
            }

            // A retry would be rejected as well.
            if (refusal is not null)
            {
                throw refusal;
            }

            await Task.Delay(RetryDelay, time, cancellation);
        }
    }

    private async Task ListenAsync(
        HttpResponseMessage answer,
        Action<LiveView, string?> onState,
        CancellationToken cancellation
    )
    {
        using var reader = new StreamReader(await answer.Content.ReadAsStreamAsync(cancellation));
        var line = new StringBuilder();
        char[] part = new char[PartLength];
        while (true)
        {
            int read = await reader
                .ReadAsync(part, cancellation)
                .AsTask()
                .WaitAsync(StateTimeLimit, time, cancellation);
            if (read == 0)
            {
                return;
            }

            int from = 0;
            while (from < read)
            {
                int end = part.AsSpan(from, read - from).IndexOf('\n');
                line.Append(part, from, end < 0 ? read - from : end);
                from = end < 0 ? read : from + end + 1;
                if (line.Length > MaxLineLength)
                {
                    throw new JsonException("A state is longer than any that a node sends.");
                }

                if (end >= 0)
                {
                    ReadLine(line.ToString().TrimEnd('\r'), onState);
                    line.Clear();
                }
            }
        }
    }

    /// <summary>Reports the state of a line "data: JSON"; ignores other lines of the stream.</summary>
    private static void ReadLine(string line, Action<LiveView, string?> onState)
    {
        if (line.StartsWith("data: ", StringComparison.Ordinal))
        {
            using var state = JsonDocument.Parse(line.AsMemory("data: ".Length));
            onState(LiveView.Read(state.RootElement), line["data: ".Length..]);
        }
    }

    /// <summary>
    /// Builds the state from /readyz and /metrics. Rates cover the time since the previous call; they are null in the
    /// first one.
    /// </summary>
    private async Task<LiveView> PollAsync(CancellationToken cancellation)
    {
        using var request = client.NewRequest(HttpMethod.Get, "/readyz?verbose");
        using var answer = await client.AskAsync(request, cancellation);
        var ready = await client.ReadJsonAsync(answer, cancellation);
        using var metrics = await client.SendAsync(HttpMethod.Get, "/metrics", cancellation: cancellation);
        var now = MetricsPage.Read(Encoding.UTF8.GetString(await client.ReadBodyAsync(metrics, cancellation)));
        double seconds = _previous is null ? 0 : time.GetElapsedTime(_previousAt).TotalSeconds;
        var view = ViewOf(ready, now, _previous, seconds);
        _previous = now;
        _previousAt = time.GetTimestamp();
        return view;
    }

    private static string StateOf(JsonElement member)
    {
        if (!member.TryGetProperty("IsReachable", out var isReachable))
        {
            return "unknown";
        }

        return isReachable.GetBoolean() ? "up" : "down";
    }

    private LiveView ViewOf(JsonElement ready, MetricsPage now, MetricsPage? before, double seconds)
    {
        double? RateOf(string name, Func<string, bool>? labels = null) =>
            before is null || seconds <= 0
                ? null
                : Math.Max(0, (now.Sum(name, labels) - before.Sum(name, labels)) / seconds);

        bool isReady = ready.GetProperty("Ready").GetBoolean();
        ready.TryGetProperty("Cluster", out var cluster);
        string? trouble = LiveView.TextOf(ready, "Reason") ?? LiveView.TextOf(cluster, "Trouble");
        string tag = LiveView.TextOf(ready, "NodeTag") ?? "-";
        string? leader = LiveView.TextOf(cluster, "Leader");
        var own = new LiveMember
        {
            Tag = tag,
            Name = tag,
            Role = LiveView.TextOf(cluster, "Role") ?? "alone",
            State = "up",
            IsSelf = true,
            SyncP99Milliseconds = now.Of("rookery_io_recent_seconds{kind=\"journal_sync\",quantile=\"0.99\"}") * 1000,
            ReadsPerSecond = RateOf("rookery_http_requests_total"),
            WritesPerSecond = RateOf("rookery_commands_total"),
            SyncsPerSecond = RateOf(
                "rookery_io_operations_total",
                static labels => labels.Contains("journal_sync", StringComparison.Ordinal)
            ),
            ResidentBytes = now.Of("process_resident_memory_bytes"),
            TemperatureCelsius = now.Of("rookery_board_temperature_celsius"),
            DiskFreeBytes = now.Of("rookery_disk_free_bytes"),
        };
        LiveMember[] others =
            cluster.ValueKind == JsonValueKind.Object && cluster.TryGetProperty("Members", out var members)
                ?
                [
                    .. members
                        .EnumerateArray()
                        .Where(member => !string.Equals(LiveView.TextOf(member, "Tag"), tag, StringComparison.Ordinal))
                        .Select(static member => new LiveMember
                        {
                            Tag = LiveView.TextOf(member, "Tag") ?? "-",
                            Name = LiveView.TextOf(member, "Name") ?? "-",
                            Role = LiveView.TextOf(member, "Role") ?? "-",
                            State = StateOf(member),
                            SeenSeconds = LiveView.NumberOf(member, "HeardSeconds"),
                            LagEntries = LiveView.NumberOf(member, "LagEntries"),
                            SyncP99Milliseconds = LiveView.NumberOf(member, "SyncP99Milliseconds"),
                        }),
                ]
                : [];
        return new LiveView
        {
            Time = time.GetUtcNow(),
            Level =
                !isReady ? "error"
                : trouble is null ? "ok"
                : "warning",
            Sentence = trouble ?? "Documents are served.",
            Cluster = others.Length > 0 ? "cluster" : null,
            Leader = leader,
            Term = (long?)LiveView.NumberOf(cluster, "Term"),
            Members = [.. others.Append(own).OrderBy(static member => member.Tag, StringComparer.Ordinal)],
        };
    }
}
