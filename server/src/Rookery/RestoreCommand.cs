using System.CommandLine;
using Rookery.Documents.Backups;
using Rookery.Documents.Nodes;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Server.Configuration;
using Rookery.Terminal;

namespace Rookery;

/// <summary>`rookery restore`: creates a data directory from a backup.</summary>
internal static class RestoreCommand
{
    public static Command Create()
    {
        var from = new Option<string>("--from")
        {
            Description = "Directory of the backup.",
            HelpName = "DIR",
            Required = true,
        };
        var data = new Option<string>("--data")
        {
            Description = "Data directory to create; refused if it exists and is not empty.",
            HelpName = "DIR",
            Required = true,
        };
        var journal = new Option<string?>("--journal")
        {
            Description = "Journal directory to create, on its own device [default: in the data directory].",
            HelpName = "DIR",
        };
        var database = new Option<string?>("--database")
        {
            Description = "Only this database [default: all].",
            HelpName = "NAME",
        };
        var command = new Command("restore", "Create the data directory of a node from a backup.")
        {
            from,
            data,
            journal,
            database,
        };
        command.SetAction(
            (parsed, _) =>
            {
                var options = new NodeOptions
                {
                    DataDirectory = DirectoryPath.Absolute(parsed.GetValue(data)!),
                    JournalDirectory = parsed.GetValue(journal) is { } own ? DirectoryPath.Absolute(own) : null,
                };
                return Refusal.GuardAsync(() =>
                    RunAsync(DirectoryPath.Absolute(parsed.GetValue(from)!), options, parsed.GetValue(database))
                );
            }
        );
        return command;
    }

    private static string DescribeWhatToDelete(NodeOptions options) =>
        options.JournalDirectory is { } journal ? $"it and {journal}" : "it";

    private static async Task<int> RunAsync(string from, NodeOptions options, string? database)
    {
        long memory = MemorySize.DefaultBytes();
        ProcessMemory.Bound(memory);
        var disk = new PosixDisk();
        if (!disk.Exists(from))
        {
            return await Refusal.WriteAsync($"There is no directory {from}.", ExitCode.Configuration);
        }

        var io = new IoTimeline(TimeProvider.System, disk.DeviceOf(from));
        using var progress = new Progress(itemName: null, TimeProvider.System);
        var restoration = new Restoration(disk, options, new MemoryBudget(memory), io, TimeProvider.System)
        {
            Progress = (copied, total) =>
            {
                progress.TotalBytes = total;
                progress.Report(0, copied);
            },
        };
        using var interruption = new Interruption(
            progress,
            () =>
                restoration.IsUnfinished
                    ? $"{options.DataDirectory} is incomplete, and no node opens it. Delete "
                        + $"{DescribeWhatToDelete(options)}, and run the same command again."
                    : $"{options.DataDirectory} is unchanged or complete."
        );
        foreach (var (name, documents) in restoration.Run(from, database))
        {
            progress.Clear();
            await Console.Out.WriteLineAsync($"{name}: {Amount.Of(documents, "document")}.");
        }

        string start = options.JournalDirectory is { } journal
            ? $"--data {options.DataDirectory} --journal {journal}"
            : $"--data {options.DataDirectory}";
        await Console.Out.WriteLineAsync(
            $"Restored into {options.DataDirectory}, durable and checked. Start it with `rookery serve {start}`."
        );
        if (restoration.WhyNoGrowth is { } shortage)
        {
            await Console.Error.WriteLineAsync(shortage);
        }

        return await UnreadableReport.WriteAsync(
            restoration.Unreadable,
            "Not restored, or restored with damage, as in the backup"
        );
    }
}
