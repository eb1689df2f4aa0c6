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
        var database = DocumentArguments.Database();
        var id = new Argument<string>("ID")
        {
            Description =
                "The document's id. One that ends in / gets a number from the node, one that ends in | the "
                + "next of that identity.",
        };
        var file = new Argument<string>("FILE")
        {
            Description = "A file with the document in JSON; - is stdin.",
            DefaultValueFactory = static _ => "-",
        };
        var ifMatch = new Option<string?>("--if-match")
        {
            Description = "Store it only if the document has this change vector yet.",
            HelpName = "CHANGE-VECTOR",
        };
        var create = new Option<bool>("--create") { Description = "Store it only if there is no such document." };
        var command = address.AddTo(
            new Command("put", "Store a document, and print the id and the change vector that it has now.")
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
                                "--create wants that there is no document, --if-match that there is one; give "
                                    + "one of them.",
                                ExitCode.Configuration
                            );
                        }

                        string path =
                            $"{NodeClient.PathOf(address.DatabaseOf(parsed.GetValue(database)!))}"
                            + $"/docs?id={Uri.EscapeDataString(parsed.GetValue(id)!)}";
                        using var body = new ByteArrayContent(await InputFile.ReadAllAsync(parsed.GetValue(file)!));
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
