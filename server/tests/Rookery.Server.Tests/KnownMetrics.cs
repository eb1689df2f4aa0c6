using System.Text.RegularExpressions;
using Rookery.Board;
using Rookery.Documents.Consensus;
using Rookery.Server.Alerts;
using Rookery.Server.Operations;
using Rookery.Server.Tests.Access;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>The names of the metrics that nodes export, and of those that a PromQL expression uses.</summary>
internal static partial class KnownMetrics
{
    // The words of PromQL that look like names of metrics.
    private static readonly HashSet<string> Keywords = new(StringComparer.Ordinal)
    {
        "on",
        "by",
        "and",
        "or",
        "unless",
        "ignoring",
        "without",
        "group_left",
        "group_right",
        "bool",
        "offset",
    };

    /// <summary>
    /// Returns the names of all metrics, from /metrics of a node that exports as many as one node can: it has TLS, a
    /// board, two slots, a backup and requests. The metrics of a leader are added.
    /// </summary>
    public static async Task<HashSet<string>> ReadAsync()
    {
        using var watch = new BoardWatch(
            new SimulatedBoard
            {
                Next = new BoardReading
                {
                    TemperatureCelsius = 50,
                    KnownFlags = Throttling.All,
                    FrequencyHertz = 1,
                    MaximumFrequencyHertz = 1,
                },
                Storage =
                [
                    new StorageReading("mmcblk0")
                    {
                        WrittenBytes = 1,
                        LifeUsedA = 0.1,
                        LifeUsedB = 0.1,
                        SpareBlocksUsed = 1,
                        Card = new CardRegisters(
                            "MMC",
                            Name: null,
                            ManufacturerId: null,
                            OemId: null,
                            Date: null,
                            Classes: null
                        ),
                    },
                ],
            },
            new SimulatedTimeProvider()
        );
        var node = new SecureServer
        {
            Board = watch,
            JournalDirectory = "/journal",
            MachineNotes = static () =>
                new MachineNotes(DateTimeOffset.UnixEpoch.AddYears(50), IsSlotOnTrial: false, HasSlotFallenBack: false)
                {
                    ImageRelease = "0.2.0+os20261126.1412",
                    PackagesLocked = DateTimeOffset.UnixEpoch.AddYears(50),
                },
        };
        await node.InitializeAsync();
        try
        {
            // The second answer also has the metrics of requests, because the first request was one.
            var first = await node.SendAsync("GET", "/metrics", SecureServer.LocalKey);
            var second = await node.SendAsync("GET", "/metrics", SecureServer.LocalKey);
            Assert.Equal((200, 200), (first.Status, second.Status));
            var text = new PrometheusText();
            ClusterHealth.Add(text, StatisticsOfLeader());
            return [.. Family().Matches(second.Body + text).SelectMany(NamesOf)];
        }
        finally
        {
            await node.DisposeAsync();
        }
    }

    /// <summary>Returns the metrics in a PromQL expression, without functions, keywords and labels.</summary>
    public static IEnumerable<string> In(string expression) =>
        Name()
            .Matches(NotMetrics().Replace(expression, string.Empty))
            .Select(static match => match.Value)
            .Where(static name => !Keywords.Contains(name));

    /// <summary>Returns the name of a metric in the manual: without the suffix of a histogram or summary.</summary>
    public static string FamilyOf(string name) => Suffix().Replace(name, string.Empty);

    /// <summary>Returns the names of the samples of a metric, from its line <c># TYPE</c>.</summary>
    private static IEnumerable<string> NamesOf(Match family)
    {
        string name = family.Groups["name"].Value;
        return family.Groups["type"].Value is "histogram" ? [name + "_bucket", name + "_sum", name + "_count"] : [name];
    }

    private static ConsensusStatistics StatisticsOfLeader() =>
        new(
            "Leader",
            Term: 2,
            "A",
            LastIndex: 9,
            LastTerm: 2,
            CommitIndex: 9,
            AppliedIndex: 9,
            SyncMicroseconds: 1,
            ElectionTimeoutMicroseconds: 1,
            Trouble: null,
            [
                new MemberStatistics(
                    new ClusterViewMember(
                        "A",
                        "A",
                        "pi-1",
                        Urls: [],
                        PublicUrl: null,
                        IsVoter: true,
                        IsLeader: true,
                        IsSelf: true
                    ),
                    RecordVersion: 1,
                    IsReachable: true,
                    LagEntries: 0,
                    SyncMicroseconds: 1
                )
                {
                    SpareBytes = 1,
                },
            ]
        )
        {
            Clock = new ClockStatistics(new ClusterTime(UtcTicks: 1, IsSure: true), null, 0, IsOwnSynchronised: true),
            Capacity = new ClusterCapacity("A", SpareBytes: 1, Refusal: null),
        };

    [GeneratedRegex(
        @"^# TYPE (?<name>\w+) (?<type>\w+)$",
        RegexOptions.Multiline | RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Family();

    [GeneratedRegex(
        "(?<=_duration_seconds)_(bucket|sum|count)$",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Suffix();

    // Label matchers, ranges, variables of Grafana, labels after by and on, and numbers.
    [GeneratedRegex(
        @"\{[^}]*\}|\[[^\]]*\]|\$\w+|\b(by|on|without|ignoring|group_left|group_right)\s*\([^)]*\)|\b[0-9.]+\b|""[^""]*""",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex NotMetrics();

    [GeneratedRegex(@"[a-zA-Z_:]\w*\b(?!\s*\()", RegexOptions.CultureInvariant, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Name();
}
