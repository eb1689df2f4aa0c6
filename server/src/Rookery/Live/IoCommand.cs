using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Live;

/// <summary>`rookery io`: shows the node's recent disk operations and their durations.</summary>
internal static class IoCommand
{
    private const int Seconds = 60;

    // The node's clock counts as set back only if it goes back by more than this.
    private const long ClockToleranceMicroseconds = 10_000_000;

    // A time after all operations, to request only the node's clock: the largest whole number that every JSON program
    // represents exactly.
    private const long AfterAllMicroseconds = (1L << 53) - 1;

    private static readonly TimeSpan PollInterval = TimeSpan.FromSeconds(1);

    public static Command Create()
    {
        var address = new NodeAddress();
        var follow = new Option<bool>("--follow", "-f")
        {
            Description = "Print each disk operation as it happens, until Ctrl+C.",
        };
        var slow = new Option<bool>("--slow")
        {
            Description = "Only operations slower than 99.9 % of their kind and of 10 ms or more.",
        };
        var node = NodeOption();
        var command = address.AddTo(
            new Command(
                "io",
                "Show the node's disk operations of the last minute: rates, bytes, durations, and the slowest sync of "
                    + "each second."
            )
            {
                follow,
                slow,
                node,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    client =>
                    {
                        string path = $"/debug/io?span={Seconds}{NodeParameter(parsed.GetValue(node), '&')}";
                        return parsed.GetValue(follow)
                            ? FollowAsync(
                                client,
                                path,
                                parsed.GetValue(slow),
                                address.IsJson(parsed),
                                TimeProvider.System
                            )
                            : ShowAsync(client, path, parsed.GetValue(slow), address.IsJson(parsed));
                    }
                )
        );
        return command;
    }

    /// <summary>Creates the option that names a member.</summary>
    public static Option<string?> NodeOption() =>
        new("--node")
        {
            Description = "The letter of another member, whose data this node fetches.",
            HelpName = "LETTER",
        };

    /// <summary>
    /// Returns the query parameter that names a member, after the separator; empty for the node itself.
    /// </summary>
    public static string NodeParameter(string? tag, char separator) =>
        tag is null ? string.Empty : $"{separator}node={Uri.EscapeDataString(tag)}";

    private static async Task<int> ShowAsync(NodeClient client, string path, bool isSlow, bool isJson)
    {
        long now = isSlow ? 0 : await ReadClockAsync(client, path) / 1_000_000;
        var answer = await client.GetJsonAsync(
            HttpMethod.Get,
            isSlow ? path : $"{path}&since={(now - Seconds) * 1_000_000}"
        );
        if (isJson)
        {
            Output.Write(answer);
            return ExitCode.Success;
        }

        if (isSlow)
        {
            PrintSlow(IoPage.Read(answer.GetProperty("SlowEvents")));
            return ExitCode.Success;
        }

        var events = IoPage.Read(answer.GetProperty("Events"));
        if (events.Count == 0)
        {
            await Console.Error.WriteLineAsync($"There was no disk operation in the last {Seconds} s.");
            return ExitCode.Success;
        }

        // The node keeps the newest 8,192 events, which may cover less than a minute.
        double span = Math.Clamp(now + 1 - (events.Min(static operation => operation.End) / 1_000_000.0), 1, Seconds);
        Output.Write(TableOf(IoPage.Summarize(events, span)));
        Output.Line(string.Empty);
        Output.Line($"The longest sync of each second, the newest at the right ({Bars()}):");
        Output.Line(
            IoPage.Timeline(
                events.Where(static operation => operation.Kind is "journal_sync"),
                now - Seconds + 1,
                Seconds
            )
        );
        return ExitCode.Success;
    }

    /// <summary>
    /// Returns the node's time, in microseconds since 1970 UTC. The clock of this machine may differ.
    /// </summary>
    private static async Task<long> ReadClockAsync(NodeClient client, string path) =>
        ClockOf(await client.GetJsonAsync(HttpMethod.Get, $"{path}&since={AfterAllMicroseconds}"));

    private static long ClockOf(JsonElement answer) =>
        answer.GetProperty("Events").GetProperty("UntilUnixMicroseconds").GetInt64();

    /// <summary>Returns the legend of the bars.</summary>
    public static string Bars() => "▁ up to 1 ms, ▄ about 20 ms, █ over half a second, · none";

    /// <summary>Formats the kinds of disk work as a table.</summary>
    public static Table TableOf(IReadOnlyList<IoKindSummary> kinds)
    {
        var table = new Table("KIND", ">PER SECOND", ">BYTES/S", ">P50", ">P99", ">LONGEST");
        foreach (var kind in kinds)
        {
            table.Add(
                kind.Kind,
                Amount.Number(Math.Round(kind.PerSecond, 1)),
                Amount.Bytes(kind.BytesPerSecond),
                Amount.Microseconds(kind.P50),
                Amount.Microseconds(kind.P99),
                Amount.Microseconds(kind.Longest)
            );
        }

        return table;
    }

    /// <summary>Formats microseconds since 1970 as UTC date and time.</summary>
    public static string TimeOf(long microseconds) =>
        DateTimeOffset
            .UnixEpoch.AddMicroseconds(microseconds)
            .ToString("yyyy-MM-dd HH:mm:ss.fff", CultureInfo.InvariantCulture);

    private static void PrintSlow(List<IoEvent> events)
    {
        if (events.Count == 0)
        {
            Console.Error.WriteLine("No operation took 10 ms or more and longer than 99.9 % of its kind.");
            return;
        }

        var table = new Table("TIME (UTC)", "KIND", ">DURATION", ">BYTES");
        foreach (var operation in events)
        {
            table.Add(
                TimeOf(operation.Start),
                operation.Kind,
                Amount.Microseconds(operation.Duration),
                Amount.Bytes(operation.Bytes)
            );
        }

        Output.Write(table);
    }

    private static async Task<int> FollowAsync(
        NodeClient client,
        string path,
        bool isSlow,
        bool isJson,
        TimeProvider time
    )
    {
        long since = await ReadClockAsync(client, path);
        while (true)
        {
            var answer = await client.GetJsonAsync(HttpMethod.Get, $"{path}&since={since}");
            long now = ClockOf(answer);
            if (now < since - ClockToleranceMicroseconds)
            {
                // The node's clock was set back. Without this, nothing would be printed until the clock passes the time
                // of the last operation.
                since = now - ((long)PollInterval.TotalMicroseconds * 2);
                continue;
            }

            var unseen = IoPage
                .Read(answer.GetProperty(isSlow ? "SlowEvents" : "Events"))
                .FindAll(operation => operation.End > since);
            foreach (var operation in unseen.OrderBy(static operation => operation.End))
            {
                since = Math.Max(since, operation.End);
                Output.Line(
                    isJson
                        ? ToJson(operation)
                        : $"{TimeOf(operation.Start)}  {operation.Kind, -13}  "
                            + $"{Amount.Microseconds(operation.Duration), 9}  {Amount.Bytes(operation.Bytes), 9}"
                );
            }

            await Task.Delay(PollInterval, time);
            Output.Stream.ThrowIfUnread();
        }
    }

    private static string ToJson(IoEvent operation) =>
        Clusters.JsonLine.Of(json =>
        {
            json.WriteString("Kind"u8, operation.Kind);
            json.WriteNumber("StartUnixMicroseconds"u8, operation.Start);
            json.WriteNumber("DurationMicroseconds"u8, operation.Duration);
            json.WriteNumber("Bytes"u8, operation.Bytes);
        });
}
