using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Server;

namespace Rookery.Transfer;

/// <summary>The result of one part of an import.</summary>
/// <param name="Stored">Documents stored.</param>
/// <param name="Bad">Records refused.</param>
/// <param name="Reasons">Some refused records: their number within the part, from 0, and the reason.</param>
internal sealed record PartResult(long Stored, long Bad, IReadOnlyList<(int Record, string Reason)> Reasons)
{
    /// <summary>Documents that list counters, which an import does not store.</summary>
    public long WithoutCounters { get; init; }

    /// <summary>Documents that list attachments, which an import does not store.</summary>
    public long WithoutAttachments { get; init; }
}

/// <summary>
/// Sends the parts of an import. Retries for two minutes, such as during an election, at the next node if several were
/// named.
/// </summary>
/// <param name="client">The node.</param>
/// <param name="database">The database.</param>
/// <param name="time">The clock.</param>
/// <param name="tell">Called with a sentence if a request takes longer than ten seconds.</param>
internal sealed class ImportUpload(NodeClient client, string database, TimeProvider time, Action<string>? tell = null)
{
    // How long to retry. Also the limit of one attempt, because a node that loses its power during it never responds.
    private static readonly TimeSpan RequestTimeout = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan RetryDelay = TimeSpan.FromSeconds(1);

    // An election or the sync of a part takes less time, except on dying cards.
    private static readonly TimeSpan QuietWait = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Sends lines of JSON, and returns when all valid ones are durable. Every document has a complete id
    /// (<see cref="RecordId"/>), so that a part may be sent twice.
    /// </summary>
    /// <exception cref="ImportRefusedException">The node refuses the whole part.</exception>
    /// <exception cref="AdminException">The node does not answer for minutes.</exception>
    public Task<PartResult> SendAsync(ReadOnlyMemory<byte> lines) =>
        RetryAsync(async timeout =>
        {
            using var body = new ReadOnlyMemoryContent(lines);
            body.Headers.ContentType = new MediaTypeHeaderValue("application/x-ndjson");
            using var answer = await AskAsync(HttpMethod.Post, "import", body, timeout);
            return await WhyRetryAsync(answer, timeout) is { } reason
                ? (new PartResult(0, 0, []), reason)
                : Read(Encoding.UTF8.GetString(await ForeignAnswer.ReadAsync(answer.Content, client.Address, timeout)));
        });

    /// <summary>Retries until an attempt succeeds (its error is null), or for two minutes.</summary>
    private async Task<T> RetryAsync<T>(Func<CancellationToken, Task<(T Result, string? Error)>> attempt)
    {
        bool wasSilent = false;
        string? reason = null;
        void ReportSlow()
        {
            string why =
                Volatile.Read(ref reason)
                ?? $"The node at {client.Address} has not answered for {QuietWait.TotalSeconds:0} s.";
            tell?.Invoke(
                $"{why.TrimEnd()} The import keeps trying, for {RequestTimeout.TotalMinutes:0} minutes in all."
            );
        }

        await using var slowTimer = time.CreateTimer(
            _ => ReportSlow(),
            state: null,
            QuietWait,
            Timeout.InfiniteTimeSpan
        );
        long startedAt = time.GetTimestamp();
        while (true)
        {
            using var timeout = new CancellationTokenSource(RequestTimeout, time);
            try
            {
                var (result, error) = await attempt(timeout.Token);
                if (error is null)
                {
                    return result;
                }

                Volatile.Write(ref reason, error);
            }
            catch (AdminException unanswered)
            {
                reason = unanswered.Message;
            }
            catch (HttpRequestException)
            {
                reason = $"The connection to {client.Address} broke during its response.";
            }
            catch (OperationCanceledException) when (timeout.IsCancellationRequested)
            {
                reason = $"The node at {client.Address} did not answer within {RequestTimeout.TotalSeconds:0} s.";
                if (!wasSilent)
                {
                    // This attempt took all the time, so begin the time again once: a new connection may work.
                    wasSilent = true;
                    startedAt = time.GetTimestamp();
                }
            }

            if (time.GetElapsedTime(startedAt) > RequestTimeout)
            {
                throw new AdminException(reason, ExitCode.Failure);
            }

            await Task.Delay(RetryDelay, time);
            await client.SwitchNodeAsync();
        }
    }

    private async Task<HttpResponseMessage> AskAsync(
        HttpMethod method,
        string path,
        HttpContent? body,
        CancellationToken cancellation
    )
    {
        using var request = client.NewRequest(method, $"{NodeClient.PathOf(database)}/{path}", body);
        return await client.AskAsync(request, cancellation);
    }

    /// <summary>Returns why another attempt is needed; null if the request succeeded.</summary>
    /// <exception cref="ImportRefusedException">Another attempt would be refused as well.</exception>
    private async Task<string?> WhyRetryAsync(HttpResponseMessage answer, CancellationToken cancellation)
    {
        if (answer.IsSuccessStatusCode)
        {
            return null;
        }

        var refusal = await client.RefusalOfAsync(answer, cancellation);
        return MaySucceedLater(answer) ? refusal.Message : throw new ImportRefusedException(refusal);
    }

    // Whether a retry may succeed. A node that was removed from its cluster or is damaged refuses until the operator
    // acts; then only another of the named nodes can help.
    private bool MaySucceedLater(HttpResponseMessage answer) =>
        answer.StatusCode is HttpStatusCode.TooManyRequests or HttpStatusCode.GatewayTimeout
        || (
            answer.StatusCode == HttpStatusCode.ServiceUnavailable
            && !answer.Headers.Contains("Database-Missing")
            && (client.HasOthers || !answer.Headers.Contains(Readiness.TakesNoPart))
        );

    private static (PartResult Result, string? Error) Read(string answer)
    {
        var part = new PartResult(Stored: 0, Bad: 0, []);
        string? error = "The connection broke before the result was received.";
        var reasons = new List<(int, string)>();
        foreach (string line in answer.Split('\n', StringSplitOptions.RemoveEmptyEntries))
        {
            using var json = JsonDocument.Parse(line);
            if (json.RootElement.TryGetProperty("BadLine", out var number))
            {
                reasons.Add((number.GetInt32() - 1, json.RootElement.GetProperty("Reason").GetString()!));
            }
            else if (json.RootElement.TryGetProperty("Result", out var result))
            {
                part = new PartResult(
                    result.GetProperty("Stored").GetInt64(),
                    result.GetProperty("Bad").GetInt64(),
                    reasons
                )
                {
                    WithoutCounters = CountOf("WithoutCounters"),
                    WithoutAttachments = CountOf("WithoutAttachments"),
                };
                error = result.TryGetProperty("Error", out var reason) ? reason.GetString() : null;
                long CountOf(string name) => result.TryGetProperty(name, out var count) ? count.GetInt64() : 0;
            }
        }

        return (part, error);
    }
}

/// <summary>Thrown if the node refuses a request permanently.</summary>
internal sealed class ImportRefusedException(AdminException refusal) : Exception(refusal.Message)
{
    public AdminException Refusal { get; } = refusal;
}
