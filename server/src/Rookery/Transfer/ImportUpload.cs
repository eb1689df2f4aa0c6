using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Rookery.Access;

namespace Rookery.Transfer;

/// <summary>What became of one part of an import.</summary>
/// <param name="Stored">Documents stored.</param>
/// <param name="Bad">Records refused.</param>
/// <param name="Reasons">Some of those: which of the part, from 0, and why.</param>
internal sealed record PartResult(long Stored, long Bad, IReadOnlyList<(int Record, string Reason)> Reasons);

/// <summary>Sends parts of an import, and sends one again while the cluster looks for another leader, through the next node where several were named.</summary>
/// <param name="client">The node.</param>
/// <param name="database">Where to.</param>
/// <param name="time">The clock.</param>
internal sealed class ImportUpload(NodeClient client, string database, TimeProvider time)
{
    // Also for one attempt: the node may have lost its power in the midst of it, and would never be heard of again.
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    /// <summary>Sends lines of JSON; returns when all that can be is durable. Every document has an id, so that the same part may be sent twice.</summary>
    /// <exception cref="AdminException">The node refuses all of it, or does not answer for minutes.</exception>
    public async Task<PartResult> SendAsync(ReadOnlyMemory<byte> lines)
    {
        bool wasSilent = false;
        for (long begun = time.GetTimestamp(); ;)
        {
            string reason;
            using var patience = new CancellationTokenSource(Patience, time);
            try
            {
                using var body = new ReadOnlyMemoryContent(lines);
                body.Headers.ContentType = new MediaTypeHeaderValue("application/x-ndjson");
                using var request = client.NewRequest(HttpMethod.Post, $"{NodeClient.PathOf(database)}/import", body);
                using var answer = await client.AskAsync(request, patience.Token);
                if (!answer.IsSuccessStatusCode && !MayPass(answer))
                {
                    throw new ImportRefusedException(await client.RefusalOfAsync(answer, patience.Token));
                }

                if (answer.IsSuccessStatusCode)
                {
                    var (result, error) = Read(await answer.Content.ReadAsStringAsync(patience.Token));
                    if (error is null)
                    {
                        return result;
                    }

                    reason = error;
                }
                else
                {
                    reason = (await client.RefusalOfAsync(answer, patience.Token)).Message;
                }
            }
            catch (AdminException unanswered)
            {
                reason = unanswered.Message;
            }
            catch (HttpRequestException)
            {
                reason = $"The answer of {client.Address} broke off.";
            }
            catch (OperationCanceledException) when (patience.IsCancellationRequested)
            {
                reason = $"The node at {client.Address} did not answer within {Patience.TotalSeconds:0} s.";
                if (!wasSilent)
                {
                    // Over another connection it may: nothing was tried again yet.
                    (wasSilent, begun) = (true, time.GetTimestamp());
                }
            }

            if (time.GetElapsedTime(begun) > Patience)
            {
                throw new AdminException(reason, ExitCode.Failure);
            }

            await Task.Delay(Pause, time);
            await client.LookElsewhereAsync();
        }
    }

    private static bool MayPass(HttpResponseMessage answer) =>
        answer.StatusCode is HttpStatusCode.TooManyRequests or HttpStatusCode.GatewayTimeout || (answer.StatusCode == HttpStatusCode.ServiceUnavailable && !answer.Headers.Contains("Database-Missing"));

    private static (PartResult Result, string? Error) Read(string answer)
    {
        long stored = 0, bad = 0;
        string? error = "The answer broke off before its result.";
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
                stored = result.GetProperty("Stored").GetInt64();
                bad = result.GetProperty("Bad").GetInt64();
                error = result.TryGetProperty("Error", out var wrong) ? wrong.GetString() : null;
            }
        }

        return (new PartResult(stored, bad, reasons), error);
    }
}

/// <summary>The node will not take it, however often it is asked.</summary>
internal sealed class ImportRefusedException(AdminException refusal) : Exception(refusal.Message)
{
    public AdminException Refusal { get; } = refusal;
}
