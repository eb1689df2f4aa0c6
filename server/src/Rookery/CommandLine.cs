using System.CommandLine;

namespace Rookery;

/// <summary>The command line. What it cannot read ends with one sentence and exit code 78.</summary>
internal static class CommandLine
{
    public static async Task<int> RunAsync(string[] arguments)
    {
        var root = new RootCommand("Rookery, a document database for small machines.")
        {
            ServeCommand.Create(),
            ExportCommand.Create(),
        };
        var parsed = root.Parse(arguments);
        if (parsed.Errors.Count > 0)
        {
            await Console.Error.WriteLineAsync($"{parsed.Errors[0].Message} See `rookery --help`.");
            return ExitCode.Configuration;
        }

        // `serve` ends by itself on SIGTERM; the library would end the process two seconds later, with another code.
        return await parsed.InvokeAsync(new InvocationConfiguration { ProcessTerminationTimeout = null, EnableDefaultExceptionHandler = false });
    }
}
