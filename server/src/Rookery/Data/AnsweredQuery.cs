using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Platform;
using Rookery.Terminal;
using Rookery.Transfer;

namespace Rookery.Data;

/// <summary>The form in which results are printed.</summary>
internal enum AnswerForm
{
    /// <summary>A table with a column for each member.</summary>
    Table,

    /// <summary>One result per line.</summary>
    Lines,

    /// <summary>Each result as indented JSON.</summary>
    Indented,

    /// <summary>The node's whole answer.</summary>
    Json,
}

/// <summary>Sends queries to a node and prints the answers.</summary>
internal static class AnsweredQuery
{
    private const int OutputBytes = 64 << 10;

    /// <summary>Prints which index the node would use for a query, and why.</summary>
    public static async Task<int> ExplainAsync(
        NodeClient client,
        AskedQuery asked,
        bool isJson,
        CancellationToken cancellation = default
    )
    {
        using var body = asked.Body();
        var answer = await client.GetJsonAsync(
            HttpMethod.Post,
            $"{asked.Path}/queries?debug=explain{GetCommand.LocalParameter(asked.IsLocal)}",
            body,
            cancellation: cancellation
        );
        if (isJson)
        {
            Output.Write(answer);
            return ExitCode.Success;
        }

        var reasons = answer.GetProperty("Results").EnumerateArray().ToArray();
        // A node of an older version marks no row as chosen, and names the chosen index in every row.
        bool isMarked = Array.Exists(reasons, static reason => reason.TryGetProperty("IsChosen", out _));
        var chosenReason = isMarked ? Array.Find(reasons, IsChosen) : reasons.FirstOrDefault();
        string? chosen =
            chosenReason.ValueKind == JsonValueKind.Object ? chosenReason.GetProperty("Index").GetString() : null;
        string used = chosen is null ? "a scan of the documents" : VisibleText.OfLine(chosen);
        Output.Line($"The query would use {used}.");
        foreach (var reason in reasons)
        {
            string? name = isMarked ? reason.GetProperty("Index").GetString() : null;
            string index = name is null ? string.Empty : $"{VisibleText.OfLine(name)}: ";
            string mark = IsChosen(reason) ? "*" : " ";
            string why = VisibleText.OfLine(reason.GetProperty("Reason").GetString() ?? "-");
            Output.Line($"{mark} {index}{why}");
        }

        return ExitCode.Success;
    }

    private static bool IsChosen(JsonElement reason) =>
        reason.TryGetProperty("IsChosen", out var chosen) && chosen.GetBoolean();

    /// <summary>Runs a query and prints its results, then a summary and the timings on stderr.</summary>
    public static async Task<int> PrintAsync(
        NodeClient client,
        AskedQuery asked,
        AnswerForm form,
        CancellationToken cancellation = default
    )
    {
        using var body = asked.Body();
        string consistency = asked.IsLocal ? "?consistency=local" : string.Empty;
        var answer = await client.GetJsonAsync(
            HttpMethod.Post,
            $"{asked.Path}/queries{consistency}",
            body,
            cancellation: cancellation
        );
        if (form == AnswerForm.Json)
        {
            Output.Write(answer);
            return ExitCode.Success;
        }

        JsonElement[] results = [.. answer.GetProperty("Results").EnumerateArray()];
        if (form != AnswerForm.Table)
        {
            foreach (var result in results)
            {
                Output.Visible.Write(Output.Bytes(result, isIndented: form == AnswerForm.Indented));
            }
        }
        else if (results.Length > 0)
        {
            Output.Write(ResultTable.Of(results));
        }

        await Console.Error.WriteLineAsync(Summary(answer, results.Length));
        if (answer.TryGetProperty("Timings", out var timings))
        {
            PrintTiming(timings, "all", 0);
        }

        return ExitCode.Success;
    }

    private static string Summary(JsonElement answer, int shown)
    {
        long total = answer.GetProperty("TotalResults").GetInt64();
        string stale = answer.GetProperty("IsStale").GetBoolean()
            ? " The index does not include all documents yet; --wait waits for it."
            : string.Empty;
        string results =
            total > shown ? $"{Amount.Number(shown)} of {Amount.Of(total, "result")}" : Amount.Of(shown, "result");

        // An answer by a scan has the name of the index that would answer the query, so that name is not shown.
        string index =
            answer.TryGetProperty("IsScan", out var isScan) && isScan.ValueKind == JsonValueKind.True
                ? "a scan of the documents"
                : VisibleText.OfLine(answer.GetProperty("IndexName").GetString() ?? "no index");
        long milliseconds = answer.GetProperty("DurationInMs").GetInt64();
        return $"{results} in {TimeOf(milliseconds)} by {index}.{stale}";
    }

    // The node measures whole milliseconds, so those of a short query have no fraction.
    private static string TimeOf(double milliseconds) =>
        milliseconds < 1000 ? $"{milliseconds:0} ms" : Amount.Microseconds(1000 * milliseconds);

    private static void PrintTiming(JsonElement timing, string name, int depth)
    {
        if (timing.ValueKind != JsonValueKind.Object)
        {
            return;
        }

        if (timing.TryGetProperty("DurationInMs", out var duration))
        {
            Console.Error.WriteLine($"{new string(' ', 2 * depth)}{name}: {TimeOf(duration.GetDouble())}");
        }

        if (timing.TryGetProperty("Timings", out var parts) && parts.ValueKind == JsonValueKind.Object)
        {
            foreach (var part in parts.EnumerateObject())
            {
                PrintTiming(part.Value, part.Name, depth + 1);
            }
        }
    }

    /// <summary>Prints the results of a query as lines while they arrive.</summary>
    public static async Task<int> StreamAsync(
        NodeClient client,
        AskedQuery asked,
        CancellationToken cancellation = default
    )
    {
        using var body = asked.Body();
        using var answer = await client.SendAsync(
            HttpMethod.Post,
            $"{asked.Path}/streams/queries?format=jsonl{GetCommand.LocalParameter(asked.IsLocal)}",
            body,
            cancellation: cancellation
        );
        ForeignAnswer.RequireStream(answer, client.Address);
        await using var stream = await client.OpenBodyAsync(answer, cancellation);
        await using var output = new BufferedStream(Output.Visible, OutputBytes);
        try
        {
            var lines = new NdjsonSource(new ByteSource(stream));
            while (lines.TryRead(out var line))
            {
                cancellation.ThrowIfCancellationRequested();
                WriteResult(line.Json.Span, output);
            }
        }
        catch (BadInputException broken)
        {
            throw new AdminException(
                $"The response of {client.Address} is incomplete: {broken.Message}",
                ExitCode.Failure
            );
        }

        return ExitCode.Success;
    }

    /// <summary>
    /// Writes the result of a line {"Item":RESULT}, and reports a stale index of the statistics {"Stats":…}.
    /// </summary>
    private static void WriteResult(ReadOnlySpan<byte> line, BufferedStream output)
    {
        if (line.StartsWith("{\"Item\":"u8) && line.EndsWith("}"u8))
        {
            output.Write(line["{\"Item\":".Length..^1]);
            output.WriteByte((byte)'\n');
        }
        else if (line.StartsWith("{\"Stats\":"u8) && line.IndexOf("\"IsStale\":true"u8) >= 0)
        {
            Console.Error.WriteLine("The index does not include all documents yet; --wait waits for it.");
        }
    }
}
