using System.Globalization;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Platform;
using Rookery.Queries.Language;
using Rookery.Terminal;

namespace Rookery.Data;

/// <summary>
/// Changes or deletes the documents that a query finds: counts them, asks for confirmation, starts the operation and
/// shows its progress.
/// </summary>
/// <param name="client">The node.</param>
/// <param name="database">The database's name, which the user types to confirm.</param>
/// <param name="asked">The query.</param>
/// <param name="isPatch">True to change the documents, false to delete them.</param>
internal sealed class QueryChange(NodeClient client, string database, AskedQuery asked, bool isPatch)
{
    private const int NamedDocuments = 3;
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(250);
    private static readonly TimeSpan StopTimeout = TimeSpan.FromSeconds(5);

    private readonly TaskCompletionSource<long> _operation = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _done;
    private long _total;

    private string DoneVerb => isPatch ? "changed" : "deleted";

    /// <summary>Runs the operation and reports its end. A signal ends the process, with a sentence.</summary>
    /// <param name="isAgreed">Whether the user has confirmed already.</param>
    /// <param name="maxPerSecond">The maximum of documents per second; null for no limit.</param>
    /// <param name="isJson">Whether to print the operation's last state as JSON.</param>
    /// <exception cref="AdminException">The query is not suitable, the user did not confirm, or the operation
    /// failed.</exception>
    public async Task<int> RunAsync(bool isAgreed, int? maxPerSecond, bool isJson)
    {
        using var beforeStart = new Interruption(progress: null, () => $"No document was {DoneVerb}.");
        string? consequence = await CountAsync();
        if (consequence is not null && !isAgreed)
        {
            Question.Confirm(consequence, database, "--yes");
        }

        beforeStart.Dispose();
        using var progress = new Progress("documents", TimeProvider.System);
        using var interruption = new Interruption(progress, Stop);
        var finalState = await ExecuteAsync(maxPerSecond, progress);
        interruption.Dispose();
        progress.Clear();
        if (isJson)
        {
            Output.Write(finalState);
        }

        return await ReportAsync(finalState);
    }

    /// <summary>Runs the operation and reports its end. The token stops it, with a sentence.</summary>
    /// <param name="confirm">Asks the user, who is told the consequence; null if the user has confirmed
    /// already.</param>
    /// <param name="cancellation">Stops the operation.</param>
    /// <exception cref="AdminException">The query is not suitable, the user did not confirm, or the operation
    /// failed or was stopped.</exception>
    public async Task<int> RunAsync(Action<string>? confirm, CancellationToken cancellation)
    {
        string? consequence = await CountAsync(cancellation);
        if (consequence is not null)
        {
            confirm?.Invoke(consequence);
        }

        using var progress = new Progress("documents", TimeProvider.System);
        try
        {
            var finalState = await ExecuteAsync(maxPerSecond: null, progress, cancellation);
            progress.Clear();
            return await ReportAsync(finalState);
        }
        catch (OperationCanceledException) when (cancellation.IsCancellationRequested)
        {
            progress.Clear();
            throw new AdminException($"Interrupted. {Stop()}", ExitCode.Interrupted);
        }
    }

    /// <summary>Starts the operation, and returns its last state.</summary>
    private async Task<JsonElement> ExecuteAsync(
        int? maxPerSecond,
        Progress progress,
        CancellationToken cancellation = default
    )
    {
        using var body = isPatch ? asked.WrappedBody() : asked.Body();
        string rateLimit = maxPerSecond is { } limit ? $"?maxOpsPerSec={limit}" : string.Empty;
        string path = $"{asked.Path}/queries{rateLimit}";

        // Without the token: if the answer to the start were lost, the operation could not be stopped.
        var started = await client.GetJsonAsync(
            isPatch ? HttpMethod.Patch : HttpMethod.Delete,
            path,
            body,
            cancellation: CancellationToken.None
        );
        long operation = started.GetProperty("OperationId").GetInt64();
        _operation.SetResult(operation);
        return await WatchAsync(operation, progress, cancellation);
    }

    private async Task<int> ReportAsync(JsonElement finalState)
    {
        string status = finalState.GetProperty("Status").GetString()!;
        long done = ProcessedOf(finalState);
        string verb = isPatch ? "Changed" : "Deleted";
        return status switch
        {
            "Completed" => await PrintAsync($"{verb} {Amount.Of(done, "document")}."),
            "Canceled" => throw new AdminException(
                $"The operation was stopped after {Amount.Of(done, "document")}, which stay {DoneVerb}.",
                ExitCode.Failure
            ),
            _ => throw new AdminException(
                finalState.GetProperty("Result").GetProperty("Message").GetString()!,
                ExitCode.Failure
            ),
        };
    }

    private static async Task<int> PrintAsync(string sentence)
    {
        await Console.Error.WriteLineAsync(sentence);
        return ExitCode.Success;
    }

    /// <summary>
    /// Counts the affected documents. Returns a sentence with their number and the ids of up to three; null if there is
    /// none.
    /// </summary>
    private async Task<string?> CountAsync(CancellationToken cancellation = default)
    {
        var query = TryParse();
        var counting = asked with
        {
            Text = query?.Update is { } update ? QueryWithout(update) : asked.Text,
            Waits = true,
            PageSize = NamedDocuments,
        };
        using var body = counting.Body();
        var answer = await client.GetJsonAsync(
            HttpMethod.Post,
            $"{asked.Path}/queries",
            body,
            cancellation: cancellation
        );
        long total = answer.GetProperty("TotalResults").GetInt64();
        long count = total;
        if (query is not null)
        {
            // The total ignores the query's offset and limit.
            long afterOffset = Math.Max(0, total - (NumberOf(query.Offset) ?? 0));
            count = Math.Min(afterOffset, NumberOf(query.Limit) ?? long.MaxValue);
        }

        string names = string.Join(
            ", ",
            answer.GetProperty("Results").EnumerateArray().Select(static result => VisibleText.OfLine(IdOf(result)))
        );
        _total = count;
        return count == 0
            ? null
            : $"{Amount.Of(count, "document")} of {database} will be {DoneVerb}: {names}"
                + (count > NamedDocuments ? ", …." : ".");
    }

    /// <summary>Returns the id of a result.</summary>
    /// <exception cref="AdminException">The result is a row, not a document.</exception>
    private static string IdOf(JsonElement result) =>
        result.TryGetProperty("@metadata"u8, out var metadata) && metadata.TryGetProperty("@id"u8, out var id)
            ? id.GetString()!
            : throw new AdminException(
                "This query finds groups or rows, not documents. Nothing was changed.",
                ExitCode.Configuration
            );

    /// <summary>Parses the query; null if it does not parse, because a newer node may understand it.</summary>
    private Query? TryParse()
    {
        try
        {
            var query = RqlParser.Parse(asked.Text);
            if ((query.Update is not null) == isPatch)
            {
                return query;
            }

            if (isPatch)
            {
                throw new AdminException(
                    "The query has no `update { … }`. Add it after the conditions, "
                        + "as in 'from Users where age > 5 update { this.grown = true }'.",
                    ExitCode.Configuration
                );
            }

            throw new AdminException(
                "`update` changes documents, but this command deletes them. Remove `update`, or use "
                    + "`rookery patch`.",
                ExitCode.Configuration
            );
        }
        catch (QueryException)
        {
            return null;
        }
    }

    /// <summary>Returns the query without its clause `update`, to count the documents.</summary>
    private string QueryWithout(ScriptText update)
    {
        // The script is between the braces of the clause.
        int begin = asked.Text.LastIndexOf("update", update.Position, StringComparison.OrdinalIgnoreCase);
        int closingBrace = update.Position + update.Text.Length;
        return $"{asked.Text.AsSpan(0, begin)} {asked.Text.AsSpan(closingBrace + 1)}";
    }

    // Returns the value of a whole number or of a parameter with one; null for anything else.
    private long? NumberOf(Operand? operand)
    {
        if (operand is NumberOperand number)
        {
            bool isWhole = long.TryParse(
                number.Text,
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out long written
            );
            return isWhole ? written : null;
        }

        if (operand is not ParameterOperand parameter)
        {
            return null;
        }

        var argument = asked
            .Parameters.FirstOrDefault(other => string.Equals(other.Name, parameter.Name, StringComparison.Ordinal))
            .Value;
        return argument.ValueKind == JsonValueKind.Number && argument.TryGetInt64(out long value) ? value : null;
    }

    /// <summary>Waits for the end of the operation, and returns its last state.</summary>
    private async Task<JsonElement> WatchAsync(long operation, Progress progress, CancellationToken cancellation)
    {
        while (true)
        {
            JsonElement state;
            try
            {
                state = await ReadStateAsync(operation, cancellation);
            }
            catch (AdminException failure)
            {
                throw new AdminException(
                    $"{failure.Message} {DescribeProgress("when it answered last")} {DescribeLookUp(operation)}",
                    ExitCode.Failure
                );
            }

            if (!state.GetProperty("Status").ValueEquals("InProgress"u8))
            {
                return state;
            }

            progress.TotalItems = _total;
            progress.Report(_done, bytes: 0);
            await Task.Delay(PollInterval, TimeProvider.System, cancellation);
        }
    }

    private async Task<JsonElement> ReadStateAsync(long operation, CancellationToken cancellation = default)
    {
        string path = $"{asked.Path}/operations/state?id={operation}";
        var state = await client.GetJsonAsync(HttpMethod.Get, path, cancellation: cancellation);
        _done = ProcessedOf(state);
        if (state.GetProperty("Progress").TryGetProperty("Total", out var total) && total.GetInt64() is > 0 and var all)
        {
            // Before the node has counted the documents itself, it reports 0.
            _total = all;
        }

        return state;
    }

    /// <summary>
    /// Stops the operation at the node and returns the message. The response to the start may not have arrived yet.
    /// </summary>
    private string Stop()
    {
        using var timeout = new CancellationTokenSource(StopTimeout, TimeProvider.System);
        try
        {
            _operation.Task.Wait(timeout.Token);
        }
        catch (OperationCanceledException)
        {
            return $"The node at {client.Address} has not confirmed the start of the operation. "
                + "It may have started and go on. "
                + "`rookery query` with the same conditions shows how many documents are left.";
        }

        long operation = _operation.Task.Result;
        try
        {
            using var answer = client
                .SendAsync(HttpMethod.Post, $"{asked.Path}/operations/kill?id={operation}", cancellation: timeout.Token)
                .GetAwaiter()
                .GetResult();
            ReadStateAsync(operation, timeout.Token).GetAwaiter().GetResult();
        }
        catch (Exception silent) when (silent is AdminException or OperationCanceledException)
        {
            return $"{DescribeProgress("when it answered last")} The node did not confirm the stop, "
                + $"so the operation may go on. {DescribeLookUp(operation)}";
        }

        return $"{DescribeProgress("by then")} The node stops after its current batch.";
    }

    private string DescribeProgress(string when) =>
        _done == 0
            ? $"None of {Amount.Of(_total, "document")} was {DoneVerb} {when}."
            : $"{Amount.Number(_done)} of {Amount.Of(_total, "document")} were {DoneVerb} {when}; "
                + $"they stay {DoneVerb}.";

    /// <summary>Describes how to look up or stop the operation.</summary>
    private string DescribeLookUp(long operation)
    {
        string operations = $"{new Uri(client.Address, $"{asked.Path}/operations")}";
        return $"It is operation {operation} of that node: GET {operations}/state?id={operation} shows its progress, "
            + $"POST {operations}/kill?id={operation} stops it.";
    }

    private static long ProcessedOf(JsonElement state) =>
        state.GetProperty("Progress") is { ValueKind: JsonValueKind.Object } progress
        && progress.TryGetProperty("Processed", out var done)
            ? done.GetInt64()
            : 0;
}
