using System.CommandLine;
using System.Net;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Terminal;

namespace Rookery.Data;

/// <summary>`rookery get`: prints documents by id or by id prefix.</summary>
internal static class GetCommand
{
    // Ids in one request: bounds the memory of a response at the node and here.
    private const int IdsAtOnce = 256;

    public static Command Create()
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database(address);
        var ids = new Argument<string[]>("ID")
        {
            Description = "The documents' ids.",
            Arity = ArgumentArity.ZeroOrMore,
        }.OfferingDocuments(address, database);
        var prefix = new Option<string?>("--prefix")
        {
            Description = "All documents whose ids begin with PREFIX; `rookery export` prints all documents.",
            HelpName = "PREFIX",
        };
        var command = address.AddToRead(
            new Command("get", "Print documents, one per line; a single one on a terminal is indented.")
            {
                database,
                ids,
                prefix,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    client =>
                    {
                        string path = NodeClient.PathOf(address.DatabaseOf(parsed.GetValue(database)!));
                        bool isLocal = address.IsLocal(parsed);
                        string[] wantedIds = parsed.GetValue(ids)!;
                        string? idPrefix = parsed.GetValue(prefix);
                        bool hasIds = wantedIds.Length > 0;
                        bool hasPrefix = idPrefix is not null;
                        if (hasIds == hasPrefix)
                        {
                            throw new AdminException("Pass either ids or --prefix.", ExitCode.Configuration);
                        }

                        if (idPrefix is not null)
                        {
                            return PrintPrefixAsync(client, path, idPrefix, isLocal);
                        }

                        if (address.IsJson(parsed))
                        {
                            return PrintAnswerAsync(client, path, wantedIds, isLocal);
                        }

                        return PrintAsync(client, path, wantedIds, isLocal);
                    }
                )
        );
        return command;
    }

    /// <summary>Reads documents by id. The response has them in the order of the ids, null for a missing one.</summary>
    public static async Task<JsonElement> ReadAsync(
        NodeClient client,
        string path,
        IReadOnlyList<string> ids,
        bool isMetadataOnly = false,
        bool isLocal = false
    )
    {
        using var body = NodeClient.BodyOf(json =>
        {
            json.WriteStartArray("Ids"u8);
            foreach (string id in ids)
            {
                json.WriteStringValue(id);
            }

            json.WriteEndArray();
        });
        string metadataOnly = isMetadataOnly ? "true" : "false";
        using var request = client.NewRequest(
            HttpMethod.Post,
            $"{path}/docs?metadataOnly={metadataOnly}{LocalParameter(isLocal)}",
            body
        );
        using var answer = await client.AskAsync(request);

        // For a single missing id the node responds with 404 and no body.
        if (answer.IsSuccessStatusCode)
        {
            return await client.ReadJsonAsync(answer);
        }

        if (answer.StatusCode == HttpStatusCode.NotFound && ids.Count == 1)
        {
            return MissingDocument();
        }

        throw await client.RefusalOfAsync(answer);
    }

    /// <summary>
    /// Returns the query parameter that makes a read use the node's own state; empty if it should not.
    /// </summary>
    public static string LocalParameter(bool isLocal) => isLocal ? "&consistency=local" : string.Empty;

    private static JsonElement MissingDocument()
    {
        using var nothing = JsonDocument.Parse("""{"Results":[null],"Includes":{}}""");
        return nothing.RootElement.Clone();
    }

    private static async Task<int> PrintAnswerAsync(NodeClient client, string path, string[] ids, bool isLocal)
    {
        var answer = await ReadAsync(client, path, ids, isLocal: isLocal);
        Output.Write(answer);
        return answer
            .GetProperty("Results")
            .EnumerateArray()
            .Any(static document => document.ValueKind == JsonValueKind.Null)
            ? ExitCode.NotFound
            : ExitCode.Success;
    }

    private static async Task<int> PrintAsync(NodeClient client, string path, string[] ids, bool isLocal)
    {
        int missing = 0;
        foreach (string[] chunk in ids.Chunk(IdsAtOnce))
        {
            var answer = await ReadAsync(client, path, chunk, isLocal: isLocal);
            int index = 0;
            foreach (var document in answer.GetProperty("Results").EnumerateArray())
            {
                if (document.ValueKind == JsonValueKind.Null)
                {
                    await Console.Error.WriteLineAsync($"There is no document '{VisibleText.OfLine(chunk[index])}'.");
                    missing++;
                }
                else
                {
                    Output.Visible.Write(Output.Bytes(document, isIndented: ids.Length == 1 && Tty.IsOutput));
                }

                index++;
            }
        }

        return missing == 0 ? ExitCode.Success : ExitCode.NotFound;
    }

    private static async Task<int> PrintPrefixAsync(NodeClient client, string path, string prefix, bool isLocal)
    {
        using var answer = await client.SendAsync(
            HttpMethod.Get,
            $"{path}/streams/docs?format=jsonl&startsWith={Uri.EscapeDataString(prefix)}{LocalParameter(isLocal)}"
        );
        ForeignAnswer.RequireStream(answer, client.Address);
        await Streamed.CopyAsync(answer, client.Address, Output.Visible);
        return ExitCode.Success;
    }
}
