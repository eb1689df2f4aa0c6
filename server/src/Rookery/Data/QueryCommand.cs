using System.CommandLine;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Terminal;

namespace Rookery.Data;

/// <summary>`rookery query`: prints the results of an RQL query as a table, as lines, or as the node's JSON.</summary>
internal static class QueryCommand
{
    public static Command Create()
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database(address);
        var query = new Argument<string>("RQL")
        {
            Description = "The query, such as 'from Users where age > $age'; - reads it from stdin.",
        }.OfferingRql(address, database);
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

                        if (
                            parsed.GetValue(explain)
                            && (
                                parsed.GetValue(table)
                                || parsed.GetValue(lines)
                                || parsed.GetValue(timings)
                                || parsed.GetValue(wait)
                            )
                        )
                        {
                            throw new AdminException(
                                "--explain does not run the query. Leave --table, --ndjson, --timings and --wait out.",
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
                            return await AnsweredQuery.ExplainAsync(client, asked, address.IsJson(parsed));
                        }

                        if (isTable || address.IsJson(parsed) || asked.WantsTimings)
                        {
                            var form =
                                address.IsJson(parsed) ? AnswerForm.Json
                                : isTable ? AnswerForm.Table
                                : AnswerForm.Lines;
                            return await AnsweredQuery.PrintAsync(client, asked, form);
                        }

                        return await AnsweredQuery.StreamAsync(client, asked);
                    }
                )
        );
        return command;
    }
}
