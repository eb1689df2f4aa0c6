using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Server;

namespace Rookery.Transfer;

/// <summary>What became of one part of an import.</summary>
/// <param name="Stored">Documents stored.</param>
/// <param name="Bad">Records refused.</param>
/// <param name="Reasons">Some of those: which of the part, from 0, and why.</param>
internal sealed record PartResult(long Stored, long Bad, IReadOnlyList<(int Record, string Reason)> Reasons);

/// <summary>
/// Sends what an import holds, and sends it again while the cluster looks for another leader, through the next node
/// where several were named.
/// </summary>
/// <param name="client">The node.</param>
/// <param name="database">Where to.</param>
/// <param name="time">The clock.</param>
/// <param name="tell">Told, in a sentence, what it waits for when that takes seconds.</param>
internal sealed class ImportUpload(NodeClient client, string database, TimeProvider time, Action<string>? tell = null)
{
    // Also for one attempt: the node may have lost its power in the midst of it, and would never be heard of again.
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    // Elections end sooner, and so does the sync of a part on all but dying cards.
    private static readonly TimeSpan QuietWait = TimeSpan.FromSeconds(10);
    private const int IdentitiesAtOnce = 16;

    /// <summary>
    /// Sends lines of JSON; returns when all that can be is durable. Every document has an id, so that the same part
    /// may be sent twice.
    /// </summary>
    /// <exception cref="ImportRefusedException">The node refuses all of it.</exception>
    /// <exception cref="AdminException">The node does not answer for minutes.</exception>
    public Task<PartResult> SendAsync(ReadOnlyMemory<byte> lines) =>
        PersistAsync(async patience =>
        {
            using var body = new ReadOnlyMemoryContent(lines);
            body.Headers.ContentType = new MediaTypeHeaderValue("application/x-ndjson");
            using var answer = await AskAsync(HttpMethod.Post, "import", body, patience);
            return await PassingReasonOfAsync(answer, patience) is { } reason
                ? (new PartResult(0, 0, []), reason)
                : Read(
                    Encoding.UTF8.GetString(await ForeignAnswer.ReadAsync(answer.Content, client.Address, patience))
                );
        });

    /// <summary>
    /// Raises identities, several at once, because each waits for the disks of a majority. None is lowered, so that the
    /// same may be sent twice.
    /// </summary>
    /// <exception cref="ImportRefusedException">The node refuses one.</exception>
    /// <exception cref="AdminException">The node does not answer for minutes.</exception>
    public Task SeedAsync((string Name, long Value)[] identities)
    {
        bool[] isDone = new bool[identities.Length];
        return PersistAsync(async patience =>
        {
            string? passing = null;
            var several = new ParallelOptions
            {
                MaxDegreeOfParallelism = IdentitiesAtOnce,
                CancellationToken = patience,
            };
            await Parallel.ForAsync(
                0,
                identities.Length,
                several,
                async (at, ends) =>
                {
                    if (isDone[at] || passing is not null)
                    {
                        return;
                    }

                    string name = Uri.EscapeDataString(identities[at].Name);
                    string path = $"identity/seed?name={name}&value={identities[at].Value}";
                    using var answer = await AskAsync(HttpMethod.Post, path, body: null, ends);
                    string? reason = await PassingReasonOfAsync(answer, ends);
                    isDone[at] = reason is null;
                    passing ??= reason;
                }
            );
            return (0, passing);
        });
    }

    /// <summary>Defines an index.</summary>
    /// <exception cref="ImportRefusedException">The node refuses it.</exception>
    /// <exception cref="AdminException">The node does not answer for minutes.</exception>
    public Task DefineAsync(JsonElement index) =>
        PersistAsync(async patience =>
        {
            using var body = NodeClient.BodyOf(json =>
            {
                json.WriteStartArray("Indexes"u8);
                index.WriteTo(json);
                json.WriteEndArray();
            });
            using var answer = await AskAsync(HttpMethod.Put, "indexes", body, patience);
            return (0, await PassingReasonOfAsync(answer, patience));
        });

    /// <summary>Tries until there is no error, or for minutes.</summary>
    private async Task<T> PersistAsync<T>(Func<CancellationToken, Task<(T Result, string? Error)>> attempt)
    {
        bool wasSilent = false;
        string? reason = null;
        await using var telling = time.CreateTimer(
            _ =>
                tell?.Invoke(
                    (
                        Volatile.Read(ref reason)
                        ?? $"The node at {client.Address} has not answered for {QuietWait.TotalSeconds:0} s."
                    ).TrimEnd() + $" The import goes on trying, for {Patience.TotalMinutes:0} minutes in all."
                ),
            state: null,
            QuietWait,
            Timeout.InfiniteTimeSpan
        );
        for (long begun = time.GetTimestamp(); ; )
        {
            using var patience = new CancellationTokenSource(Patience, time);
            try
            {
                var (result, error) = await attempt(patience.Token);
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

    /// <summary>Why another attempt is needed; null where the node did it.</summary>
    /// <exception cref="ImportRefusedException">Another attempt is of no use.</exception>
    private async Task<string?> PassingReasonOfAsync(HttpResponseMessage answer, CancellationToken cancellation)
    {
        if (answer.IsSuccessStatusCode)
        {
            return null;
        }

        var refusal = await client.RefusalOfAsync(answer, cancellation);
        return MayPass(answer) ? refusal.Message : throw new ImportRefusedException(refusal);
    }

    // A node that takes no part, because it was removed or found something wrong with itself, does so until somebody
    // acts: only another one of those that were named can take it.
    private bool MayPass(HttpResponseMessage answer) =>
        answer.StatusCode is HttpStatusCode.TooManyRequests or HttpStatusCode.GatewayTimeout
        || (
            answer.StatusCode == HttpStatusCode.ServiceUnavailable
            && !answer.Headers.Contains("Database-Missing")
            && (client.HasOthers || !answer.Headers.Contains(Readiness.TakesNoPart))
        );

    private static (PartResult Result, string? Error) Read(string answer)
    {
        long stored = 0,
            bad = 0;
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
