using System.Text;
using System.Text.Json;
using Rookery.Access;
using Rookery.Data;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Terminal;

namespace Rookery.Shell;

/// <summary>Reads statements and executes them, until the user or the input ends.</summary>
/// <param name="client">The node.</param>
/// <param name="isPrompt">Whether a user types at a prompt; otherwise stdin is a script.</param>
/// <param name="isAgreed">Whether the user has confirmed changes already.</param>
internal sealed class ShellLoop(NodeClient client, bool isPrompt, bool isAgreed)
{
    /// <summary>Whether the node's own, possibly older state is enough.</summary>
    public required bool IsLocal { get; init; }

    /// <summary>The form of results at first.</summary>
    public required AnswerForm Form { get; init; }

    /// <summary>The parameters of the queries at first.</summary>
    public required IReadOnlyList<(string Name, JsonElement Value)> Parameters { get; init; }

    /// <summary>Executes all statements.</summary>
    /// <returns>For a script, the exit code of the first statement that failed, which ends it.</returns>
    public async Task<int> RunAsync(string database)
    {
        // A database that does not exist is reported before the first statement.
        await client.GetJsonAsync(HttpMethod.Get, $"{NodeClient.PathOf(database)}/stats");
        return isPrompt ? await PromptAsync(database) : await ScriptAsync(database);
    }

    private ShellSession NewSession(string database, Action<string, string> confirm)
    {
        var session = new ShellSession(client, database, isAgreed ? null : confirm)
        {
            IsLocal = IsLocal,
            Form = Form,
            Rows = isPrompt ? ShellSession.DefaultRows : null,
        };
        foreach (var (name, value) in Parameters)
        {
            session.Set(name, value);
        }

        return session;
    }

    private async Task<int> PromptAsync(string database)
    {
        var history = History.OfUser();
        ShellSession? session = null;
        var names = new ShellNames(client, () => session!.Database, TimeProvider.System);
        var editor = new LineEditor(
            KeyReader.OfTerminal(),
            history,
            (text, cursor) => RqlCompletion.Of(text, cursor, names),
            static text => Output.Stream.Write(Encoding.UTF8.GetBytes(text)),
            Tty.Size
        );
        session = NewSession(database, (consequence, name) => Confirm(editor, consequence, name));
        using var interruption = new ShellInterruption(isPrompt: true, editor.Restore);
        interruption.Begin();
        await Console.Error.WriteLineAsync($@"{client.Address.Authority}, {database}. \? for help, \q to quit.");
        if (history.Problem is { } problem)
        {
            await Console.Error.WriteLineAsync(problem);
        }

        while (!session.HasEnded)
        {
            string prompt = $"{VisibleText.OfLine(session.Database)}> ";
            string? text = editor.Read(prompt, "-> ".PadLeft(prompt.Length), ShellText.IsComplete);
            if (text is null)
            {
                return ExitCode.Success;
            }

            history.Add(text);
            foreach (var (statement, _) in ShellText.Split(text, out _))
            {
                int code = await interruption.RunAsync(cancellation => session.ExecuteAsync(statement, cancellation));
                if (interruption.EndCode is { } end)
                {
                    return end;
                }

                if (code == ExitCode.OutputClosed)
                {
                    return code;
                }

                if (code != ExitCode.Success || session.HasEnded)
                {
                    break;
                }
            }
        }

        return ExitCode.Success;
    }

    private static void Confirm(LineEditor editor, string consequence, string database)
    {
        Console.Error.WriteLine(consequence);
        string? typed = editor.Read(
            $"Type {VisibleText.OfLine(database)} to go on, or anything else to change nothing: ",
            string.Empty,
            static _ => true
        );
        if (!string.Equals(typed?.Trim(), database, StringComparison.Ordinal))
        {
            throw new AdminException($"That is not {database}, so nothing was changed.", ExitCode.Failure);
        }
    }

    private async Task<int> ScriptAsync(string database)
    {
        var session = NewSession(database, static (consequence, name) => Question.Confirm(consequence, name, "--yes"));
        using var interruption = new ShellInterruption(isPrompt: false, static () => { });
        interruption.Begin();
        using var input = new StreamReader(
            Console.OpenStandardInput(),
            new UTF8Encoding(false, throwOnInvalidBytes: true)
        );
        var script = new ShellScript(input);
        while (!session.HasEnded && script.Read() is { } statement)
        {
            int code = await interruption.RunAsync(cancellation => session.ExecuteAsync(statement, cancellation));
            if ((interruption.EndCode ?? code) is not ExitCode.Success and var end)
            {
                await Console.Error.WriteLineAsync($"The script ended at the statement in line {script.Line}.");
                return end;
            }
        }

        return ExitCode.Success;
    }
}
