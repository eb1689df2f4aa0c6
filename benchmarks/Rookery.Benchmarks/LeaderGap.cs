using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Net.Http.Headers;
using System.Text;

namespace Rookery.Benchmarks;

/// <summary>Kills the leader of a cluster during writes, and measures for how long no write is acknowledged.</summary>
internal static class LeaderGap
{
    private static readonly TimeSpan BeforeKill = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(30);

    // No election takes less time, so a later acknowledgement comes from a new leader.
    private static readonly TimeSpan ShortestElection = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(10);

    // The measurement ends when the last 100 acknowledgements, one second of writes, all came from a new leader.
    private const int AcknowledgedAtEnd = 100;

    /// <summary>
    /// Starts a write every 10 ms, at the survivors in turn, without waiting for earlier writes. A client that waited
    /// for an answer of the lost leader would measure its own timeout. Prints the longest time in milliseconds between
    /// two acknowledgements of which the later one came after the kill.
    /// </summary>
    /// <param name="kind">"rookery" or "etcd".</param>
    /// <param name="leader">Process id of the leader.</param>
    /// <param name="survivors">URLs of the other members.</param>
    public static async Task<int> RunAsync(string kind, int leader, string[] survivors)
    {
        using var client = new HttpClient(new SocketsHttpHandler { UseProxy = false }) { Timeout = LongestWait };
        using var ended = new CancellationTokenSource();
        using var process = Process.GetProcessById(leader);
        var acknowledged = new ConcurrentQueue<TimeSpan>();
        var writes = new List<Task>();
        string run = Guid.NewGuid().ToString("N");
        var clock = Stopwatch.StartNew();
        var killed = TimeSpan.Zero;
        for (int number = 0; clock.Elapsed < BeforeKill + LongestWait && !IsOver(acknowledged, killed); number++)
        {
            if (killed == TimeSpan.Zero && clock.Elapsed >= BeforeKill)
            {
                process.Kill();
                killed = clock.Elapsed;
            }

            writes.Add(
                WriteAsync(
                    kind,
                    client,
                    survivors[number % survivors.Length],
                    string.Create(CultureInfo.InvariantCulture, $"gap/{run}/{number}"),
                    clock,
                    acknowledged,
                    ended.Token
                )
            );
            var untilNext = (Interval * (number + 1)) - clock.Elapsed;
            if (untilNext > TimeSpan.Zero)
            {
                await Task.Delay(untilNext);
            }
        }

        await ended.CancelAsync();
        await Task.WhenAll(writes);
        TimeSpan[] times = [.. acknowledged.Order()];
        if (times.Length == 0 || times[0] > killed)
        {
            await Console.Error.WriteLineAsync("No write was acknowledged before the leader was killed.");
            return 1;
        }

        if (times[^1] < killed + ShortestElection)
        {
            await Console.Error.WriteLineAsync("No write was acknowledged after the leader was killed.");
            return 1;
        }

        var longest = times
            .Zip(times.Skip(1))
            .Where(pair => pair.Second > killed)
            .Max(static pair => pair.Second - pair.First);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{longest.TotalMilliseconds:0}"));
        return 0;
    }

    private static bool IsOver(ConcurrentQueue<TimeSpan> acknowledged, TimeSpan killed) =>
        killed > TimeSpan.Zero
        && acknowledged.Reverse().Take(AcknowledgedAtEnd).Count(at => at > killed + ShortestElection)
            == AcknowledgedAtEnd;

    private static async Task WriteAsync(
        string kind,
        HttpClient client,
        string url,
        string id,
        Stopwatch clock,
        ConcurrentQueue<TimeSpan> acknowledged,
        CancellationToken cancellationToken
    )
    {
        try
        {
            using var request = kind is "etcd"
                ? new HttpRequestMessage(HttpMethod.Post, new Uri($"{url}/v3/kv/put"))
                {
                    Content = Json($$"""{"key":"{{Base64(id)}}","value":"{{Base64("written")}}"}"""),
                }
                : new HttpRequestMessage(HttpMethod.Put, new Uri($"{url}/databases/bench/docs?id={id}"))
                {
                    Content = Json("""{"written":true}"""),
                };
            using var response = await client.SendAsync(request, cancellationToken);
            if (response.IsSuccessStatusCode)
            {
                acknowledged.Enqueue(clock.Elapsed);
            }
        }
        catch (Exception refused) when (refused is HttpRequestException or OperationCanceledException)
        {
            // The write was not acknowledged. Nothing else matters here.
        }
    }

    private static ByteArrayContent Json(string text)
    {
        var content = new ByteArrayContent(Encoding.UTF8.GetBytes(text));
        content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        return content;
    }

    private static string Base64(string text) => Convert.ToBase64String(Encoding.UTF8.GetBytes(text));
}
