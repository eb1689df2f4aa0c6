using System.CommandLine;
using Rookery.Access;
using Rookery.Documents.Backups;
using Rookery.Documents.Nodes;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Server.Configuration;
using Rookery.Terminal;

namespace Rookery;

/// <summary>`rookery backup`: copies a node, running or stopped, into an empty directory and checks the copy.</summary>
internal static class BackupCommand
{
    public static Command Create()
    {
        var to = new Option<string>("--to")
        {
            Description = "Directory for the backup; made when it is missing, refused when it is not empty.",
            HelpName = "DIR",
            Required = true,
        };
        var address = new NodeAddress(hasDataAndJson: false);
        var data = new Option<string?>("--data")
        {
            Description = "Data directory of a stopped node, instead of --url.",
            HelpName = "DIR",
        };
        var journal = StoppedNode.JournalOption();
        var from = new Option<string?>("--from")
        {
            Description = "A backup that the dashboard downloaded, instead of --url: unpacks and checks it.",
            HelpName = "FILE",
        };
        var command = address.AddTo(
            new Command("backup", "Copy all databases of a node into a directory, while it runs.")
            {
                to,
                data,
                journal,
                from,
            }
        );
        command.SetAction(
            (parsed, cancellation) =>
                RunAsync(
                    parsed,
                    address,
                    parsed.GetValue(to)!,
                    parsed.GetValue(data),
                    parsed.GetValue(journal),
                    parsed.GetValue(from),
                    cancellation
                )
        );
        return command;
    }

    private static async Task<int> RunAsync(
        ParseResult parsed,
        NodeAddress address,
        string to,
        string? data,
        string? journal,
        string? from,
        CancellationToken cancellation
    )
    {
        if (from is not null && data is not null)
        {
            return await Refusal.WriteAsync(
                "--from names a downloaded backup and --data a stopped node. Leave one of them out.",
                ExitCode.Configuration
            );
        }

        if ((from ?? data) is not null && address.OptionOfAddress(parsed) is { } option)
        {
            string subject = from is null ? "--data names a stopped node" : "--from names a downloaded backup";
            return await Refusal.WriteAsync(
                $"{subject}, and {option} is for a running node. Leave one of them out.",
                ExitCode.Configuration
            );
        }

        if (journal is not null && data is null)
        {
            return await Refusal.WriteAsync(
                "--journal is only for a stopped node, with --data. Leave it out for a running node.",
                ExitCode.Configuration
            );
        }

        string directory = DirectoryPath.Absolute(to);
        if (from is not null)
        {
            ProcessMemory.Bound(MemorySize.DefaultBytes());
            return await Refusal.GuardAsync(() => UnpackAsync(from, directory, cancellation));
        }

        if (data is not null)
        {
            return await StoppedNode.UseAsync(data, journal, node => CopyAsync(node, directory));
        }

        ProcessMemory.Bound(MemorySize.DefaultBytes());
        return await address.UseAsync(parsed, (NodeConnection node) => DownloadAsync(node, directory, cancellation));
    }

    private static async Task<int> CopyAsync(Node node, string directory)
    {
        using var backup = await node.BeginBackupAsync();
        using var writer = new BackupWriter(new PosixDisk(), directory);
        using var progress = new Progress("files", TimeProvider.System);
        using var interruption = new Interruption(progress, () => DescribeDirectory(writer));
        foreach (var piece in backup.Read())
        {
            WritePiece(writer, piece, progress);
        }

        return await CompleteAsync(writer, progress);
    }

    private static async Task<int> DownloadAsync(NodeConnection node, string directory, CancellationToken cancellation)
    {
        using var download = await BackupDownload.BeginAsync(node, TimeProvider.System, cancellation);
        using var writer = new BackupWriter(new PosixDisk(), directory);
        using var progress = new Progress("files", TimeProvider.System);
        using var interruption = new Interruption(progress, () => DescribeDirectory(writer));
        while (WritePiece(writer, await download.NextAsync(cancellation), progress)) { }

        return await CompleteAsync(writer, progress);
    }

    private static async Task<int> UnpackAsync(string from, string directory, CancellationToken cancellation)
    {
        await using var backup = await DownloadedBackup.OpenAsync(from, cancellation);
        using var writer = new BackupWriter(new PosixDisk(), directory);
        using var progress = new Progress("files", TimeProvider.System);
        using var interruption = new Interruption(progress, () => DescribeDirectory(writer));
        while (WritePiece(writer, await backup.NextAsync(cancellation), progress)) { }

        await backup.EndAsync(cancellation);
        return await CompleteAsync(writer, progress);
    }

    /// <summary>Describes the content of the directory after an interruption.</summary>
    private static string DescribeDirectory(BackupWriter writer) =>
        writer.IsComplete
            ? $"The backup in {writer.Directory} is complete and checked."
            : $"{writer.Directory} is not a complete backup. Delete it and run the command again.";

    /// <summary>Writes a piece and reports the progress.</summary>
    /// <returns>Whether more pieces follow.</returns>
    private static bool WritePiece(BackupWriter writer, in BackupPiece piece, Progress progress)
    {
        bool hasMore = writer.TryWritePiece(piece);
        progress.Report(writer.Files, writer.Bytes);
        return hasMore;
    }

    private static async Task<int> CompleteAsync(BackupWriter writer, Progress progress)
    {
        progress.Clear();
        await Console.Error.WriteLineAsync("Reading the backup back to check it.");
        string device = new PosixDisk().DeviceOf(writer.Directory);
        writer.Complete(
            new MemoryBudget(MemorySize.DefaultBytes()),
            new IoTimeline(TimeProvider.System, device),
            TimeProvider.System
        );
        await Console.Out.WriteLineAsync(
            $"Backup complete in {writer.Directory}: {Amount.Of(writer.Files, "file")}, "
                + $"{Amount.Bytes(writer.Bytes)}, durable and checked."
        );
        return await UnreadableReport.WriteAsync(writer.Unreadable, "Not in the backup, or damaged in it");
    }
}
