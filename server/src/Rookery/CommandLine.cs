using System.CommandLine;
using System.CommandLine.Parsing;
using Rookery.Access;
using Rookery.Bench;
using Rookery.Clusters;
using Rookery.Data;
using Rookery.Doctor;
using Rookery.Hosting;
using Rookery.Indexes;
using Rookery.Live;
using Rookery.Shell;
using Rookery.Snmp;
using Rookery.Support;
using Rookery.Transfer;

namespace Rookery;

/// <summary>
/// Parses the command line and runs the command. An invalid command line ends with one message and exit code 78.
/// </summary>
internal static class CommandLine
{
    private static readonly (string Name, Func<Command> Create)[] Commands =
    [
        ("serve", ServeCommand.Create),
        ("status", StatusCommand.Create),
        ("login", LoginCommand.Create),
        ("logout", LoginCommand.CreateLogout),
        ("db", DatabaseCommand.Create),
        ("top", TopCommand.Create),
        ("get", GetCommand.Create),
        ("put", PutCommand.Create),
        ("rm", RemoveCommand.Create),
        ("query", QueryCommand.Create),
        ("patch", PatchCommand.Create),
        ("shell", ShellCommand.Create),
        ("import", ImportCommand.Create),
        ("export", ExportCommand.Create),
        ("index", IndexCommand.Create),
        ("io", IoCommand.Create),
        ("logs", LogsCommand.Create),
        ("bench", BenchCommand.Create),
        ("backup", BackupCommand.Create),
        ("restore", RestoreCommand.Create),
        ("doctor", DoctorCommand.Create),
        ("alerts", AlertsCommand.Create),
        ("debug-package", DebugPackageCommand.Create),
        ("snmp", SnmpCommand.Create),
        ("cluster", ClusterCommand.Create),
        ("claim", ClaimCommand.Create),
        ("token", TokenCommand.Create),
        ("cert", CertificateCommand.Create),
        ("completion", CompletionCommand.Create),
    ];

    /// <summary>Runs a command line.</summary>
    /// <param name="arguments">The arguments.</param>
    /// <param name="error">Receives the message about an invalid command line; null for stderr.</param>
    public static Task<int> RunAsync(string[] arguments, TextWriter? error = null) =>
        Refusal.GuardAsync(() =>
            arguments is [NodeCompletion.CommandName, .. var words]
                ? NodeCompletion.PrintAsync(words)
                : InvokeAsync(arguments, error ?? Console.Error)
        );

    private static async Task<int> InvokeAsync(string[] arguments, TextWriter error)
    {
        var parsed = CreateCommands(arguments).Parse(arguments);

        // Report an unknown word first, because it causes other errors, such as a missing command or value. The library
        // reads an unknown option as a positional argument.
        string? unknown = parsed.UnmatchedTokens is [var unmatched, ..]
            ? unmatched
            : parsed
                .CommandResult.Children.OfType<ArgumentResult>()
                .SelectMany(static argument => argument.Tokens)
                .Select(static token => token.Value)
                .FirstOrDefault(IsOption);
        if (parsed.Errors.Count > 0 && unknown is null && parsed.CommandResult is { Command.Subcommands.Count: > 0 })
        {
            // Only the subcommand is missing: the help lists the subcommands.
            await CreateCommands(arguments)
                .Parse([.. arguments, "--help"])
                .InvokeAsync(new InvocationConfiguration { Output = error });
            return ExitCode.Configuration;
        }

        string? empty = FindEmpty(parsed.CommandResult);
        if (parsed.Errors.Count > 0 || unknown is not null || empty is not null)
        {
            string mistake = DescribeMistake(parsed, empty, unknown);
            await error.WriteLineAsync($"{mistake} See `{PathOf(parsed.CommandResult)} --help`.");
            return ExitCode.Configuration;
        }

        // `serve` handles SIGTERM itself; the library would end the process after two seconds with another exit code.
        return await parsed.InvokeAsync(
            new InvocationConfiguration { ProcessTerminationTimeout = null, EnableDefaultExceptionHandler = false }
        );
    }

    /// <summary>
    /// Creates the commands. If the first argument names a command, only that one is created, because creating all
    /// takes longer than most commands run.
    /// </summary>
    public static RootCommand CreateCommands(string[] arguments)
    {
        var root = new RootCommand("Rookery, a document database for small machines.");
        var named =
            arguments.Length == 0
                ? []
                : Commands
                    .Where(command => string.Equals(command.Name, arguments[0], StringComparison.Ordinal))
                    .ToArray();
        foreach (var (_, create) in named.Length > 0 ? named : Commands)
        {
            root.Subcommands.Add(create());
        }

        return root;
    }

    private static string DescribeMistake(ParseResult parsed, string? empty, string? unknown)
    {
        if (empty is not null)
        {
            return $"{empty} is empty; perhaps an environment variable is not set.";
        }

        if (unknown is not null)
        {
            string suggestion = CommandSpelling.Suggest(unknown, parsed.CommandResult.Command);
            return $"\"{unknown}\" is not a command or option here.{suggestion}";
        }

        return FindMissing(parsed) is { } missing ? $"{missing} is missing." : parsed.Errors[0].Message;
    }

    /// <summary>
    /// Returns the name of the first required argument that is missing; the library's message does not name it.
    /// </summary>
    private static string? FindMissing(ParseResult parsed) =>
        parsed
            .CommandResult.Command.Arguments.FirstOrDefault(argument =>
                argument.Arity.MinimumNumberOfValues > 0 && parsed.GetResult(argument) is not { Tokens.Count: > 0 }
            )
            ?.Name;

    /// <summary>Returns the name of the first argument or option with an empty value, which is never valid.</summary>
    private static string? FindEmpty(CommandResult command)
    {
        var withEmptyValue = command.Children.FirstOrDefault(static child =>
            child.Tokens.Any(static token => token.Value.Length == 0)
        );
        return withEmptyValue switch
        {
            OptionResult option => option.Option.Name,
            ArgumentResult argument => argument.Argument.Name,
            _ => null,
        };
    }

    private static string PathOf(CommandResult result)
    {
        string path = result.Command.Name;
        for (var parent = result.Parent; parent is CommandResult command; parent = command.Parent)
        {
            string name = command.Parent is null ? "rookery" : command.Command.Name;
            path = $"{name} {path}";
        }

        return result.Parent is null ? "rookery" : path;
    }

    private static bool IsOption(string word) => word.StartsWith("--", StringComparison.Ordinal) && word.Length > 2;
}
