using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Server.Support;
using Rookery.Terminal;

namespace Rookery.Live;

/// <summary>`rookery logs`: prints the last lines of a node's log.</summary>
internal static class LogsCommand
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromSeconds(1);

    // The levels as the node's answer has them. The command and the log itself write the first one as "info".
    private static readonly string[] Levels = ["information", "warning", "error"];
    private static readonly string[] Words = ["info", "warning", "error"];

    public static Command Create()
    {
        var address = new NodeAddress();
        var follow = new Option<bool>("--follow", "-f") { Description = "Keep printing new lines, until Ctrl+C." };
        var level = new Option<string>("--level")
        {
            Description = "The lowest level to print: info, warning or error.",
            HelpName = "LEVEL",
            DefaultValueFactory = static _ => Words[0],
        };
        var limit = WholeNumber.Option(
            "--lines",
            "The maximum number of lines of that level, the newest ones [default: 500].",
            "NUMBER",
            least: 1,
            most: LogRing.DefaultLines
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
                                $"--level must be one of {string.Join(", ", Words)}, not \"{levelText}\".",
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
        int wanted = limit;
        while (true)
        {
            // The node counts lines of all levels, so all that it has are asked for, and chosen here.
            var answer = await client.GetJsonAsync(
                HttpMethod.Get,
                $"/admin/logs?limit={LogRing.DefaultLines}{after}{IoCommand.NodeParameter(node, '&')}"
            );
            JsonElement[] lines = [.. answer.GetProperty("Lines").EnumerateArray()];
            foreach (var line in lines.Where(line => IndexOfLevel(line) >= minLevelIndex).TakeLast(wanted))
            {
                if (isJson)
                {
                    Output.Line(line.GetRawText());
                }
                else
                {
                    Output.Painted([FormatLine(line, line.GetProperty("Level").GetString()!)]);
                }
            }

            if (lines.Length > 0)
            {
                after = $"&after={lines[^1].GetProperty("Sequence").GetInt64()}";
                wanted = int.MaxValue; // the limit is for the lines before the command; the new ones follow all
            }

            if (!follows)
            {
                return ExitCode.Success;
            }

            await Task.Delay(PollInterval, time);
            Output.Stream.ThrowIfUnread();
        }
    }

    private static int IndexOfLevel(JsonElement line) => Array.IndexOf(Levels, line.GetProperty("Level").GetString());

    private static string FormatLine(JsonElement line, string level)
    {
        // The precision of the log itself.
        string time = line.GetProperty("Time")
            .GetDateTimeOffset()
            .UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);
        string word = Words[Array.IndexOf(Levels, level)];
        string text = VisibleText.OfLine($"{time}  {word, -7}  {line.GetProperty("Text").GetString()}");
        return level switch
        {
            "error" => Paint.Output.Bad(text),
            "warning" => Paint.Output.Warning(text),
            _ => text,
        };
    }
}
