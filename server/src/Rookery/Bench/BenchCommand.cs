using System.CommandLine;
using System.Globalization;
using System.Security.Cryptography;
using Rookery.Access;
using Rookery.Data;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Live;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Bench;

/// <summary>`rookery bench`: runs a small load in a temporary database and prints throughput and latencies.</summary>
internal static class BenchCommand
{
    private const string NamePrefix = "rookery-bench-";

    // The least time between two requests of a connection if a sync took no time, measured on a PC.
    private const double LeastRoundSeconds = 0.0003;

    public static Command Create()
    {
        var address = new NodeAddress();
        var seconds = WholeNumber.Option("--seconds", "How long [default: 5].", "SECONDS", least: 1, most: 600);
        var connections = WholeNumber.Option(
            "--connections",
            "How many requests at once, each over its own connection [default: 16].",
            "NUMBER",
            least: 1,
            most: 512
        );
        var kind = new Option<string>("--kind")
        {
            Description = "The kind of request: put, get or query.",
            HelpName = "KIND",
            DefaultValueFactory = static _ => "put",
        };
        var command = address.AddTo(
            new Command(
                "bench",
                "Load a node for some seconds, in a temporary database. Writes to the disks of all members."
            )
            {
                seconds,
                connections,
                kind,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    client =>
                    {
                        var work = parsed.GetValue(kind)! switch
                        {
                            "put" => BenchKind.Put,
                            "get" => BenchKind.Get,
                            "query" => BenchKind.Query,
                            var other => throw new AdminException(
                                $"--kind must be put, get or query, not \"{other}\".",
                                ExitCode.Configuration
                            ),
                        };
                        return RunAsync(
                            client,
                            work,
                            parsed.GetValue(seconds) ?? 5,
                            parsed.GetValue(connections) ?? 16,
                            address.IsJson(parsed),
                            TimeProvider.System
                        );
                    }
                )
        );
        return command;
    }

    private static async Task<int> RunAsync(
        NodeClient client,
        BenchKind kind,
        int seconds,
        int connections,
        bool isJson,
        TimeProvider time
    )
    {
        string database = NamePrefix + Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(4));
        var before = await WrittenBytes.ReadAsync(client);
        await Console.Error.WriteLineAsync(Warning(kind, before, seconds, connections));
        BenchResult result;
        using (var stop = new StopSignal())
        {
            await DatabaseCommand.MakeAsync(client, database);
            try
            {
                var load = new BenchLoad(client, database, kind, connections, time);
                await load.PrepareAsync();
                result = await load.RunAsync(TimeSpan.FromSeconds(seconds), stop.Received);
            }
            finally
            {
                await DatabaseCommand.DeleteAsync(client, database);
            }

            if (stop.Received.IsCompleted)
            {
                await Console.Error.WriteLineAsync($"Interrupted; the database {database} was removed.");
                return EndingSignals.ExitCodeOf(await stop.Received);
            }
        }

        long? written =
            before is not null && await WrittenBytes.ReadAsync(client) is { } after ? after.Bytes - before.Bytes : null;
        Print(result, kind, connections, written, isJson);
        return result.Done > 0
            ? ExitCode.Success
            : await Refusal.WriteAsync($"No request succeeded: {result.FirstFailure}", ExitCode.Failure);
    }

    /// <summary>
    /// Returns a warning with an upper bound of the bytes that the load writes. All connections share a sync, and each
    /// sync writes blocks of 4 KiB. The disk's sync time limits the number of syncs. For a disk that only claims to
    /// sync, the time of a request through client and node limits that number.
    /// </summary>
    internal static string Warning(BenchKind kind, WrittenBytes? before, int seconds, int connections)
    {
        double prepared = kind is BenchKind.Put ? 0 : BenchLoad.PreparedDocuments * (double)BenchLoad.DocumentBytes;
        if (kind is not BenchKind.Put)
        {
            return $"This writes about {Amount.Bytes(3 * prepared)} to the disk of each member before the load begins.";
        }

        // A sync of the journal rounds up to blocks of 4 KiB: at most two blocks more than the documents.
        double bytesPerRound = (2 * 4096) + (connections * BenchLoad.DocumentBytes);
        double syncSeconds = before?.SyncSeconds ?? 0;
        double mostBytes = seconds / (syncSeconds + LeastRoundSeconds) * bytesPerRound;
        string most =
            syncSeconds > 0 ? $", at most about {Amount.Bytes(mostBytes)} at the rate of its syncs" : string.Empty;
        return $"This writes to the disk of each member for {seconds} s{most}, which wears SD cards.";
    }

    private static void Print(BenchResult result, BenchKind kind, int connections, long? written, bool isJson)
    {
        string name = kind.ToString().ToLowerInvariant();
        double perSecond = result.Done / result.Seconds;
        if (isJson)
        {
            Output.Line(
                Clusters.JsonLine.Of(json =>
                {
                    json.WriteString("Kind"u8, name);
                    json.WriteNumber("Connections"u8, connections);
                    json.WriteNumber("Seconds"u8, Math.Round(result.Seconds, 3));
                    json.WriteNumber("Done"u8, result.Done);
                    json.WriteNumber("Failed"u8, result.Failed);
                    json.WriteNumber("PerSecond"u8, Math.Round(perSecond, 1));
                    json.WriteStartObject("LatencyMicroseconds"u8);
                    foreach (var (label, share) in BenchResult.Shares)
                    {
                        json.WriteNumber(label, result.Percentile(share));
                    }

                    json.WriteEndObject();
                    if (written is { } bytes)
                    {
                        json.WriteNumber("WrittenBytes"u8, bytes);
                    }
                    else
                    {
                        json.WriteNull("WrittenBytes"u8);
                    }
                })
            );
            return;
        }

        string failed =
            result.Failed == 0
                ? string.Empty
                : $", {Amount.Number(result.Failed)} failed ({VisibleText.OfLine(result.FirstFailure!)})";
        Output.Line(
            $"{Amount.Number(Math.Round(perSecond))} {(name is "query" ? "queries" : name + "s")} a second "
                + $"over {Amount.Of(connections, "connection")}, "
                + $"{Amount.Number(result.Done)} in "
                + $"{result.Seconds.ToString("0.0", CultureInfo.InvariantCulture)} s{failed}."
        );
        Output.Line(
            string.Join(
                ", ",
                BenchResult.Shares.Select(share =>
                    $"{share.Label} {Amount.Microseconds(result.Percentile(share.Share))}"
                )
            )
        );
        if (written is { } total)
        {
            Output.Line($"The node wrote {Amount.Bytes(total)} in all.");
        }
    }
}

/// <summary>The kind of request.</summary>
internal enum BenchKind
{
    Put,
    Get,
    Query,
}

/// <summary>The result of a load.</summary>
/// <param name="Seconds">The duration of the load in seconds.</param>
/// <param name="Ordered">The latencies of successful requests, in microseconds, ascending.</param>
/// <param name="Failed">The number of failed requests.</param>
/// <param name="FirstFailure">The reason of the first failure; null for none.</param>
internal sealed record BenchResult(double Seconds, IReadOnlyList<long> Ordered, long Failed, string? FirstFailure)
{
    /// <summary>The printed percentiles.</summary>
    public static readonly IReadOnlyList<(string Label, double Share)> Shares =
    [
        ("p50", 0.5),
        ("p90", 0.9),
        ("p99", 0.99),
        ("p99.9", 0.999),
        ("longest", 1),
    ];

    /// <summary>The number of successful requests.</summary>
    public int Done => Ordered.Count;

    /// <summary>Returns a percentile of the latencies, in microseconds; <paramref name="share"/> is 0 to 1.</summary>
    public long Percentile(double share) => IoPage.Percentile(Ordered, share);
}
