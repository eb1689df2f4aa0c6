using System.CommandLine;
using System.Net.Http.Headers;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Terminal;

namespace Rookery.Data;

/// <summary>`rookery put`: stores one document.</summary>
internal static class PutCommand
{
    public static Command Create()
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database(address);
        var id = new Argument<string>("ID")
        {
            Description =
                "The document's id. If it ends in /, the node appends a number; if it ends in |, the next value of "
                + "that identity.",
        }.OfferingDocuments(address, database);
        var file = new Argument<string?>("FILE")
        {
            Description = "A file with the document in JSON; without one, or with -, stdin.",
            Arity = ArgumentArity.ZeroOrOne,
        };
        var ifMatch = new Option<string?>("--if-match")
        {
            Description = "Store it only if the document still has this change vector.",
            HelpName = "CHANGE-VECTOR",
        };
        var create = new Option<bool>("--create") { Description = "Store it only if the document does not exist." };
        var command = address.AddTo(
            new Command("put", "Store a document, and print its id and its new change vector.")
            {
                database,
                id,
                file,
                ifMatch,
                create,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        string? expected = parsed.GetValue(ifMatch);
                        if (parsed.GetValue(create) && expected is not null)
                        {
                            throw new AdminException(
                                "--create requires that the document does not exist, --if-match that it exists. Give "
                                    + "one of them.",
                                ExitCode.Configuration
                            );
                        }

                        string path =
                            $"{NodeClient.PathOf(address.DatabaseOf(parsed.GetValue(database)!))}"
                            + $"/docs?id={Uri.EscapeDataString(parsed.GetValue(id)!)}";
                        using var body = new ByteArrayContent(
                            await InputFile.ReadAllAsync(parsed.GetValue(file) ?? "-")
                        );
                        body.Headers.ContentType = new MediaTypeHeaderValue("application/json");
                        (string, string)? condition =
                            parsed.GetValue(create) ? ("If-Match", "\"\"")
                            : expected is not null ? ("If-Match", $"\"{expected}\"")
                            : null;
                        using var answer = await client.SendAsync(HttpMethod.Put, path, body, condition);
                        var stored = await client.ReadJsonAsync(answer);
                        if (address.IsJson(parsed))
                        {
                            Output.Write(stored);
                        }
                        else
                        {
                            Output.Line(
                                $"{stored.GetProperty("Id").GetString()} "
                                    + $"{stored.GetProperty("ChangeVector").GetString()}"
                            );
                        }

                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }
}
