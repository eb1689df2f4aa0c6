using System.Globalization;
using System.Text.RegularExpressions;
using Rookery.Board;
using Rookery.Documents.Consensus;
using Rookery.Platform;
using Rookery.Server.Alerts;

namespace Rookery.Server.Tests.Alerts;

/// <summary>The alerts, and the files that are written from them or describe them.</summary>
public sealed partial class AlertCatalogueTests
{
    private static readonly DateTimeOffset Now = new(2026, 11, 25, 12, 0, 0, TimeSpan.Zero);

    [Fact]
    public void Unreadable_attachments_are_reported_in_a_sentence_of_their_own()
    {
        var damage = AlertCatalogue.All.Single(static alert => alert.Name is "damage");
        string contents = damage.Judge!(HealthyFacts() with { UnreadableContents = 2 })!;
        Assert.StartsWith(
            "This node cannot read 2 contents of attachments: upload",
            contents,
            StringComparison.Ordinal
        );
        string both = damage.Judge!(HealthyFacts() with { DamagedPlaces = 1, UnreadableContents = 2 })!;
        Assert.Equal("This node found 1 damaged place on its card. " + contents, both);
    }

    [Fact]
    public void The_rules_file_of_the_ansible_collection_matches_the_alert_catalogue() =>
        Assert.Equal(
            PrometheusRules.Write(),
            File.ReadAllText(Path.Join(Repository.Root, "ansible/roles/monitoring/files/rookery.rules.yml"))
        );

    [Fact]
    public void The_manual_has_a_matching_section_for_every_alert()
    {
        string page = File.ReadAllText(Path.Join(Repository.Root, "docs/reference/alerts.md"));
        var sections = Section()
            .Matches(page)
            .ToDictionary(
                static match => match.Groups["name"].Value,
                static match => match.Groups["text"].Value,
                StringComparer.Ordinal
            );
        Assert.Equal(AlertCatalogue.All.Select(static alert => alert.Name), sections.Keys);
        Assert.All(
            AlertCatalogue.All,
            alert =>
            {
                string text = sections[alert.Name];
                Assert.StartsWith($"{alert.Sentence} {HeadOf(alert)}\n", text, StringComparison.Ordinal);
                Assert.Contains($"\n    {alert.Expression}\n", text, StringComparison.Ordinal);
                Assert.Contains($"\n**What to do.** {alert.Fix}\n", text, StringComparison.Ordinal);
            }
        );
    }

    [Fact]
    public void Names_and_severities_are_well_formed()
    {
        Assert.Equal(
            AlertCatalogue.All.Count,
            AlertCatalogue.All.Select(static alert => alert.Name).Distinct(StringComparer.Ordinal).Count()
        );
        Assert.All(
            AlertCatalogue.All,
            static alert =>
            {
                Assert.Matches("^[a-z]+(_[a-z]+)*$", alert.Name);
                Assert.True(
                    alert.Severity is AlertSeverity.Warning or AlertSeverity.Critical,
                    $"{alert.Name} has a known severity"
                );
                Assert.EndsWith(".", alert.Sentence, StringComparison.Ordinal);
                Assert.EndsWith(".", alert.Fix, StringComparison.Ordinal);
            }
        );
        Assert.Equal(
            "RookerySyncSlow",
            AlertCatalogue.All.Single(static alert => alert.Name is "sync_slow").PrometheusName
        );
    }

    /// <summary>
    /// Reads the metrics of a member with TLS, a board with all readings, two software slots and a backup.
    /// </summary>
    [Fact]
    public async Task Every_metric_in_an_alerts_expression_is_exported_by_a_node()
    {
        var exported = await KnownMetrics.ReadAsync();
        var used = AlertCatalogue
            .All.SelectMany(static alert => KnownMetrics.In(alert.Expression))
            .ToHashSet(StringComparer.Ordinal);
        Assert.True(used.Count > 15, "the metrics in the expressions are found");
        // The node here serves no Redis clients; Rookery.Redis.Tests looks for the metrics about them.
        Assert.DoesNotContain(
            used,
            name =>
                !exported.Contains(name)
                && name is not "up"
                && !name.StartsWith("rookery_redis_", StringComparison.Ordinal)
        );
    }

    [Theory]
    [InlineData("not_serving", "This node serves no documents: It opens.")]
    [InlineData("halted", "This node takes no part in its cluster any more: It was removed.")]
    [InlineData("no_writes", "This node accepts no writes: No leader is known here.")]
    [InlineData("damage", "This node found 1 damaged place on its card.")]
    [InlineData("disk_full", "This node's card is full; it has 100 MiB free, less than its reserve of 256 MiB.")]
    [InlineData("no_margin", "Writes stop if one more voter fails: 2 of 3 run, and writes need as many.")]
    [InlineData(
        "member_down",
        "pi-B (B) does not answer the leader. It last answered 1 min 30 s ago. pi-C (C) does not answer the leader."
    )]
    [InlineData("member_lag", "pi-B (B) is 10,001 entries behind.")]
    [InlineData("sync_slow", "One sync of the journal in a hundred takes more than 600.0 ms here.")]
    [InlineData("card_worn", "mmcblk0 reports that it has used 90 % of its life.")]
    [InlineData("throttled", "The firmware slows this board's processor down (82 °C now).")]
    [InlineData("hot", "This board has 82 °C: background work pauses from 80 °C on.")]
    [InlineData("storage_fails", "A flush or merge fails and is retried: The card is read-only.")]
    [InlineData("index_trouble", "An index of this node cannot continue: shop/Orders: no room")]
    [InlineData(
        "redis_unknown",
        "In the last five minutes this node could not tell Redis clients of 1 command whether it was carried out."
    )]
    [InlineData(
        "redis_refused",
        "In the last five minutes this node refused 3 connections of Redis clients: it serves 240 at once, and fewer "
            + "of one address."
    )]
    [InlineData(
        "redis_slow_clients",
        "In the last five minutes this node disconnected 2 Redis clients that did not read replies or messages."
    )]
    [InlineData("clock_in_doubt", "The cluster's time is in doubt, and nothing expires: Clocks differ.")]
    [InlineData("clock_off", "This machine's clock is 1 min 1 s behind the cluster's time.")]
    [InlineData(
        "certificate_ends",
        "The node's certificate for clients expires on 2026-12-20: its renewal is overdue."
    )]
    [InlineData("backup_old", "The last backup that this node knows of was taken 3.5 days ago.")]
    [InlineData(
        "slot_not_committed",
        "The system that this machine runs is an update on trial that was not committed."
    )]
    [InlineData(
        "packages_old",
        "The system packages of this machine (0.2.0+os20260701.1200) are of 2026-08-26, 91 days old."
    )]
    [InlineData("slot_fell_back", "An update of this machine failed to start, and the previous system runs.")]
    public void An_alert_is_judged_by_the_nodes_own_facts_and_names_its_figures(string name, string sentence)
    {
        var alert = AlertCatalogue.Find(name)!;
        Assert.Equal(
            sentence,
            string.Join(' ', alert.Evaluate(FactsThatRaise(name)).Select(static finding => finding.Sentence))
        );
        Assert.Empty(alert.Evaluate(HealthyFacts()));
    }

    [Fact]
    public void Alerts_about_the_cluster_are_reported_by_the_leader_only()
    {
        var follower = ClusterLedBy(
            "B",
            "Follower",
            CreateMember("A", isLeader: true),
            CreateMember("B", isSelf: true),
            CreateMember("C")
        );
        string[] ofLeader = ["no_margin", "member_down", "member_lag", "backup_old"];
        Assert.All(
            ofLeader,
            name => Assert.Empty(AlertCatalogue.Find(name)!.Evaluate(FactsThatRaise(name) with { Cluster = follower }))
        );
        Assert.Equal(
            ofLeader,
            AlertCatalogue.All.Where(static alert => alert.IsOfCluster).Select(static alert => alert.Name)
        );
    }

    [Theory]
    [InlineData(0.9, null, null, "90 % of its life")]
    [InlineData(0.2, 0.3, 2, "30 % of its life and most of its spare blocks")]
    [InlineData(null, null, 2, "most of its spare blocks")]
    public void A_worn_card_is_described_by_what_it_reports(double? lifeA, double? lifeB, int? spare, string used)
    {
        var worn = new StorageReading("mmcblk0")
        {
            LifeUsedA = lifeA,
            LifeUsedB = lifeB,
            SpareBlocksUsed = spare,
        };
        var judge = AlertCatalogue.All.Single(static alert => alert.Name is "card_worn").Judge!;
        Assert.Equal($"mmcblk0 reports that it has used {used}.", judge(HealthyFacts() with { Devices = [worn] }));
    }

    [Fact]
    public void A_missing_backup_is_reported_after_three_days()
    {
        var judge = AlertCatalogue.All.Single(static alert => alert.Name is "backup_old").Judge!;
        Assert.Null(judge(HealthyFacts() with { Notes = MachineNotes.None, Uptime = TimeSpan.FromDays(2.9) }));
        Assert.Equal(
            "No backup is known to this node since it started 4 days ago.",
            judge(HealthyFacts() with { Notes = MachineNotes.None, Uptime = TimeSpan.FromDays(4) })
        );
    }

    // Returns the facts of a healthy node with one difference, for which the alert fires.
    private static AlertFacts FactsThatRaise(string name) =>
        name switch
        {
            "not_serving" => HealthyFacts() with { NotServing = "It opens." },
            "halted" => HealthyFacts() with
            {
                Cluster = ClusterLedBy("A", ConsensusStatistics.NoRole) with { Trouble = "It was removed." },
            },
            "no_writes" => HealthyFacts() with
            {
                Cluster = ClusterLedBy("A", "Follower", CreateMember("A", isSelf: true)) with
                {
                    Trouble = "No leader is known here.",
                },
            },
            "damage" => HealthyFacts() with { DamagedPlaces = 1 },
            "disk_full" => HealthyFacts() with
            {
                Space = new ReserveState(FreeBytes: 100 << 20, NeededBytes: 256 << 20),
            },
            "no_margin" => HealthyFacts() with
            {
                Cluster = LedByA(
                    CreateMember("B") with
                    {
                        IsReachable = false,
                    },
                    CreateMember("C") with
                    {
                        IsReachable = true,
                    }
                ),
            },
            "member_down" => HealthyFacts() with
            {
                Cluster = LedByA(
                    CreateMember("B") with
                    {
                        IsReachable = false,
                        HeardSeconds = 90,
                    },
                    CreateMember("C") with
                    {
                        IsReachable = false,
                    }
                ),
            },
            "member_lag" => HealthyFacts() with
            {
                Cluster = LedByA(
                    CreateMember("B") with
                    {
                        IsReachable = true,
                        LagEntries = 10_001,
                    },
                    CreateMember("C") with
                    {
                        IsReachable = true,
                        LagEntries = 10_000,
                    }
                ),
            },
            "sync_slow" => HealthyFacts() with { SyncMicroseconds = 600_000 },
            "card_worn" => HealthyFacts() with
            {
                Devices = [new StorageReading("mmcblk0") { LifeUsedA = 0.9, LifeUsedB = 0.1 }],
            },
            "throttled" or "hot" => HealthyFacts() with
            {
                Board = new BoardReading
                {
                    KnownFlags = Throttling.All,
                    Now = Throttling.Throttled,
                    TemperatureCelsius = 82,
                },
            },
            "storage_fails" => HealthyFacts() with { StorageTrouble = "The card is read-only." },
            "index_trouble" => HealthyFacts() with { IndexTroubles = ["shop/Orders: no room"] },
            "redis_unknown" => HealthyFacts() with { Redis = QuietRedis with { UnknownOutcomes = 1 } },
            "redis_refused" => HealthyFacts() with { Redis = QuietRedis with { Refused = 3 } },
            "redis_slow_clients" => HealthyFacts() with { Redis = QuietRedis with { SlowClients = 2 } },
            "clock_in_doubt" => HealthyFacts() with
            {
                Cluster = LedByA() with
                {
                    Clock = new ClockStatistics(
                        new ClusterTime(Now.Ticks, IsSure: false),
                        "Clocks differ.",
                        0,
                        IsOwnSynchronised: false
                    ),
                },
            },
            "clock_off" => HealthyFacts() with
            {
                Cluster = LedByA() with
                {
                    Clock = new ClockStatistics(
                        new ClusterTime(Now.Ticks, IsSure: true),
                        null,
                        -61,
                        IsOwnSynchronised: false
                    ),
                },
            },
            "certificate_ends" => HealthyFacts() with { CertificateEnds = Now.AddDays(25) },
            "backup_old" => HealthyFacts() with { Notes = MachineNotes.None with { LastBackup = Now.AddDays(-3.5) } },
            "packages_old" => HealthyFacts() with
            {
                Notes = HealthyFacts().Notes with
                {
                    ImageRelease = "0.2.0+os20260701.1200",
                    PackagesLocked = Now.AddDays(-91),
                },
            },
            "slot_not_committed" => HealthyFacts() with { Notes = HealthyFacts().Notes with { IsSlotOnTrial = true } },
            _ => HealthyFacts() with { Notes = HealthyFacts().Notes with { HasSlotFallenBack = true } },
        };

    private static readonly RedisFacts QuietRedis = new(
        UnknownOutcomes: 0,
        Refused: 0,
        SlowClients: 0,
        MaxClients: 240
    );

    private static AlertFacts HealthyFacts() =>
        new()
        {
            Now = Now,
            Cluster = LedByA(
                CreateMember("B") with
                {
                    IsReachable = true,
                    LagEntries = 5,
                },
                CreateMember("C") with
                {
                    IsReachable = true,
                    LagEntries = 0,
                }
            ),
            Space = new ReserveState(FreeBytes: 8L << 30, NeededBytes: 256 << 20),
            Board = new BoardReading { KnownFlags = Throttling.All, TemperatureCelsius = 55 },
            Devices =
            [
                new StorageReading("mmcblk0")
                {
                    LifeUsedA = 0.2,
                    LifeUsedB = 0.1,
                    SpareBlocksUsed = 1,
                },
            ],
            SyncMicroseconds = 20_000,
            CertificateEnds = Now.AddDays(200),
            Redis = QuietRedis,
            Notes = new MachineNotes(Now.AddDays(-1), IsSlotOnTrial: false, HasSlotFallenBack: false)
            {
                ImageRelease = "0.2.0+os20261101.1200",
                PackagesLocked = Now.AddDays(-89),
            },
        };

    private static ConsensusStatistics LedByA(params MemberStatistics[] others) =>
        ClusterLedBy(
            "A",
            "Leader",
            [CreateMember("A", isSelf: true, isLeader: true) with { IsReachable = true }, .. others]
        );

    private static ConsensusStatistics ClusterLedBy(string leader, string role, params MemberStatistics[] members) =>
        new(
            role,
            Term: 2,
            leader,
            LastIndex: 9,
            LastTerm: 2,
            CommitIndex: 9,
            AppliedIndex: 9,
            SyncMicroseconds: null,
            ElectionTimeoutMicroseconds: 1,
            Trouble: null,
            members
        )
        {
            Clock = new ClockStatistics(new ClusterTime(Now.Ticks, IsSure: true), null, 0.5, IsOwnSynchronised: true),
        };

    private static MemberStatistics CreateMember(string tag, bool isSelf = false, bool isLeader = false) =>
        new(
            new ClusterViewMember(tag, tag, "pi-" + tag, Urls: [], PublicUrl: null, IsVoter: true, isLeader, isSelf),
            RecordVersion: 1,
            IsReachable: null,
            LagEntries: null,
            SyncMicroseconds: null
        );

    // The first words about an alert in the manual: its severity, and when it begins and ends.
    private static string HeadOf(AlertDefinition alert)
    {
        string severity = string.Equals(alert.Severity, AlertSeverity.Critical, StringComparison.Ordinal)
            ? "Critical"
            : "Warning";
        string start = alert.For > TimeSpan.Zero ? $" after {DescribeMinutes(alert.For)}" : " at once";
        string end =
            alert.KeepFiring > TimeSpan.Zero
                ? $"; it ends when the condition was absent for {DescribeMinutes(alert.KeepFiring)}"
                : string.Empty;
        return $"**{severity}**{start}{end}{(!alert.IsOwn ? "; only Prometheus detects it" : string.Empty)}.";
    }

    private static string DescribeMinutes(TimeSpan time) =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{time.TotalMinutes:0} minute{(time == TimeSpan.FromMinutes(1) ? string.Empty : "s")}"
        );

    [GeneratedRegex(
        @"^### (?<name>[a-z_]+)\n\n(?<text>.*?)(?=^##|\z)",
        RegexOptions.Multiline | RegexOptions.Singleline | RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Section();
}
