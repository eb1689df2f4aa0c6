using System.CommandLine;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Data;

/// <summary>`rookery db`: lists, creates and deletes databases.</summary>
internal static class DatabaseCommand
{
    public static Command Create() =>
        new("db", "List, create and delete databases.") { MakeListCommand(), MakeCreateCommand(), MakeRemoveCommand() };

    private static Command MakeListCommand()
    {
        var address = new NodeAddress();
        var command = address.AddTo(
            new Command("ls", "List the databases that you may access, with their numbers of documents.")
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        var answer = await client.GetJsonAsync(HttpMethod.Get, "/databases");
                        if (address.IsJson(parsed))
                        {
                            Output.Write(answer);
                            return ExitCode.Success;
                        }

                        var table = TableOf(answer);
                        if (table.Rows == 0)
                        {
                            await Console.Error.WriteLineAsync(
                                "There is no database yet. Create one with `rookery db create NAME`."
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

    /// <summary>Returns the table of the databases in an answer of a node.</summary>
    public static Table TableOf(JsonElement answer)
    {
        var table = new Table("NAME", ">DOCUMENTS");
        foreach (var database in answer.GetProperty("Databases").EnumerateArray())
        {
            table.Add(
                database.GetProperty("Name").GetString()!,
                database.TryGetProperty("DocumentsCount", out var count) ? Amount.Number(count.GetInt64()) : "?"
            );
        }

        return table;
    }

    private static Command MakeCreateCommand()
    {
        var address = new NodeAddress();
        var name = new Argument<string>("NAME") { Description = "The database's name." };
        var command = address.AddTo(new Command("create", "Create a database, on all members.") { name });
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        var answer = await MakeAsync(client, parsed.GetValue(name)!);
                        if (address.IsJson(parsed))
                        {
                            Output.Write(answer);
                        }
                        else
                        {
                            await Console.Error.WriteLineAsync(
                                $"Created the database {answer.GetProperty("Name").GetString()}."
                            );
                        }

                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    /// <summary>Creates a database.</summary>
    public static async Task<JsonElement> MakeAsync(NodeClient client, string name)
    {
        using var body = NodeClient.BodyOf(json => json.WriteString("DatabaseName"u8, name));
        return await client.GetJsonAsync(HttpMethod.Put, $"/admin/databases?name={Uri.EscapeDataString(name)}", body);
    }

    /// <summary>Deletes a database with all its documents and indexes.</summary>
    public static async Task<JsonElement> DeleteAsync(NodeClient client, string name)
    {
        using var body = NodeClient.BodyOf(json =>
        {
            json.WriteStartArray("DatabaseNames"u8);
            json.WriteStringValue(name);
            json.WriteEndArray();
            json.WriteBoolean("HardDelete"u8, true);
        });
        return await client.GetJsonAsync(HttpMethod.Delete, "/admin/databases", body);
    }

    private static Command MakeRemoveCommand()
    {
        var address = new NodeAddress();
        var name = new Argument<string>("NAME") { Description = "The database's name." }.Offering(
            address,
            static (names, _, _) => names.DatabasesAsync()
        );
        var yes = new Option<string?>("--yes")
        {
            Description = "The name of the database again, to confirm without being asked.",
            HelpName = "NAME",
        };
        var command = address.AddTo(
            new Command("rm", "Delete a database with all its documents and indexes, on all members, permanently.")
            {
                name,
                yes,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        string database = parsed.GetValue(name)!;
                        var statistics = await client.GetJsonAsync(
                            HttpMethod.Get,
                            $"{NodeClient.PathOf(database)}/stats"
                        );
                        if (parsed.GetValue(yes) is not { } typed)
                        {
                            Question.Confirm(
                                $"This deletes {database} with "
                                    + $"{Amount.Of(statistics.GetProperty("CountOfDocuments").GetInt64(), "document")}"
                                    + $", on all members, permanently.",
                                database,
                                $"--yes {database}"
                            );
                        }
                        else if (!string.Equals(typed, database, StringComparison.Ordinal))
                        {
                            throw new AdminException(
                                $"--yes is {typed}, which is not the database's name, so nothing was changed.",
                                ExitCode.Configuration
                            );
                        }

                        var answer = await DeleteAsync(client, database);
                        if (address.IsJson(parsed))
                        {
                            Output.Write(answer);
                        }
                        else
                        {
                            await Console.Error.WriteLineAsync($"Deleted the database {database}.");
                        }

                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }
}
