using System.Buffers;
using System.CommandLine;
using Rookery.Access;
using Rookery.Data;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Server.Transfer;
using Rookery.Terminal;
using Rookery.Transfer;

namespace Rookery;

/// <summary>
/// `rookery export`: writes the documents of a running node's database, or of a stopped node, as one JSON object per
/// line. Progress goes to stderr.
/// </summary>
internal static class ExportCommand
{
    private const int PartBytes = 64 << 10;
    private const long ProgressDocuments = 100_000;

    public static Command Create()
    {
        var address = new NodeAddress(hasDataAndJson: false);
        var running = new Argument<string?>("DB")
        {
            Description = "A database of the running node at --url; `.` is your default, which `rookery login` saved.",
            Arity = ArgumentArity.ZeroOrOne,
        }.Offering(address, static (names, _, _) => names.DatabasesAsync());
        var to = new Option<string?>("--to")
        {
            Description =
                "File to write, with DB; compressed if it ends in .gz, a dump with everything if in .ravendbdump; "
                + "- is stdout [default: stdout].",
            HelpName = "FILE",
        };
        var replace = new Option<bool>("--replace")
        {
            Description = "Replace an existing file, which is refused otherwise.",
        };
        var data = new Option<string?>("--data")
        {
            Description = "Data directory of a stopped node, instead of DB.",
            HelpName = "DIR",
        };
        var journal = StoppedNode.JournalOption();
        var database = new Option<string?>("--database")
        {
            Description = "With --data, only this database [default: all, one after the other].",
            HelpName = "NAME",
        };
        var command = address.AddTo(
            new Command("export", "Write the documents of a database, or of a stopped node, one JSON object per line.")
            {
                running,
                to,
                replace,
                data,
                journal,
                database,
            }
        );
        command.SetAction(
            (parsed, cancellation) =>
            {
                if (parsed.GetValue(data) is not { } directory)
                {
                    return DownloadAsync(
                        parsed,
                        address,
                        parsed.GetValue(running),
                        parsed.GetValue(to) is "-" ? null : parsed.GetValue(to),
                        parsed.GetValue(replace),
                        parsed.GetValue(journal) ?? parsed.GetValue(database)
                    );
                }

                string? option =
                    parsed.GetValue(running) is not null ? "DB"
                    : parsed.GetValue(to) is not null ? to.Name
                    : parsed.GetValue(replace) ? replace.Name
                    : address.OptionOfAddress(parsed);
                return option is not null
                    ? Refusal.WriteAsync(
                        $"--data names a stopped node, and {option} is for a running one. Leave one of them out.",
                        ExitCode.Configuration
                    )
                    : ExportStoppedNodeAsync(
                        directory,
                        parsed.GetValue(journal),
                        parsed.GetValue(database),
                        cancellation
                    );
            }
        );
        return command;
    }

    private static async Task<int> DownloadAsync(
        ParseResult parsed,
        NodeAddress address,
        string? database,
        string? to,
        bool replaces,
        string? stoppedNodeOption
    )
    {
        if (database is null)
        {
            return await Refusal.WriteAsync(
                "Pass a database of the running node, or the data directory of a stopped one by --data.",
                ExitCode.Configuration
            );
        }

        if (replaces && to is null)
        {
            return await Refusal.WriteAsync("--replace needs --to, which names the file.", ExitCode.Configuration);
        }

        if (stoppedNodeOption is not null)
        {
            return await Refusal.WriteAsync(
                "--journal and --database need --data, which names a stopped node.",
                ExitCode.Configuration
            );
        }

        return await address.WorkAsync(
            parsed,
            client => ExportDownload.RunAsync(client, address.DatabaseOf(database), to, replaces, TimeProvider.System)
        );
    }

    private static Task<int> ExportStoppedNodeAsync(
        string data,
        string? journal,
        string? name,
        CancellationToken cancellation
    )
    {
        var gaps = new ExportGaps();
        return StoppedNode.UseAsync(data, journal, node => ExportAsync(node, data, name, gaps, cancellation), gaps.Add);
    }

    private static async Task<int> ExportAsync(
        Node node,
        string data,
        string? name,
        ExportGaps gaps,
        CancellationToken cancellation
    )
    {
        var databases =
            name is null ? node.Databases.All
            : node.Databases.TryGet(name, out var found) ? [found]
            : [];
        if (name is not null && databases.Count == 0)
        {
            return await Refusal.WriteAsync(
                $"There is no database \"{name}\" in {data}; there are: "
                    + $"{string.Join(", ", node.Databases.All.Select(database => database.Name))}.",
                ExitCode.NotFound
            );
        }

        using var interruption = new Interruption(
            progress: null,
            () => "The written file is incomplete, and an export cannot be resumed. Run the same command again."
        );
        var leftOut = default(LeftOut);
        foreach (var database in databases)
        {
            using (var statistics = database.OpenReader())
            {
                leftOut += LeftOut.Of(statistics);
            }

            await ExportAsync(database, Tty.IsOutput ? Output.Visible : Output.Stream, gaps, cancellation);
        }

        return gaps.Count == 0
            ? await ExportDownload.EndAsync(leftOut)
            : await Refusal.WriteAsync(
                $"{Amount.Of(gaps.Count, "range")} could not be read and is missing in the export; see above. "
                    + $"Everything else was exported.",
                ExitCode.Failure
            );
    }

    private static async Task ExportAsync(
        Database database,
        Stream output,
        ExportGaps gaps,
        CancellationToken cancellation
    )
    {
        using var reader = database.OpenReader();
        using var export = new NdjsonExport(reader, damage => gaps.Add(database, damage));
        var part = new ArrayBufferWriter<byte>(2 * PartBytes);
        while (export.MoveNext())
        {
            export.Write(part);
            if (part.WrittenCount >= PartBytes)
            {
                await output.WriteAsync(part.WrittenMemory, cancellation);
                part.ResetWrittenCount();
            }

            if (export.Count % ProgressDocuments == 0)
            {
                await Console.Error.WriteLineAsync($"{database.Name}: {Amount.Of(export.Count, "document")} so far.");
            }
        }

        await output.WriteAsync(part.WrittenMemory, cancellation);
        await Console.Error.WriteLineAsync($"{database.Name}: {Amount.Of(export.Count, "document")}.");
    }
}
