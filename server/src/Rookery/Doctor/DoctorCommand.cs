using System.CommandLine;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Rookery.Access;
using Rookery.Board.Doctor;
using Rookery.Hosting;
using Rookery.Server.Configuration;

namespace Rookery.Doctor;

/// <summary>`rookery doctor`: reports problems of this machine and its node, with their remedies.</summary>
internal static class DoctorCommand
{
    // The path of the installed package's configuration.
    private const string InstalledConfiguration = "/var/lib/rookery/config.json";

    // People read this JSON too. The strict encoder would escape the back quotes around commands.
    private static readonly JsonWriterOptions Indented = new()
    {
        Indented = true,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    public static Command Create()
    {
        var address = new NodeAddress();
        var config = new Option<string?>("--config")
        {
            Description =
                $"The file that `rookery serve --config` reads [default: {InstalledConfiguration}, if it "
                + $"exists and no other option names the node].",
            HelpName = "FILE",
        };
        var probe = new Option<bool>("--probe")
        {
            Description =
                "Measure the disk too: writes 16 MiB beside the data, or beside the journal if that is on another "
                + "device, and deletes them. Needs --data or a configuration file.",
        };
        var report = new Option<bool>("--report")
        {
            Description =
                "Print instead of the findings a report on this board, as JSON, that may be published: no names, "
                + "addresses or serial numbers.",
        };
        var command = address.AddTo(
            new Command(
                "doctor",
                "Report problems of this machine and its node, with their remedies. Ends with 1 if there is a "
                    + "warning or an error."
            )
            {
                config,
                probe,
                report,
            }
        );
        command.SetAction(
            (parsed, cancellation) =>
                Refusal.GuardAsync(async () =>
                {
                    var node = await FindNodeAsync(parsed, address, parsed.GetValue(config));
                    if (parsed.GetValue(probe) && node.DataDirectory is null)
                    {
                        throw new AdminException(
                            "--probe writes to the data directory. Name it with --data, or its configuration "
                                + "file with --config.",
                            ExitCode.Configuration
                        );
                    }

                    var facts = await FactGathering.GatherAsync(
                        node,
                        parsed.GetValue(probe),
                        TimeProvider.System,
                        cancellation
                    );
                    if (parsed.GetValue(report))
                    {
                        var gathered = await BoardReportGathering.GatherAsync(facts, cancellation);
                        await Console.Out.WriteLineAsync(gathered.ToJson());
                        return ExitCode.Success;
                    }

                    var findings = Judgement.Of(facts);
                    var worst = findings.Max(static finding => finding.Severity);
                    await Console.Out.WriteLineAsync(address.IsJson(parsed) ? InJson(findings) : InText(findings));
                    return worst >= Severity.Warning ? ExitCode.Failure : ExitCode.Success;
                })
        );
        return command;
    }

    private static async Task<ExaminedNode> FindNodeAsync(
        ParseResult parsed,
        NodeAddress address,
        string? configurationFile
    )
    {
        string? directory = address.Directory(parsed);
        string? option = directory is null ? address.OptionOfAddress(parsed) : "--data";
        if (configurationFile is not null && option is not null)
        {
            throw new AdminException(
                $"--config names the node, and {option} another one. Leave one of them out.",
                ExitCode.Configuration
            );
        }

        configurationFile ??= option is null && File.Exists(InstalledConfiguration) ? InstalledConfiguration : null;
        try
        {
            if (configurationFile is not null)
            {
                return ExaminedNode.Of(
                    ServeConfiguration.From(ConfigurationFiles.Read(Path.GetFullPath(configurationFile)))
                );
            }

            if (directory is not null && address.OptionOfAddress(parsed) is null)
            {
                return ExaminedNode.Of(directory);
            }

            return new ExaminedNode(await address.ConnectAsync(parsed));
        }
        catch (ConfigurationException invalid)
        {
            throw new AdminException(invalid.Message, ExitCode.Configuration);
        }
    }

    private static string InText(IReadOnlyList<Finding> findings)
    {
        // Columns of 8 and 12 characters, then a space; a remedy begins below its sentence.
        var text = new StringBuilder();
        foreach (var finding in findings)
        {
            text.Append($"{NameOf(finding.Severity), -8}{finding.Subject, -12} {finding.Sentence}\n");
            if (finding.Fix is not null)
            {
                text.Append($"{string.Empty, -21}→ {finding.Fix}\n");
            }
        }

        return text.ToString().TrimEnd('\n');
    }

    /// <summary>Returns the findings as JSON.</summary>
    internal static string InJson(IReadOnlyList<Finding> findings)
    {
        using var body = new MemoryStream();
        using (var json = new Utf8JsonWriter(body, Indented))
        {
            json.WriteStartObject();
            json.WriteString("Severity"u8, NameOf(findings.Max(static finding => finding.Severity)));
            json.WriteStartArray("Findings"u8);
            foreach (var finding in findings)
            {
                json.WriteStartObject();
                json.WriteString("Subject"u8, finding.Subject);
                json.WriteString("Severity"u8, NameOf(finding.Severity));
                json.WriteString("Sentence"u8, finding.Sentence);
                json.WriteString("Fix"u8, finding.Fix);
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }

        return Encoding.UTF8.GetString(body.ToArray());
    }

    private static string NameOf(Severity severity) =>
        severity switch
        {
            Severity.Ok => "ok",
            Severity.Notice => "notice",
            Severity.Warning => "warning",
            _ => "error",
        };
}
