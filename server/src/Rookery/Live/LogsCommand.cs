using System.CommandLine;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Terminal;

namespace Rookery.Live;

/// <summary>`rookery logs`: prints the last lines of a node's log.</summary>
internal static class LogsCommand
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromSeconds(1);
    private static readonly string[] Levels = ["information", "warning", "error"];

    public static Command Create()
    {
        var address = new NodeAddress();
        var follow = new Option<bool>("--follow", "-f") { Description = "Keep printing new lines, until Ctrl+C." };
        var level = new Option<string>("--level")
        {
            Description = "The lowest level to print: information, warning or error.",
            HelpName = "LEVEL",
            DefaultValueFactory = static _ => Levels[0],
        };
        var limit = WholeNumber.Option(
            "--lines",
            "The maximum number of lines, the newest ones [default: 500].",
            "NUMBER",
            least: 1,
            most: 2000
        );
        var node = IoCommand.NodeOption();
        var command = address.AddTo(
            new Command("logs", "Print the last lines of the node's log, which it keeps in memory.")
            {
                follow,
                level,
                limit,
                node,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    client =>
                    {
                        string levelText = parsed.GetValue(level)!;
                        int minLevelIndex = Array.FindIndex(
                            Levels,
                            name => name.StartsWith(levelText, StringComparison.OrdinalIgnoreCase)
                        );
                        return minLevelIndex < 0 || levelText.Length == 0
                            ? throw new AdminException(
                                $"--level must be one of {string.Join(", ", Levels)}, not \"{levelText}\".",
                                ExitCode.Configuration
                            )
                            : PrintAsync(
                                client,
                                parsed.GetValue(node),
                                parsed.GetValue(limit) ?? 500,
                                minLevelIndex,
                                parsed.GetValue(follow),
                                address.IsJson(parsed),
                                TimeProvider.System
                            );
                    }
                )
        );
        return command;
    }

    private static async Task<int> PrintAsync(
        NodeClient client,
        string? node,
        int limit,
        int minLevelIndex,
        bool follows,
        bool isJson,
        TimeProvider time
    )
    {
        string after = string.Empty; // the parameter that leaves out the lines printed before
        while (true)
        {
            var answer = await client.GetJsonAsync(
                HttpMethod.Get,
                $"/admin/logs?limit={limit}{after}{IoCommand.NodeParameter(node, '&')}"
            );
            foreach (var line in answer.GetProperty("Lines").EnumerateArray())
            {
                after = $"&after={line.GetProperty("Sequence").GetInt64()}";
                string level = line.GetProperty("Level").GetString()!;
                if (Array.IndexOf(Levels, level) >= minLevelIndex)
                {
                    if (isJson)
                    {
                        Output.Line(line.GetRawText());
                    }
                    else
                    {
                        Output.Painted([FormatLine(line, level)]);
                    }
                }
            }

            if (!follows)
            {
                return ExitCode.Success;
            }

            await Task.Delay(PollInterval, time);
            Output.Stream.ThrowIfUnread();
        }
    }

    private static string FormatLine(JsonElement line, string level)
    {
        string text = VisibleText.OfLine(
            $"{line.GetProperty("Time").GetString()}  {level, -11}  {line.GetProperty("Text").GetString()}"
        );
        return level switch
        {
            "error" => Paint.Output.Bad(text),
            "warning" => Paint.Output.Warning(text),
            _ => text,
        };
    }
}
