using System.Buffers;
using System.CommandLine;
using Rookery.Documents;
using Rookery.Server;

namespace Rookery;

/// <summary>`rookery export`: writes the documents of a stopped node to stdout, one a line, and what it does to stderr.</summary>
internal static class ExportCommand
{
    private const int PartBytes = 64 << 10;
    private const long ProgressDocuments = 100_000;

    public static Command Create()
    {
        var data = new Option<string>("--data") { Description = "Directory of the data.", HelpName = "DIR", Required = true };
        var journal = StoppedNode.JournalOption();
        var database = new Option<string?>("--database") { Description = "Only this database [default: all, one after the other].", HelpName = "NAME" };
        var command = new Command("export", "Write the documents of a stopped node to stdout, one JSON object a line.") { data, journal, database };
        command.SetAction((parsed, cancellation) => RunAsync(parsed.GetValue(data)!, parsed.GetValue(journal), parsed.GetValue(database), cancellation));
        return command;
    }

    private static Task<int> RunAsync(string data, string? journal, string? name, CancellationToken cancellation)
    {
        var gaps = new ExportGaps();
        return StoppedNode.UseAsync(data, journal, node => ExportAsync(node, data, name, gaps, cancellation), gaps.Add);
    }

    private static async Task<int> ExportAsync(Node node, string data, string? name, ExportGaps gaps, CancellationToken cancellation)
    {
        var databases = name is null ? node.Databases.All : node.Databases.TryGet(name, out var found) ? [found] : [];
        if (name is not null && databases.Count == 0)
        {
            return await Refusal.WriteAsync(
                $"There is no database \"{name}\" in {data}; there are: {string.Join(", ", node.Databases.All.Select(database => database.Name))}.", ExitCode.Failure);
        }

        await using var output = Console.OpenStandardOutput();
        foreach (var database in databases)
        {
            await ExportAsync(database, output, gaps, cancellation);
        }

        return gaps.Count == 0
            ? ExitCode.Success
            : await Refusal.WriteAsync($"The export lacks what could not be read: {gaps.Count} {(gaps.Count == 1 ? "range" : "ranges")}, named above. Everything else was exported.", ExitCode.Failure);
    }

    private static async Task ExportAsync(Database database, Stream output, ExportGaps gaps, CancellationToken cancellation)
    {
        using var export = new NdjsonExport(database, damage => gaps.Add(database, damage));
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
                await Console.Error.WriteLineAsync($"{database.Name}: {export.Count} documents so far.");
            }
        }

        await output.WriteAsync(part.WrittenMemory, cancellation);
        await Console.Error.WriteLineAsync($"{database.Name}: {export.Count} documents.");
    }
}
