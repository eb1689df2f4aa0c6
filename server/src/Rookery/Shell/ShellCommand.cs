using System.CommandLine;
using Rookery.Access;
using Rookery.Data;
using Rookery.Terminal;

namespace Rookery.Shell;

/// <summary>`rookery shell`: executes RQL that a user types at a prompt, or that a script contains.</summary>
internal static class ShellCommand
{
    public static Command Create()
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database(address);
        var parameters = AskedQuery.ParameterOption();
        var table = new Option<bool>("--table") { Description = "Print tables [default on a terminal]." };
        var yes = new Option<bool>("--yes") { Description = "Do not ask before documents are changed or deleted." };
        var command = address.AddToRead(
            new Command("shell", "Type RQL at a prompt, or read statements from stdin. \\? lists its commands.")
            {
                database,
                parameters,
                table,
                yes,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        bool isPrompt = Tty.IsOutput && !Console.IsInputRedirected && !Tty.IsDumb;
                        var loop = new ShellLoop(client, isPrompt, parsed.GetValue(yes))
                        {
                            IsLocal = address.IsLocal(parsed),
                            Form =
                                address.IsJson(parsed) ? AnswerForm.Indented
                                : Tty.IsOutput || parsed.GetValue(table) ? AnswerForm.Table
                                : AnswerForm.Lines,
                            Parameters = [.. (parsed.GetValue(parameters) ?? []).Select(AskedQuery.ReadParameter)],
                        };
                        return await loop.RunAsync(address.DatabaseOf(parsed.GetValue(database)!));
                    }
                )
        );
        return command;
    }
}
