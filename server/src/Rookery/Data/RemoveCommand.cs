using System.CommandLine;
using System.Text.Json;
using Rookery.Access;
using Rookery.Documents.Ids;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Data;

/// <summary>`rookery rm`, also `rookery delete`: deletes documents by id, by id prefix, or by a query.</summary>
internal static class RemoveCommand
{
    private const int DocumentsAtOnce = 1000;
    private const string SeveralGiven = "Pass either ids, --prefix or --query, not several of them.";

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
            Description = "All documents whose ids begin with PREFIX.",
            HelpName = "PREFIX",
        };
        var query = new Option<string?>("--query")
        {
            Description =
                "All documents that this query finds, such as 'from Users where age < $age'; - reads it from stdin.",
            HelpName = "RQL",
        };
        var parameters = AskedQuery.ParameterOption();
        var perSecond = PatchCommand.PerSecondOption();
        var yes = new Option<bool>("--yes") { Description = "Delete several documents without asking." };
        var command = address.AddTo(
            new Command(
                "rm",
                "Delete documents. For more than one, first counts them and asks for the database's name as "
                    + "confirmation."
            )
            {
                database,
                ids,
                prefix,
                query,
                parameters,
                perSecond,
                yes,
            }
        );
        command.Aliases.Add("delete");
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        string name = address.DatabaseOf(parsed.GetValue(database)!);
                        string[]? parameterValues = parsed.GetValue(parameters);
                        if (parsed.GetValue(query) is { } text)
                        {
                            if (parsed.GetValue(prefix) is not null || parsed.GetValue(ids)!.Length > 0)
                            {
                                throw new AdminException(SeveralGiven, ExitCode.Configuration);
                            }

                            var change = new QueryChange(
                                client,
                                name,
                                await AskedQuery.ReadAsync(name, text, parameterValues),
                                isPatch: false
                            );
                            return await change.RunAsync(
                                parsed.GetValue(yes),
                                parsed.GetValue(perSecond),
                                address.IsJson(parsed)
                            );
                        }

                        if (parameterValues is { Length: > 0 } || parsed.GetValue(perSecond) is not null)
                        {
                            throw new AdminException(
                                "--param and --per-second belong to --query.",
                                ExitCode.Configuration
                            );
                        }

                        string[] wantedIds = [.. parsed.GetValue(ids)!.Distinct(IgnoredCase.OfNames)];
                        string? idPrefix = parsed.GetValue(prefix);
                        bool hasIds = wantedIds.Length > 0;
                        bool hasPrefix = idPrefix is not null;
                        if (hasIds && hasPrefix)
                        {
                            throw new AdminException(SeveralGiven, ExitCode.Configuration);
                        }

                        if (!hasIds && !hasPrefix)
                        {
                            throw new AdminException(
                                "Pass ids, --prefix, or --query. To delete all documents use " + "`rookery db rm`.",
                                ExitCode.Configuration
                            );
                        }

                        using var interruption = new Interruption(progress: null, () => "No document was deleted.");
                        var (foundIds, missing) = idPrefix is null
                            ? await FindAsync(client, name, wantedIds)
                            : (await FindAsync(client, name, idPrefix), Array.Empty<string>());
                        foreach (string id in missing)
                        {
                            await Console.Error.WriteLineAsync($"There is no document '{VisibleText.OfLine(id)}'.");
                        }

                        if (foundIds.Count > 0 && (idPrefix is not null || foundIds.Count > 1) && !parsed.GetValue(yes))
                        {
                            Question.Confirm(
                                $"{Amount.Of(foundIds.Count, "document")} of {name} will be deleted: "
                                    + $"{NameSome(foundIds)}.",
                                name,
                                "--yes"
                            );
                        }

                        interruption.Dispose();
                        await DeleteAsync(client, name, foundIds);
                        if (address.IsJson(parsed))
                        {
                            Output.Line($"{{\"Deleted\":{foundIds.Count},\"Missing\":{missing.Length}}}");
                        }
                        else
                        {
                            await Console.Error.WriteLineAsync($"Deleted {Amount.Of(foundIds.Count, "document")}.");
                        }

                        return missing.Length > 0 || foundIds.Count == 0 ? ExitCode.NotFound : ExitCode.Success;
                    }
                )
        );
        return command;
    }

    private static string NameSome(List<string> ids)
    {
        const int Shown = 3;
        string first = string.Join(", ", ids.Take(Shown).Select(VisibleText.OfLine));
        return ids.Count > Shown ? $"{first}, …, {VisibleText.OfLine(ids[^1])}" : first;
    }

    private static async Task<(List<string> Found, string[] Missing)> FindAsync(
        NodeClient client,
        string database,
        string[] ids
    )
    {
        var foundIds = new List<string>();
        foreach (string[] chunk in ids.Chunk(DocumentsAtOnce))
        {
            var answer = await GetCommand.ReadAsync(client, NodeClient.PathOf(database), chunk, isMetadataOnly: true);
            foundIds.AddRange(
                answer
                    .GetProperty("Results")
                    .EnumerateArray()
                    .Zip(chunk)
                    .Where(static pair => pair.First.ValueKind == JsonValueKind.Object)
                    .Select(static pair => pair.Second)
            );
        }

        return (foundIds, [.. ids.Except(foundIds, StringComparer.Ordinal)]);
    }

    private static async Task<List<string>> FindAsync(NodeClient client, string database, string prefix)
    {
        var foundIds = new List<string>();
        while (true)
        {
            string after = foundIds.Count == 0 ? string.Empty : $"&startAfter={Uri.EscapeDataString(foundIds[^1])}";
            string path =
                $"{NodeClient.PathOf(database)}"
                + $"/docs?metadataOnly=true&startsWith={Uri.EscapeDataString(prefix)}"
                + $"&pageSize={DocumentsAtOnce}{after}";
            var answer = await client.GetJsonAsync(HttpMethod.Get, path);
            int before = foundIds.Count;
            foundIds.AddRange(
                answer
                    .GetProperty("Results")
                    .EnumerateArray()
                    .Select(static document => document.GetProperty("@metadata").GetProperty("@id").GetString()!)
            );
            if (foundIds.Count - before < DocumentsAtOnce)
            {
                return foundIds;
            }
        }
    }

    private static async Task DeleteAsync(NodeClient client, string database, List<string> ids)
    {
        using var progress = new Progress("documents", TimeProvider.System);
        int deleted = 0;
        int requested = 0;
        using var interruption = new Interruption(progress, () => DescribeDeleted(deleted, requested, ids.Count));
        foreach (string[] chunk in ids.Chunk(DocumentsAtOnce))
        {
            requested += chunk.Length;
            using var body = NodeClient.BodyOf(json =>
            {
                json.WriteStartArray("Commands"u8);
                foreach (string id in chunk)
                {
                    json.WriteStartObject();
                    json.WriteString("Id"u8, id);
                    json.WriteNull("ChangeVector"u8);
                    json.WriteString("Type"u8, "DELETE"u8);
                    json.WriteEndObject();
                }

                json.WriteEndArray();
            });
            try
            {
                await client.GetJsonAsync(HttpMethod.Post, $"{NodeClient.PathOf(database)}/bulk_docs", body);
            }
            catch (AdminException failure)
            {
                throw new AdminException(
                    $"{failure.Message} {DescribeDeleted(deleted, requested, ids.Count)}",
                    failure.Code
                );
            }

            deleted += chunk.Length;
            progress.Report(deleted, bytes: 0);
        }
    }

    /// <summary>Describes the state after an interruption.</summary>
    /// <param name="deleted">Documents whose deletion the node has confirmed.</param>
    /// <param name="requested">Documents whose deletion was requested.</param>
    /// <param name="all">Documents to delete in all.</param>
    private static string DescribeDeleted(int deleted, int requested, int all)
    {
        string unconfirmed =
            requested == deleted ? string.Empty
            : deleted == 0 && requested == all ? " The node has not confirmed whether it deleted all or none of them."
            : $" The node has not confirmed whether it deleted {Amount.Number(requested - deleted)} more.";
        return $"{Amount.Number(deleted)} of {Amount.Of(all, "document")} were deleted.{unconfirmed} "
            + "Run the same command again to delete the rest.";
    }
}
