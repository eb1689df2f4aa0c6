using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Platform;
using Rookery.Terminal;
using Rookery.Transfer;

namespace Rookery.Data;

/// <summary>`rookery query`: prints the results of an RQL query as a table, as lines, or as the node's JSON.</summary>
internal static class QueryCommand
{
    private const int OutputBytes = 64 << 10;

    public static Command Create()
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database();
        var query = new Argument<string>("RQL")
        {
            Description = "The query, such as 'from Users where age > $age'; - reads it from stdin.",
        };
        var parameters = AskedQuery.ParameterOption();
        var table = new Option<bool>("--table") { Description = "As a table [default on a terminal]." };
        var lines = new Option<bool>("--ndjson")
        {
            Description = "One result per line, any number, as they are found [default otherwise].",
        };
        var explain = new Option<bool>("--explain")
        {
            Description = "Show which index would be used, and why, without running the query.",
        };
        var timings = new Option<bool>("--timings") { Description = "Show how long the parts of the query took." };
        var wait = new Option<bool>("--wait") { Description = "Wait until the index contains all earlier writes." };
        var command = address.AddToRead(
            new Command("query", "Run a query in RQL.")
            {
                database,
                query,
                parameters,
                table,
                lines,
                explain,
                timings,
                wait,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        int forms = new[]
                        {
                            parsed.GetValue(table),
                            parsed.GetValue(lines),
                            address.IsJson(parsed),
                        }.Count(static form => form);
                        if (forms > 1)
                        {
                            throw new AdminException(
                                "--table, --ndjson and --json exclude each other. Give one of them.",
                                ExitCode.Configuration
                            );
                        }

                        string name = address.DatabaseOf(parsed.GetValue(database)!);
                        var asked = (
                            await AskedQuery.ReadAsync(name, parsed.GetValue(query)!, parsed.GetValue(parameters))
                        ) with
                        {
                            Waits = parsed.GetValue(wait),
                            WantsTimings = parsed.GetValue(timings),
                            IsLocal = address.IsLocal(parsed),
                        };
                        bool isTable = parsed.GetValue(table) || (forms == 0 && Tty.IsOutput);
                        if (parsed.GetValue(explain))
                        {
                            return await ExplainAsync(client, asked, address.IsJson(parsed));
                        }

                        if (isTable || address.IsJson(parsed) || asked.WantsTimings)
                        {
                            return await AnswerAsync(client, asked, isTable, address.IsJson(parsed));
                        }

                        return await StreamAsync(client, asked);
                    }
                )
        );
        return command;
    }

    private static async Task<int> ExplainAsync(NodeClient client, AskedQuery asked, bool isJson)
    {
        using var body = asked.Body();
        var answer = await client.GetJsonAsync(
            HttpMethod.Post,
            $"{asked.Path}/queries?debug=explain{GetCommand.LocalParameter(asked.IsLocal)}",
            body
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

    private static async Task<int> AnswerAsync(NodeClient client, AskedQuery asked, bool isTable, bool isJson)
    {
        using var body = asked.Body();
        string consistency = asked.IsLocal ? "?consistency=local" : string.Empty;
        var answer = await client.GetJsonAsync(HttpMethod.Post, $"{asked.Path}/queries{consistency}", body);
        if (isJson)
        {
            Output.Write(answer);
            return ExitCode.Success;
        }

        JsonElement[] results = [.. answer.GetProperty("Results").EnumerateArray()];
        if (isTable && results.Length > 0)
        {
            Output.Write(ResultTable.Of(results));
        }
        else if (!isTable)
        {
            foreach (var result in results)
            {
                Output.Visible.Write(Output.Bytes(result, isIndented: false));
            }
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
        return $"{results} in {answer.GetProperty("DurationInMs").GetInt64()} ms by {index}.{stale}";
    }

    private static void PrintTiming(JsonElement timing, string name, int depth)
    {
        if (timing.ValueKind != JsonValueKind.Object)
        {
            return;
        }

        if (timing.TryGetProperty("DurationInMs", out var duration))
        {
            Console.Error.WriteLine(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{new string(' ', 2 * depth)}{name}: {duration.GetDouble():0.###} ms"
                )
            );
        }

        if (timing.TryGetProperty("Timings", out var parts) && parts.ValueKind == JsonValueKind.Object)
        {
            foreach (var part in parts.EnumerateObject())
            {
                PrintTiming(part.Value, part.Name, depth + 1);
            }
        }
    }

    private static async Task<int> StreamAsync(NodeClient client, AskedQuery asked)
    {
        using var body = asked.Body();
        using var answer = await client.SendAsync(
            HttpMethod.Post,
            $"{asked.Path}/streams/queries?format=jsonl{GetCommand.LocalParameter(asked.IsLocal)}",
            body
        );
        ForeignAnswer.RequireStream(answer, client.Address);
        await using var stream = await client.OpenBodyAsync(answer);
        await using var output = new BufferedStream(Output.Visible, OutputBytes);
        try
        {
            var lines = new NdjsonSource(new ByteSource(stream));
            while (lines.TryRead(out var line))
            {
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
