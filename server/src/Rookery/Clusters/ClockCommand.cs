using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Clusters;

/// <summary>`rookery cluster clock`: lets the operator confirm the cluster's time.</summary>
internal static class ClockCommand
{
    // A larger difference means that the clock of one of the two machines is wrong. The user decides which.
    private static readonly TimeSpan MaximumClockDifference = TimeSpan.FromMinutes(1);

    public static Command Create() => new("clock", "The time that documents expire by.") { Confirm() };

    private static Command Confirm()
    {
        var address = new NodeAddress();
        var yes = new Option<bool>("--yes") { Description = "Do not ask whether the shown time is right." };
        var command = address.AddTo(
            new Command(
                "confirm",
                "Confirm that the voters' clocks are right, although they jumped and no majority is synchronised. "
                    + "`rookery status` shows them. Everything that is due by these clocks expires."
            )
            {
                yes,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async (AdminClient client) =>
                    {
                        if (!parsed.GetValue(yes))
                        {
                            ConfirmDate(
                                await client.SendAsync(HttpMethod.Get, "/readyz?verbose", acceptsUnready: true),
                                TimeProvider.System.GetUtcNow()
                            );
                        }

                        var answer = await client.SendAsync(HttpMethod.Post, "/admin/cluster/clock/confirm");
                        Output.Line(
                            address.IsJson(parsed) ? answer.GetRawText() : answer.GetProperty("Message").GetString()!
                        );
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    /// <summary>Asks the user to type the date that the node's clock shows.</summary>
    private static void ConfirmDate(JsonElement status, DateTimeOffset machineTime)
    {
        if (ClockOf(status) is not { } time)
        {
            Question.Confirm(
                "The node does not know the time yet. Everything that is due by the voters' clocks expires.",
                "yes",
                "--yes"
            );
            return;
        }

        var difference = time - machineTime;
        string direction = difference < TimeSpan.Zero ? "behind" : "ahead of";
        string compared =
            difference.Duration() < MaximumClockDifference
                ? "as does this machine's"
                : $"{Amount.Time(difference.Duration())} {direction} this machine's";
        Question.Confirm(
            $"The clock of the node shows "
                + $"{time.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss", CultureInfo.InvariantCulture)} UTC, "
                + $"{compared}. Everything that is due by it expires permanently.",
            time.UtcDateTime.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture),
            "--yes"
        );
    }

    private static DateTimeOffset? ClockOf(JsonElement status) =>
        status.TryGetProperty("Cluster", out var cluster)
        && cluster.TryGetProperty("Clock", out var clock)
        && clock.GetProperty("Time") is { ValueKind: JsonValueKind.String } known
            ? known.GetDateTimeOffset().AddSeconds(clock.GetProperty("OwnAheadSeconds").GetDouble())
            : null;
}
