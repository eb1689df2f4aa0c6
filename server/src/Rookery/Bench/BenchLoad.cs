using System.Globalization;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Bench;

/// <summary>
/// Sends requests over many connections at once. Each connection sends its next request as soon as it has the response
/// to the previous one.
/// </summary>
/// <param name="client">The node.</param>
/// <param name="database">The temporary database.</param>
/// <param name="kind">The kind of request.</param>
/// <param name="connections">The number of connections.</param>
/// <param name="time">The clock.</param>
internal sealed class BenchLoad(NodeClient client, string database, BenchKind kind, int connections, TimeProvider time)
{
    /// <summary>The number of documents stored before reads begin.</summary>
    public const int PreparedDocuments = 10_000;

    /// <summary>The approximate size of a document, in bytes.</summary>
    public const int DocumentBytes = 200;

    // A query finds 1 % of the documents.
    private const int Ages = 100;

    private readonly string _path = NodeClient.PathOf(database);
    private readonly Lock _gate = new();
    private readonly List<long> _durations = [];
    private long _failed;
    private string? _firstFailure;

    /// <summary>Stores the documents that reads need, and waits until the index for queries is built.</summary>
    public async Task PrepareAsync()
    {
        if (kind is BenchKind.Put)
        {
            return;
        }

        var lines = new StringBuilder();
        for (int number = 0; number < PreparedDocuments; number++)
        {
            lines.Append(Document(number, $",\"@id\":\"birds/{number}\"")).Append('\n');
        }

        using var body = new StringContent(lines.ToString());
        using var imported = await client.SendAsync(HttpMethod.Post, $"{_path}/import", body);
        RequirePrepared(await client.ReadBodyAsync(imported));
        if (kind is BenchKind.Query)
        {
            using var query = QueryBody(age: 0, waits: true);
            await client.GetJsonAsync(HttpMethod.Post, $"{_path}/queries", query);
        }
    }

    /// <summary>Requires that an import stored all documents: its status is 200 also if it ended early.</summary>
    /// <param name="answer">The lines of its answer.</param>
    /// <exception cref="AdminException">Documents are missing.</exception>
    internal static void RequirePrepared(byte[] answer)
    {
        string last = Encoding.UTF8.GetString(answer).TrimEnd('\n').Split('\n')[^1];
        using var json = JsonDocument.Parse(last);
        var result = json.RootElement.GetProperty("Result");
        string? error = result.TryGetProperty("Error", out var reason) ? reason.GetString() : null;
        long stored = result.GetProperty("Stored").GetInt64();
        if (error is not null || stored != PreparedDocuments)
        {
            throw new AdminException(
                $"Only {stored} of {PreparedDocuments} documents that the reads need were stored. {error}".TrimEnd(),
                ExitCode.Failure
            );
        }
    }

    /// <summary>Runs the load for the given time, or until <paramref name="stopped"/> completes.</summary>
    public async Task<BenchResult> RunAsync(TimeSpan length, Task stopped)
    {
        long startedAt = time.GetTimestamp();
        await Task.WhenAll(
            Enumerable
                .Range(0, connections)
                .Select(worker => Task.Run(() => WorkAsync(worker, startedAt, length, stopped)))
        );
        double seconds = time.GetElapsedTime(startedAt).TotalSeconds;
        _durations.Sort();
        return new BenchResult(seconds, _durations, _failed, _firstFailure);
    }

    private static string Document(int number, string metadata) =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{{\"name\":\"rook {number}\",\"age\":{number % Ages},\"nest\":\"elm {number % 977}"
                + $"\",\"note\":\"one of those that nest in company and are "
                + $"black\",\"@metadata\":{{\"@collection\":\"Birds\"{metadata}}}}}"
        );

    private static ByteArrayContent QueryBody(int age, bool waits) =>
        NodeClient.BodyOf(json =>
        {
            json.WriteString("Query"u8, "from Birds where age = $age limit 10"u8);
            json.WriteStartObject("QueryParameters"u8);
            json.WriteNumber("age"u8, age);
            json.WriteEndObject();
            if (waits)
            {
                json.WriteBoolean("WaitForNonStaleResults"u8, true);
            }
        });

    private async Task WorkAsync(int worker, long startedAt, TimeSpan length, Task stopped)
    {
        var durations = new List<long>();
        int number = worker;
        while (time.GetElapsedTime(startedAt) < length && !stopped.IsCompleted)
        {
            long sentAt = time.GetTimestamp();
            try
            {
                using var request = Request(number);
                using var response = await client.AskAsync(request);
                await client.ReadBodyAsync(response);
                if (response.IsSuccessStatusCode)
                {
                    durations.Add((long)time.GetElapsedTime(sentAt).TotalMicroseconds);
                }
                else
                {
                    Fail($"status {(int)response.StatusCode}");
                }
            }
            catch (Exception failure) when (failure is AdminException or HttpRequestException or IOException)
            {
                Fail(failure.Message);
            }

            number += connections;
        }

        lock (_gate)
        {
            _durations.AddRange(durations);
        }
    }

    private HttpRequestMessage Request(int number)
    {
        // A prime number spreads consecutive requests over all documents. The product may overflow to below zero.
        int spread = number * 7919 % PreparedDocuments;
        switch (kind)
        {
            case BenchKind.Put:
                var body = new StringContent(Document(number, string.Empty));
                body.Headers.ContentType = new MediaTypeHeaderValue("application/json");
                return client.NewRequest(HttpMethod.Put, $"{_path}/docs?id=birds%2F{number}", body);
            case BenchKind.Get:
                return client.NewRequest(HttpMethod.Get, $"{_path}/docs?id=birds%2F{Math.Abs(spread)}");
            default:
                return client.NewRequest(
                    HttpMethod.Post,
                    $"{_path}/queries",
                    QueryBody(Math.Abs(spread) % Ages, waits: false)
                );
        }
    }

    private void Fail(string reason)
    {
        lock (_gate)
        {
            _failed++;
            _firstFailure ??= reason;
        }
    }
}
