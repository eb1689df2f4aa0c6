using System.CommandLine;
using System.Text.Json;
using Rookery.Access;
using Rookery.Data;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Indexes;

/// <summary>`rookery index`: lists, shows, stores, deletes, rebuilds, pauses, disables and awaits indexes.</summary>
internal static class IndexCommand
{
    private const string DefinitionsPath = "/indexes";

    public static Command Create() =>
        new("index", "List and change the indexes of a database.")
        {
            List(),
            Show(),
            Put(),
            Remove(),
            Reset(),
            PauseOrResume("pause", "stop", "Pause building an index, or all, on this node."),
            PauseOrResume("resume", "start", "Resume building an index, or all, on this node."),
            Enable(),
            Disable(),
            Errors(),
            WaitCommand.Create(),
        };

    /// <summary>Creates the argument that names an index.</summary>
    private static Argument<string> Name(NodeAddress address, Argument<string> database) =>
        new Argument<string>("NAME") { Description = "The index." }.Offering(
            address,
            (names, parsed, _) => names.IndexesAsync(address.DatabaseOf(parsed.GetValue(database)!))
        );

    /// <summary>Creates the optional argument that names an index; without it all indexes are meant.</summary>
    public static Argument<string?> NameOrAll(NodeAddress address, Argument<string> database) =>
        new Argument<string?>("NAME")
        {
            Description = "The index [default: all].",
            Arity = ArgumentArity.ZeroOrOne,
        }.Offering(address, (names, parsed, _) => names.IndexesAsync(address.DatabaseOf(parsed.GetValue(database)!)));

    /// <summary>Returns a path with the index's name as a query parameter, if a name is given.</summary>
    public static string PathWithName(string path, string? name) =>
        name is null ? path : $"{path}?name={Uri.EscapeDataString(name)}";

    private static string DescribeMissing(string name) => $"There is no index '{VisibleText.OfLine(name)}'.";

    private static Command List()
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database(address);
        var command = address.AddTo(
            new Command("ls", "List the indexes with their progress on this node and their errors.") { database }
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        string path = NodeClient.PathOf(address.DatabaseOf(parsed.GetValue(database)!));
                        var statistics = await client.GetJsonAsync(HttpMethod.Get, $"{path}/indexes/stats");
                        if (address.IsJson(parsed))
                        {
                            Output.Write(statistics);
                            return ExitCode.Success;
                        }

                        var table = await ReadTableAsync(client, path, statistics);
                        if (table.Rows == 0)
                        {
                            await Console.Error.WriteLineAsync(
                                "There is no index. Queries create the indexes that they need; `rookery index put` "
                                    + "stores one of your own."
                            );
                            return ExitCode.Success;
                        }

                        Output.Write(table);
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    /// <summary>Returns the table of a database's indexes, with their progress on the node.</summary>
    /// <param name="client">The node.</param>
    /// <param name="path">The URL path of the database.</param>
    /// <param name="statistics">The node's statistics of the indexes.</param>
    /// <param name="cancellation">Cancels the request.</param>
    public static async Task<Table> ReadTableAsync(
        NodeClient client,
        string path,
        JsonElement statistics,
        CancellationToken cancellation = default
    )
    {
        var progress = (
            await client.GetJsonAsync(HttpMethod.Get, $"{path}/indexes/progress", cancellation: cancellation)
        )
            .GetProperty("Results")
            .EnumerateArray()
            .ToDictionary(static index => index.GetProperty("Name").GetString()!, StringComparer.Ordinal);
        var table = new Table("NAME", "TYPE", "STATE", ">ENTRIES", ">LEFT", ">ERRORS", "NOTE");
        foreach (var index in statistics.GetProperty("Results").EnumerateArray())
        {
            string name = index.GetProperty("Name").GetString()!;
            var indexProgress = progress.GetValueOrDefault(name);
            table.Add(
                name,
                index.GetProperty("Type").GetString()!,
                StateOf(index, indexProgress),
                Amount.Number(index.GetProperty("EntriesCount").GetInt64()),
                indexProgress.ValueKind == JsonValueKind.Object ? Amount.Number(LeftOf(indexProgress)) : "?",
                Amount.Number(index.GetProperty("ErrorsCount").GetInt64()),
                index.GetProperty("Trouble").GetString() ?? NoteOf(indexProgress)
            );
        }
        return table;
    }

    /// <summary>Returns the cell of the column STATE.</summary>
    /// <param name="index">The index in the statistics.</param>
    /// <param name="progress">The index in the response with the progress, from which the column LEFT comes. This
    /// response is newer than the statistics, so its staleness is shown.</param>
    internal static string StateOf(JsonElement index, JsonElement progress)
    {
        string state = index.GetProperty("State").GetString()!;
        string status = index.GetProperty("Status").GetString()!;
        if (state is not "Normal")
        {
            return state;
        }

        if (status is not "Running")
        {
            return status;
        }

        var newer = progress.ValueKind == JsonValueKind.Object ? progress : index;
        return newer.GetProperty("IsStale").GetBoolean() ? "behind" : "up to date";
    }

    /// <summary>Returns how many documents an index has yet to process.</summary>
    public static long LeftOf(JsonElement progress) =>
        // The node reports the same number for each collection: that of all collections together.
        progress
            .GetProperty("Collections")
            .EnumerateObject()
            .Select(static collection => collection.Value.GetProperty("NumberOfItemsToProcess").GetInt64())
            .DefaultIfEmpty(0)
            .Max();

    /// <summary>
    /// Returns the work that an index without an error still has to do; empty if there is none or if it is unknown.
    /// </summary>
    internal static string NoteOf(JsonElement progress)
    {
        if (progress.ValueKind != JsonValueKind.Object)
        {
            return string.Empty;
        }

        if (LeftOf(progress) == 0)
        {
            // Entries become visible when they are written, which is after their documents were read.
            return
                progress.GetProperty("IsStale").GetBoolean()
                && progress.GetProperty("IndexRunningStatus").GetString() is "Running"
                ? "its newest entries are not written yet"
                : string.Empty;
        }

        return progress.GetProperty("SecondsLeft") is { ValueKind: JsonValueKind.Number } seconds
            ? $"{Amount.Time(TimeSpan.FromSeconds(seconds.GetDouble()))} left"
            : string.Empty;
    }

    private static Command Show()
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database(address);
        var name = Name(address, database);
        var command = address.AddTo(
            new Command("show", "Print the definition of an index, in the form that `rookery index put` accepts.")
            {
                database,
                name,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        var answer = await client.GetJsonAsync(
                            HttpMethod.Get,
                            PathWithName(
                                NodeClient.PathOf(address.DatabaseOf(parsed.GetValue(database)!)) + DefinitionsPath,
                                parsed.GetValue(name)
                            ),
                            missing: DescribeMissing(parsed.GetValue(name)!)
                        );
                        if (address.IsJson(parsed))
                        {
                            Output.Write(answer);
                            return ExitCode.Success;
                        }

                        // Indented in a file as well, because people edit it and store it again.
                        Output.Visible.Write(Output.Bytes(answer.GetProperty("Results")[0], isIndented: true));
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    private static Command Put()
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database(address);
        var file = new Argument<string>("FILE")
        {
            Description = "A file with a definition in JSON, a list of them, or {\"Indexes\":[…]}; - is stdin.",
        };
        var command = address.AddTo(
            new Command(
                "put",
                "Store an index. An unchanged definition has no effect; a changed one is built while the old "
                    + "one answers."
            )
            {
                database,
                file,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        string name = parsed.GetValue(file)!;
                        using var body = NodeClient.BodyOf(DefinitionsIn(name, await InputFile.ReadAllAsync(name)));
                        var answer = await client.GetJsonAsync(
                            HttpMethod.Put,
                            NodeClient.PathOf(address.DatabaseOf(parsed.GetValue(database)!)) + DefinitionsPath,
                            body
                        );
                        if (address.IsJson(parsed))
                        {
                            Output.Write(answer);
                            return ExitCode.Success;
                        }

                        foreach (var stored in answer.GetProperty("Results").EnumerateArray())
                        {
                            Output.Line(VisibleText.OfLine(stored.GetProperty("Index").GetString()!));
                        }

                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    // Returns the writer of a request body with the definitions in a file.
    private static Action<Utf8JsonWriter> DefinitionsIn(string name, byte[] text)
    {
        try
        {
            using var json = JsonDocument.Parse(text);
            var root = json.RootElement;
            var definitions =
                root.ValueKind == JsonValueKind.Object && root.TryGetProperty("Indexes"u8, out var several)
                    ? several
                    : root;
            JsonElement[] each =
                definitions.ValueKind == JsonValueKind.Array
                    ? [.. definitions.EnumerateArray().Select(static definition => definition.Clone())]
                    : [definitions.Clone()];
            return body =>
            {
                body.WriteStartArray("Indexes"u8);
                Array.ForEach(each, body.WriteExact);
                body.WriteEndArray();
            };
        }
        catch (JsonException malformed)
        {
            throw new AdminException(
                $"{name} is not valid JSON in line {malformed.LineNumber + 1}.",
                ExitCode.Configuration
            );
        }
        catch (InvalidOperationException)
        {
            throw new AdminException(
                $"{name} is not valid JSON: the name of a member has half of a surrogate pair.",
                ExitCode.Configuration
            );
        }
    }

    private static Command Remove() =>
        Change("rm", "Delete an index, on all members.", HttpMethod.Delete, DefinitionsPath, "Deleted the index {0}.");

    private static Command Reset() =>
        Change(
            "reset",
            "Build an index from the beginning, on this node.",
            new HttpMethod("RESET"),
            DefinitionsPath,
            "{0} is built from the beginning."
        );

    private static Command Disable() =>
        Change(
            "disable",
            "Stop building an index on all members; it still answers with what it contains.",
            HttpMethod.Post,
            "/admin/indexes/disable",
            "{0} is disabled, on all members."
        );

    private static Command Enable() =>
        Change(
            "enable",
            "Resume building a disabled index on all members.",
            HttpMethod.Post,
            "/admin/indexes/enable",
            "{0} is enabled, on all members."
        );

    private static Command Change(string verb, string description, HttpMethod method, string path, string doneMessage)
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database(address);
        var name = Name(address, database);
        var command = address.AddTo(new Command(verb, description) { database, name });
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        await client.GetJsonAsync(
                            method,
                            PathWithName(
                                NodeClient.PathOf(address.DatabaseOf(parsed.GetValue(database)!)) + path,
                                parsed.GetValue(name)
                            ),
                            missing: DescribeMissing(parsed.GetValue(name)!)
                        );
                        await Console.Error.WriteLineAsync(
                            doneMessage.Replace("{0}", parsed.GetValue(name), StringComparison.Ordinal)
                        );
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    private static Command PauseOrResume(string verb, string route, string description)
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database(address);
        var name = NameOrAll(address, database);
        var command = address.AddTo(new Command(verb, description) { database, name });
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        string? index = parsed.GetValue(name);
                        await client.GetJsonAsync(
                            HttpMethod.Post,
                            PathWithName(
                                $"{NodeClient.PathOf(address.DatabaseOf(parsed.GetValue(database)!))}"
                                    + $"/admin/indexes/{route}",
                                index
                            )
                        );
                        string state = route is "stop" ? "is paused" : "is resumed";
                        await Console.Error.WriteLineAsync(
                            $"{index ?? "Indexing"} {state} on the node at {client.Address}."
                        );
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    private static Command Errors()
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database(address);
        var name = NameOrAll(address, database);
        var clear = new Option<bool>("--clear") { Description = "Delete the errors after printing them." };
        var command = address.AddTo(
            new Command("errors", "List the documents that could not be indexed, the last 500 of each index.")
            {
                database,
                name,
                clear,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        string path = PathWithName(
                            $"{NodeClient.PathOf(address.DatabaseOf(parsed.GetValue(database)!))}/indexes/errors",
                            parsed.GetValue(name)
                        );
                        var answer = await client.GetJsonAsync(HttpMethod.Get, path);
                        if (address.IsJson(parsed))
                        {
                            Output.Write(answer);
                        }
                        else
                        {
                            var table = new Table("INDEX", "TIME", "DOCUMENT", "ERROR");
                            foreach (var index in answer.GetProperty("Results").EnumerateArray())
                            {
                                foreach (var error in index.GetProperty("Errors").EnumerateArray())
                                {
                                    table.Add(
                                        index.GetProperty("Name").GetString()!,
                                        error.GetProperty("Timestamp").GetString()!,
                                        error.GetProperty("Document").GetString() ?? "-",
                                        error.GetProperty("Error").GetString() ?? "-"
                                    );
                                }
                            }

                            if (table.Rows == 0)
                            {
                                await Console.Error.WriteLineAsync("There are no errors.");
                            }
                            else
                            {
                                Output.Write(table);
                            }
                        }

                        if (parsed.GetValue(clear))
                        {
                            await client.GetJsonAsync(HttpMethod.Delete, path);
                        }

                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }
}
