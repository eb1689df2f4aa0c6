using System.CommandLine;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Rookery.Cluster.Recovery;
using Rookery.Documents.Nodes;
using Rookery.Documents.Recovery;
using Rookery.Hosting;
using Rookery.Hosting.Machine;
using Rookery.Platform;
using Rookery.Server.Configuration;

namespace Rookery.Clusters;

/// <summary>
/// `rookery cluster recover`: makes a remaining member the only member of a new cluster, after a majority was lost for
/// good.
/// </summary>
internal static class RecoverCommand
{
    public static Command Create()
    {
        var data = new Option<string>("--data")
        {
            Description = "Data directory of the stopped member.",
            HelpName = "DIR",
            Required = true,
        };
        var journal = StoppedNode.JournalOption();
        var with = new Option<string[]>("--with")
        {
            Description =
                "Data directory of another stopped member to compare with, such as on its card in this machine; may "
                + "be repeated.",
            HelpName = "DIR",
        };
        var yes = new Option<string?>("--yes")
        {
            Description = "The name of the cluster, to confirm without being asked.",
            HelpName = "NAME",
        };
        var json = new Option<bool>("--json") { Description = "Print what was found, or the result, as JSON." };
        var command = new Command(
            "recover",
            "Make a stopped member the only member of a new cluster, when a majority is lost for good. Shows what "
                + "may be lost, and asks."
        )
        {
            data,
            journal,
            with,
            yes,
            json,
        };
        command.SetAction(
            (parsed, cancellation) =>
                Refusal.GuardAsync(() =>
                    RunAsync(
                        new NodeOptions
                        {
                            DataDirectory = DirectoryPath.Absolute(parsed.GetValue(data)!),
                            JournalDirectory = parsed.GetValue(journal) is { } own ? DirectoryPath.Absolute(own) : null,
                        },
                        [.. (parsed.GetValue(with) ?? []).Select(DirectoryPath.Absolute)],
                        parsed.GetValue(yes),
                        parsed.GetValue(json),
                        cancellation
                    )
                )
        );
        return command;
    }

    private static async Task<int> RunAsync(
        NodeOptions options,
        IReadOnlyList<string> others,
        string? confirmedName,
        bool isJson,
        CancellationToken cancellation
    )
    {
        long memory = MemorySize.DefaultBytes();
        ProcessMemory.Bound(memory);
        var disk = new PosixDisk();
        DataRecovery.Settle(disk, options);
        using var recovery = ClusterRecovery.Open(
            disk,
            options,
            new MemoryBudget(memory),
            new IoTimeline(TimeProvider.System, disk.DeviceOf(options.DataDirectory)),
            TimeProvider.System
        );
        var survey = await recovery.SurveyAsync(others, cancellation);
        await Console.Error.WriteAsync(Describe(survey));
        if (survey.Refusal is { } refusal)
        {
            return await Refusal.WriteAsync($"Nothing was changed. {refusal}", ExitCode.Failure);
        }

        string name = recovery.Identity.ClusterName;
        if (confirmedName is null && Console.IsInputRedirected)
        {
            if (isJson)
            {
                await Console.Out.WriteLineAsync(JsonLine.Of(json => WriteSurvey(json, survey)));
            }

            return await Refusal.WriteAsync(
                "There is no terminal to ask for confirmation, so nothing was changed. Pass --yes with the "
                    + "cluster's name.",
                ExitCode.Configuration
            );
        }

        if (!string.Equals(confirmedName ?? await AskAsync(), name, StringComparison.Ordinal))
        {
            return await Refusal.WriteAsync(
                $"That is not the name of the cluster, so nothing was changed.",
                ExitCode.Configuration
            );
        }

        var recovered = recovery.Run([.. PeerAddresses.OfThisMachine()]);
        await Console.Out.WriteLineAsync(isJson ? ToJson(survey, name, recovered) : Describe(options, name, recovered));
        return ExitCode.Success;
    }

    private static async Task<string?> AskAsync()
    {
        await Console.Error.WriteAsync("Type the name of the cluster to go on, or anything else to change nothing: ");
        return await Console.In.ReadLineAsync();
    }

    private static string Describe(RecoverySurvey survey)
    {
        var text = new StringBuilder();
        foreach (var store in survey.Others.Prepend(survey.Own))
        {
            string place = store.IsRunning ? $"runs at {store.Place}" : store.Place;
            text.Append(
                CultureInfo.InvariantCulture,
                $"{store.Name} ({place}) has the log entries through "
                    + $"{store.Last.Index} (term {store.Last.Term}).\n"
            );
        }

        if (survey.Refusal is not null)
        {
            return text.ToString();
        }

        foreach (string loss in survey.Losses)
        {
            text.Append(loss).Append('\n');
        }

        return text.Append(
                "Members of the old cluster will be refused: they must join again with empty data directories.\n"
            )
            .ToString();
    }

    private static string Describe(NodeOptions options, string name, RecoveredCluster recovered)
    {
        var text = new StringBuilder();
        foreach (var (database, documents) in recovered.Data.Databases)
        {
            text.Append(CultureInfo.InvariantCulture, $"{database}: {Amount.Of(documents, "document")}.\n");
        }

        foreach (string damage in recovered.Data.Damage)
        {
            text.Append(damage).Append('\n');
        }

        string journal = options.JournalDirectory is { } own ? $" --journal {own}" : string.Empty;
        return text.Append(
                CultureInfo.InvariantCulture,
                $"The node is the only member of a new cluster '{name}'. Start it with `rookery serve --data "
                    + $"{options.DataDirectory}{journal}` and its former --listen, and let the others join "
                    + $"with empty data directories. The old data are kept under names that end with "
                    + $"{recovered.KeptSuffix}; delete them when no documents are missing."
            )
            .ToString();
    }

    private static string ToJson(RecoverySurvey survey, string name, RecoveredCluster recovered) =>
        JsonLine.Of(json =>
        {
            WriteSurvey(json, survey);
            json.WriteString("Cluster"u8, name);
            json.WriteString("ClusterId"u8, recovered.Ids.ClusterId);
            json.WriteString("NodeId"u8, recovered.Ids.NodeId);
            json.WriteString("Authority"u8, recovered.Authority);
            json.WriteString("KeptSuffix"u8, recovered.KeptSuffix);
            json.WriteStartObject("Documents"u8);
            foreach (var (database, documents) in recovered.Data.Databases)
            {
                json.WriteNumber(database, documents);
            }

            json.WriteEndObject();
            WriteAll(json, "Damage", recovered.Data.Damage);
        });

    private static void WriteSurvey(Utf8JsonWriter json, RecoverySurvey survey)
    {
        json.WriteStartArray("Stores"u8);
        foreach (var store in survey.Others.Prepend(survey.Own))
        {
            json.WriteStartObject();
            json.WriteString("Name"u8, store.Name);
            json.WriteString("Place"u8, store.Place);
            json.WriteBoolean("IsRunning"u8, store.IsRunning);
            json.WriteNumber("Term"u8, store.Last.Term);
            json.WriteNumber("Index"u8, store.Last.Index);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteNumber("Voters"u8, survey.Voters);
        WriteAll(json, "MayBeLost", survey.Losses);
    }

    private static void WriteAll(Utf8JsonWriter json, string name, IEnumerable<string> sentences)
    {
        json.WriteStartArray(name);
        foreach (string sentence in sentences)
        {
            json.WriteStringValue(sentence);
        }

        json.WriteEndArray();
    }
}
