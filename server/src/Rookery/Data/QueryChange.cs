using System.Globalization;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Platform;
using Rookery.Queries.Language;
using Rookery.Terminal;

namespace Rookery.Data;

/// <summary>Changes or deletes what a query finds: counts first, asks, and then shows how far the node is.</summary>
/// <param name="client">The node.</param>
/// <param name="database">The database's name, which is typed to agree.</param>
/// <param name="asked">The query.</param>
/// <param name="isPatch">Whether it changes; otherwise it deletes.</param>
internal sealed class QueryChange(NodeClient client, string database, AskedQuery asked, bool isPatch)
{
    private const int Named = 3;
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(250);
    private static readonly TimeSpan StopPatience = TimeSpan.FromSeconds(5);

    private readonly TaskCompletionSource<long> _operation = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _done;
    private long _total;

    private string Done => isPatch ? "changed" : "deleted";

    /// <summary>Does it all, and says how it ended.</summary>
    /// <param name="isAgreed">Whether nobody is asked.</param>
    /// <param name="mostPerSecond">Documents a second, at most; null for as many as the node can.</param>
    /// <param name="isJson">Whether the node's last word is printed.</param>
    /// <exception cref="AdminException">The query cannot be meant, it was not agreed to, or it ended on its
    /// way.</exception>
    public async Task<int> RunAsync(bool isAgreed, int? mostPerSecond, bool isJson)
    {
        var (count, some) = await CountAsync();
        if (count > 0 && !isAgreed)
        {
            Question.Confirm(
                $"{Amount.Of(count, "document")} of {database} {(count == 1 ? "is" : "are")} to be {Done}: {some}.",
                database,
                "--yes"
            );
        }

        using var body = isPatch ? asked.WrappedBody() : asked.Body();
        string path = $"{asked.Path}/queries{(mostPerSecond is { } most ? $"?maxOpsPerSec={most}" : string.Empty)}";
        _total = count;
        using var progress = new Progress("documents", TimeProvider.System);
        using var interruption = new Interruption(progress, Stop);
        var begun = await client.GetJsonAsync(isPatch ? HttpMethod.Patch : HttpMethod.Delete, path, body);
        long operation = begun.GetProperty("OperationId").GetInt64();
        _operation.SetResult(operation);
        var ended = await WatchAsync(operation, progress);
        interruption.Dispose();
        progress.Clear();
        string status = ended.GetProperty("Status").GetString()!;
        if (isJson)
        {
            Output.Write(ended);
        }

        long done = ProcessedOf(ended);
        return status switch
        {
            "Completed" => await SayAsync($"{(isPatch ? "Changed" : "Deleted")} {Amount.Of(done, "document")}."),
            "Canceled" => throw new AdminException(
                $"Somebody stopped it behind {Amount.Of(done, "document")}, which are {Done} and stay so.",
                ExitCode.Failure
            ),
            _ => throw new AdminException(
                ended.GetProperty("Result").GetProperty("Message").GetString()!,
                ExitCode.Failure
            ),
        };
    }

    private static async Task<int> SayAsync(string sentence)
    {
        await Console.Error.WriteLineAsync(sentence);
        return ExitCode.Success;
    }

    /// <summary>How many documents it will be about, and the names of some.</summary>
    private async Task<(long Count, string Some)> CountAsync()
    {
        var query = TryParse();
        using var body = (
            asked with
            {
                Text = query?.Update is { } update ? Without(update) : asked.Text,
                Waits = true,
                PageSize = Named,
            }
        ).Body();
        var answer = await client.GetJsonAsync(HttpMethod.Post, $"{asked.Path}/queries", body);
        long total = answer.GetProperty("TotalResults").GetInt64();
        long count = query is null
            ? total
            : Math.Min(Math.Max(0, total - (NumberOf(query.Offset) ?? 0)), NumberOf(query.Limit) ?? long.MaxValue);
        string names = string.Join(
            ", ",
            answer.GetProperty("Results").EnumerateArray().Select(static found => VisibleText.OfLine(IdOf(found)))
        );
        return (count, count > Named ? $"{names}, …" : names);
    }

    /// <summary>The id of what was found.</summary>
    /// <exception cref="AdminException">It is a row, not a document.</exception>
    private static string IdOf(JsonElement found) =>
        found.TryGetProperty("@metadata"u8, out var metadata) && metadata.TryGetProperty("@id"u8, out var id)
            ? id.GetString()!
            : throw new AdminException(
                "What this query finds are groups or rows, not documents. Nothing was changed.",
                ExitCode.Configuration
            );

    /// <summary>The query; null for one that only a newer node may understand: it judges what it is sent.</summary>
    private Query? TryParse()
    {
        try
        {
            var query = RqlParser.Parse(asked.Text);
            return (query.Update is not null) == isPatch ? query
                : isPatch
                    ? throw new AdminException(
                        "The query says not what to change: `update { … }` must stand behind its conditions, "
                            + "as in 'from Users where age > 5 update { this.grown = true }'.",
                        ExitCode.Configuration
                    )
                : throw new AdminException(
                    "`update` changes documents, and here they would be deleted: take it away, or use `rookery patch`.",
                    ExitCode.Configuration
                );
        }
        catch (QueryException)
        {
            return null;
        }
    }

    /// <summary>The query without its clause `update`, which can be asked.</summary>
    private string Without(ScriptText update)
    {
        int clause = asked.Text.LastIndexOf("update", update.Position, StringComparison.OrdinalIgnoreCase);
        return $"{asked.Text.AsSpan(0, clause)} {asked.Text.AsSpan(update.Position + update.Text.Length + 1)}";
    }

    private long? NumberOf(Operand? operand) =>
        operand switch
        {
            NumberOperand number
                when long.TryParse(number.Text, NumberStyles.None, CultureInfo.InvariantCulture, out long value) =>
                value,
            ParameterOperand parameter
                when asked
                    .Parameters.FirstOrDefault(one => string.Equals(one.Name, parameter.Name, StringComparison.Ordinal))
                    .Value
                    is { ValueKind: JsonValueKind.Number } given
                    && given.TryGetInt64(out long value) => value,
            _ => null,
        };

    /// <summary>Waits until the node has ended it, and gives its last state.</summary>
    private async Task<JsonElement> WatchAsync(long operation, Progress progress)
    {
        while (true)
        {
            JsonElement state;
            try
            {
                state = await LookAsync(operation);
            }
            catch (AdminException lost)
            {
                throw new AdminException(
                    $"{lost.Message} {Figures("when it answered last")} {HowToLook(operation)}",
                    ExitCode.Failure
                );
            }

            if (!state.GetProperty("Status").ValueEquals("InProgress"u8))
            {
                return state;
            }

            progress.TotalItems = _total;
            progress.Report(_done, 0);
            await Task.Delay(Pause, TimeProvider.System);
        }
    }

    private async Task<JsonElement> LookAsync(long operation, CancellationToken cancellation = default)
    {
        string path = $"{asked.Path}/operations/state?id={operation}";
        var state = await client.GetJsonAsync(HttpMethod.Get, path, cancellation: cancellation);
        _done = ProcessedOf(state);
        _total = state.GetProperty("Progress").TryGetProperty("Total", out var total) ? total.GetInt64() : _total;
        return state;
    }

    /// <summary>Has the node stop, whose answer to the beginning may be on its way still.</summary>
    private string Stop()
    {
        using var patience = new CancellationTokenSource(StopPatience, TimeProvider.System);
        try
        {
            _operation.Task.Wait(patience.Token);
        }
        catch (OperationCanceledException)
        {
            return $"The node at {client.Address} was asked to begin and did not answer yet. "
                + "It may have begun, and goes on then. "
                + "`rookery query` with the conditions says how many documents are left.";
        }

        long operation = _operation.Task.Result;
        try
        {
            using var answer = client
                .SendAsync(
                    HttpMethod.Post,
                    $"{asked.Path}/operations/kill?id={operation}",
                    cancellation: patience.Token
                )
                .GetAwaiter()
                .GetResult();
            LookAsync(operation, patience.Token).GetAwaiter().GetResult();
        }
        catch (Exception silent) when (silent is AdminException or OperationCanceledException)
        {
            return $"{Figures("when it answered last")} The node did not take the word to stop, "
                + $"so it may go on with the others. {HowToLook(operation)}";
        }

        return $"{Figures("by then")} The node stops behind the batch that it is at.";
    }

    private string Figures(string when) =>
        $"{Amount.Number(_done)} of {Amount.Of(_total, "document")} were {Done} {when} and stay so.";

    /// <summary>How somebody finds the operation again, or ends it.</summary>
    private string HowToLook(long operation)
    {
        string operations = $"{new Uri(client.Address, $"{asked.Path}/operations")}";
        return $"It is operation {operation} of that node: GET {operations}/state?id={operation} says how far it is, "
            + $"POST {operations}/kill?id={operation} stops it.";
    }

    private static long ProcessedOf(JsonElement state) =>
        state.GetProperty("Progress") is { ValueKind: JsonValueKind.Object } progress
        && progress.TryGetProperty("Processed", out var done)
            ? done.GetInt64()
            : 0;
}
