using System.CommandLine;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Server.Alerts;

namespace Rookery.Support;

/// <summary>
/// `rookery alerts`: prints all alerts, as a table or as rules for Prometheus. `rookery alerts test` sends a test
/// message to a node's webhook.
/// </summary>
internal static class AlertsCommand
{
    public static Command Create()
    {
        var prometheus = new Option<bool>("--prometheus")
        {
            Description = "Write a rules file for Prometheus 2.42 or later.",
        };
        var command = new Command(
            "alerts",
            "List all alerts: name, severity, how long the condition must hold, and what is wrong."
        )
        {
            prometheus,
            CreateTest(),
        };
        command.SetAction(
            async (parsed, _) =>
            {
                await Console.Out.WriteAsync(parsed.GetValue(prometheus) ? PrometheusRules.Write() : FormatTable());
                return ExitCode.Success;
            }
        );
        return command;
    }

    private static Command CreateTest()
    {
        var address = new NodeAddress();
        var command = address.AddTo(
            new Command("test", "Let a node send a test message to its webhook, and print the result.")
        );
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        var answer = await client.SendAsync(HttpMethod.Post, "/admin/alerts/test");
                        await Console.Out.WriteLineAsync(
                            address.IsJson(parsed) ? answer.GetRawText() : answer.GetProperty("Message").GetString()
                        );
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    private static string FormatTable()
    {
        int width = AlertCatalogue.All.Max(static alert => alert.Name.Length);
        return string.Concat(
            AlertCatalogue.All.Select(alert =>
                $"{alert.Name.PadRight(width)}  {alert.Severity, -8}  {alert.For.TotalMinutes, 2:0} min  "
                + $"{alert.Sentence}\n"
            )
        );
    }
}
