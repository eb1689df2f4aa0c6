using System.CommandLine;
using System.CommandLine.Parsing;
using Rookery.Access;
using Rookery.Clusters;
using Rookery.Doctor;
using Rookery.Snmp;
using Rookery.Support;

namespace Rookery;

/// <summary>The command line. What it cannot read ends with one sentence and exit code 78.</summary>
internal static class CommandLine
{
    public static async Task<int> RunAsync(string[] arguments)
    {
        var root = new RootCommand("Rookery, a document database for small machines.")
        {
            ServeCommand.Create(),
            StatusCommand.Create(),
            DoctorCommand.Create(),
            AlertsCommand.Create(),
            DebugPackageCommand.Create(),
            SnmpCommand.Create(),
            BackupCommand.Create(),
            RestoreCommand.Create(),
            ExportCommand.Create(),
            ClusterCommand.Create(),
            ClaimCommand.Create(),
            TokenCommand.Create(),
            CertificateCommand.Create(),
        };
        var parsed = root.Parse(arguments);

        // A word that is not known is the cause when the library also misses a command or a value. An option that is not known it takes for the name that a command wants.
        string? unknown = parsed.UnmatchedTokens is [var unmatched, ..] ? unmatched : parsed.CommandResult.Children.OfType<ArgumentResult>().SelectMany(static argument => argument.Tokens).Select(static token => token.Value).FirstOrDefault(IsOption);
        if (parsed.Errors.Count > 0 || unknown is not null)
        {
            string wrong = unknown is not null ? $"\"{unknown}\" is no command or option here." : parsed.Errors[0].Message;
            await Console.Error.WriteLineAsync($"{wrong} See `rookery --help`.");
            return ExitCode.Configuration;
        }

        // `serve` ends by itself on SIGTERM; the library would end the process two seconds later, with another code.
        return await parsed.InvokeAsync(new InvocationConfiguration { ProcessTerminationTimeout = null, EnableDefaultExceptionHandler = false });
    }

    private static bool IsOption(string word) => word.StartsWith("--", StringComparison.Ordinal) && word.Length > 2;
}
