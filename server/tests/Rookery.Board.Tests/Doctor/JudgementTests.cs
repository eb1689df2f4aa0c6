using Rookery.Board.Doctor;
using static Rookery.Board.Tests.Doctor.HealthyMachine;

namespace Rookery.Board.Tests.Doctor;

/// <summary>The doctor's findings: one for each problem, with its fix.</summary>
public sealed class JudgementTests
{
    private static readonly string[] Subjects =
    [
        "node",
        "power",
        "temperature",
        "card",
        "disk",
        "space",
        "clock",
        "certificate",
        "ports",
        "ports",
        "mdns",
        "network",
    ];

    [Fact]
    public void A_healthy_machine_gets_a_good_judgement_of_each_subject()
    {
        var findings = Judgement.Of(Well);
        Assert.Equal(Subjects, findings.Select(static finding => finding.Subject));
        Assert.All(findings, static finding => Assert.Equal((Severity.Ok, null), (finding.Severity, finding.Fix)));
    }

    public static TheoryData<string, Severity, string, DoctorFacts> Troubles =>
        new()
        {
            {
                "node",
                Severity.Warning,
                "No node answers at",
                Well with
                {
                    Node = Well.Node! with { NoAnswerReason = "No node answers at https://127.0.0.1 (refused)." },
                }
            },
            {
                "node",
                Severity.Error,
                "does not serve: The disk",
                Well with
                {
                    Node = Well.Node! with { Reason = "The disk is gone." },
                }
            },
            {
                "node",
                Severity.Error,
                "No majority",
                Well with
                {
                    Node = Well.Node! with { ClusterTrouble = "No majority of the members is reachable." },
                }
            },
            {
                "node",
                Severity.Error,
                "below its reserve",
                Well with
                {
                    Node = Well.Node! with { GrowthRefusal = "Its free space of 28 MiB is below its reserve." },
                }
            },
            {
                "connections",
                Severity.Warning,
                "reset 12 connections since it started, the last one 30 s ago, because one address already had 64",
                Well with
                {
                    Node = Well.Node! with { RefusedConnections = new(12, 64, TimeSpan.FromSeconds(30)) },
                }
            },
            {
                "connections",
                Severity.Notice,
                "reset 1 connection since it started",
                Well with
                {
                    Node = Well.Node! with { RefusedConnections = new(1, 64, TimeSpan.FromHours(2)) },
                }
            },
            {
                "power",
                Severity.Error,
                "below 4.63 V now",
                Well with
                {
                    Reading = Well.Reading with { Now = Throttling.UnderVoltage | Throttling.Throttled },
                }
            },
            {
                "power",
                Severity.Warning,
                "throttles the processor now",
                Well with
                {
                    Reading = Well.Reading with { Now = Throttling.FrequencyCapped },
                }
            },
            {
                "power",
                Severity.Warning,
                "fell below 4.63 V since",
                Well with
                {
                    Reading = Well.Reading with { SinceBoot = Throttling.UnderVoltage },
                }
            },
            {
                "power",
                Severity.Warning,
                "fell below 4.63 V since",
                Well with
                {
                    Reading = new BoardReading { TemperatureCelsius = 50, SinceBoot = Throttling.UnderVoltage },
                }
            },
            {
                "power",
                Severity.Notice,
                "throttled the processor since",
                Well with
                {
                    Reading = Well.Reading with { SinceBoot = Throttling.Throttled },
                }
            },
            {
                "power",
                Severity.Notice,
                "does not report under-voltage",
                Well with
                {
                    Reading = new BoardReading { TemperatureCelsius = 50 },
                }
            },
            {
                "temperature",
                Severity.Notice,
                "does not report its temperature",
                Well with
                {
                    Reading = new BoardReading { KnownFlags = Throttling.All },
                }
            },
            {
                "temperature",
                Severity.Notice,
                "71 °C",
                Well with
                {
                    Reading = Well.Reading with { TemperatureCelsius = 71 },
                }
            },
            {
                "temperature",
                Severity.Warning,
                "80 °C: background work pauses",
                Well with
                {
                    Reading = Well.Reading with { TemperatureCelsius = 80 },
                }
            },
            {
                "card",
                Severity.Notice,
                "speed classes the kernel does not show",
                Well with
                {
                    Storage = [CardOf(null)],
                }
            },
            {
                "card",
                Severity.Notice,
                "(class 10, U3) without a guaranteed rate of small writes",
                Well with
                {
                    Storage = [CardOf(new SdClasses(Speed: 10, Uhs: 3, Video: 0, Application: 0))],
                }
            },
            {
                "card",
                Severity.Warning,
                "slow SD card (class 4)",
                Well with
                {
                    Storage = [CardOf(new SdClasses(Speed: 4, Uhs: 0, Video: 0, Application: 0))],
                }
            },
            { "card", Severity.Warning, "near the end of its life", Well with { Storage = [EmmcOf(0.9, 1)] } },
            { "card", Severity.Warning, "near the end of its life", Well with { Storage = [EmmcOf(0.1, 2)] } },
            { "card", Severity.Error, "worn out", Well with { Storage = [EmmcOf(1.1, 1)] } },
            { "card", Severity.Error, "worn out", Well with { Storage = [EmmcOf(null, 3)] } },
            {
                "disk",
                Severity.Notice,
                "stall less often",
                Well with
                {
                    Probe = Well.Probe! with { SlowSyncMilliseconds = 400 },
                }
            },
            {
                "disk",
                Severity.Warning,
                "That is slow",
                Well with
                {
                    Probe = Well.Probe! with { MedianSyncMilliseconds = 150 },
                }
            },
            {
                "disk",
                Severity.Warning,
                "That is slow",
                Well with
                {
                    Probe = Well.Probe! with { BytesPerSecond = 2e6 },
                }
            },
            { "disk", Severity.Warning, "not probed: no room", Well with { Probe = null, ProbeRefusal = "no room." } },
            {
                "space",
                Severity.Warning,
                "short soon",
                Well with
                {
                    Space = [new SpaceFacts("/d", 1_500 * Mebibyte, 1_000 * Mebibyte)],
                }
            },
            {
                "space",
                Severity.Error,
                "999 MiB are free in /d, and the node's reserve is 1000 MiB: writes",
                Well with
                {
                    Space = [new SpaceFacts("/d", 999 * Mebibyte, 1_000 * Mebibyte)],
                }
            },
            {
                "clock",
                Severity.Error,
                "1970-01-01: it was never set",
                Well with
                {
                    Now = DateTimeOffset.UnixEpoch.AddMinutes(5),
                }
            },
            {
                "clock",
                Severity.Warning,
                "1 h 0 min behind the cluster's time",
                Well with
                {
                    ClockAheadSeconds = -3600,
                }
            },
            { "clock", Severity.Warning, "not synchronised", Well with { IsClockSynchronised = false } },
            {
                "clock",
                Severity.Warning,
                "in doubt",
                Well with
                {
                    Node = Well.Node! with { ClockDoubt = "The cluster's time is in doubt." },
                }
            },
            {
                "certificate",
                Severity.Warning,
                "expires on 2026-12-01",
                Well with
                {
                    CertificateEnds = new DateTimeOffset(2026, 12, 1, 0, 0, 0, TimeSpan.Zero),
                }
            },
            {
                "certificate",
                Severity.Error,
                "expired on 2026-11-01",
                Well with
                {
                    CertificateEnds = new DateTimeOffset(2026, 11, 1, 0, 0, 0, TimeSpan.Zero),
                }
            },
            {
                "certificate",
                Severity.Warning,
                "cannot be used",
                Well with
                {
                    CertificateTrouble = "/d/cluster cannot be used.",
                }
            },
            {
                "ports",
                Severity.Error,
                "listens on its port 443, for clients",
                Well with
                {
                    Ports = [new PortFacts(Port: 443, "clients", IsTaken: true)],
                }
            },
            {
                "ports",
                Severity.Notice,
                "443, for clients, accepts connections from this machine only",
                Well with
                {
                    OpenPorts = [Well.OpenPorts[0] with { IsOnlyLocal = true }],
                }
            },
            {
                "ports",
                Severity.Warning,
                "no member is connected to port 9443 here",
                Well with
                {
                    OpenPorts = [Well.OpenPorts[1] with { Callers = 0 }],
                }
            },
            {
                "mdns",
                Severity.Notice,
                "not installed",
                Well with
                {
                    Mdns = new MdnsFacts(Trouble: null, IsMissing: true, Nodes: 0, Others: 0, IsOwnAnnounced: null),
                }
            },
            {
                "mdns",
                Severity.Warning,
                "does not answer: Daemon not running",
                Well with
                {
                    Mdns = new MdnsFacts(
                        "Daemon not running",
                        IsMissing: false,
                        Nodes: 0,
                        Others: 0,
                        IsOwnAnnounced: null
                    ),
                }
            },
            {
                "mdns",
                Severity.Notice,
                "but not this one",
                Well with
                {
                    Mdns = Well.Mdns! with { IsOwnAnnounced = false },
                }
            },
            {
                "mdns",
                Severity.Notice,
                "shows none of the other nodes, although 2 of them can be reached",
                Well with
                {
                    Mdns = Well.Mdns! with { Others = 0 },
                }
            },
            {
                "network",
                Severity.Error,
                "The router 192.168.1.1 answers, and none of the other nodes does (2 are known)",
                Well with
                {
                    Network = Well.Network! with { PeersReached = 0 },
                }
            },
            {
                "network",
                Severity.Error,
                "Neither the router",
                Well with
                {
                    Network = Well.Network! with { PeersReached = 0, GatewayAnswers = false },
                }
            },
            {
                "network",
                Severity.Error,
                "It is not known whether the router 192.168.1.1 answers",
                Well with
                {
                    Network = Well.Network! with { PeersReached = 0, GatewayAnswers = null },
                }
            },
            {
                "network",
                Severity.Error,
                "no default gateway",
                Well with
                {
                    Network = new NetworkFacts(Gateway: null, GatewayAnswers: false, Peers: 2, PeersReached: 0),
                }
            },
            {
                "network",
                Severity.Error,
                "None of the other nodes accepts a connection (2 are known), although 1 of their machines are on",
                Well with
                {
                    Network = Well.Network! with { PeersReached = 0, PeersResolvedOnly = 1 },
                }
            },
            { "network", Severity.Notice, "1 of 2.", Well with { Network = Well.Network! with { PeersReached = 1 } } },
            {
                "network",
                Severity.Notice,
                "1 of 2; 1 more are on",
                Well with
                {
                    Network = Well.Network! with { PeersReached = 1, PeersResolvedOnly = 1 },
                }
            },
            {
                "network",
                Severity.Warning,
                "The router 192.168.1.1 answers, and no other node is seen. It waits for two.",
                WithoutOtherNodes(gatewayAnswers: true)
            },
            {
                "network",
                Severity.Warning,
                "The router 192.168.1.1 does not answer, and no other node is seen. It waits for two.",
                WithoutOtherNodes(gatewayAnswers: false)
            },
        };

    [Theory]
    [MemberData(nameof(Troubles))]
    public void Each_problem_gives_one_finding_with_a_fix_and_changes_no_other_finding(
        string subject,
        Severity severity,
        string sentence,
        DoctorFacts facts
    )
    {
        var found = Assert.Single(Judgement.Of(facts), static finding => finding.Severity != Severity.Ok);
        Assert.Equal((subject, severity), (found.Subject, found.Severity));
        Assert.Contains(sentence, found.Sentence, StringComparison.Ordinal);
        Assert.NotNull(found.Fix);
    }

    [Fact]
    public void Members_whose_addresses_are_unknown_are_reported_by_number()
    {
        var asked = Well with
        {
            Node = Well.Node! with { OtherMembers = 2 },
            Network = Well.Network! with { Peers = 0, PeersReached = 0 },
        };
        Assert.StartsWith(
            "The router 192.168.1.1 answers. The node has 2 other members;",
            Judgement.Of(asked)[^1].Sentence,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void AP_isolation_is_suggested_if_the_router_answers_and_no_other_node_does()
    {
        const string named = "AP or client isolation";
        var dropped = Well with { Network = Well.Network! with { PeersReached = 0 } };
        Assert.Contains(named, Judgement.Of(dropped)[^1].Fix, StringComparison.Ordinal);
        Assert.Contains(named, Judgement.Of(WithoutOtherNodes(gatewayAnswers: true))[^1].Fix, StringComparison.Ordinal);
        Assert.DoesNotContain(
            named,
            Judgement.Of(WithoutOtherNodes(gatewayAnswers: false))[^1].Fix,
            StringComparison.Ordinal
        );
        Assert.DoesNotContain(
            named,
            Judgement.Of(dropped with { Network = dropped.Network! with { PeersResolvedOnly = 2 } })[^1].Fix,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_port_without_connections_is_ok_while_no_member_can_be_reached() =>
        Assert.DoesNotContain(
            Judgement.Of(
                Well with
                {
                    OpenPorts = [Well.OpenPorts[1] with { Callers = 0 }],
                    Network = Well.Network! with { MembersServing = 0 },
                }
            ),
            static finding => finding.Severity > Severity.Ok
        );

    [Fact]
    public void A_node_that_forms_no_cluster_and_finds_no_other_node_is_ok() =>
        Assert.Equal(
            Severity.Ok,
            Judgement
                .Of(
                    Well with
                    {
                        Network = new NetworkFacts("192.168.1.1", GatewayAnswers: true, Peers: 0, PeersReached: 0),
                    }
                )[^1]
                .Severity
        );

    [Fact]
    public void Unknown_facts_of_a_machine_give_no_warning()
    {
        var findings = Judgement.Of(
            new DoctorFacts
            {
                Now = Well.Now,
                Model = "Standard PC (Q35 + ICH9, 2009)",
                Space = [],
            }
        );
        Assert.Equal(["power", "temperature", "clock"], findings.Select(static finding => finding.Subject));
        Assert.All(findings, static finding => Assert.True(finding.Severity <= Severity.Notice));
    }

    [Fact]
    public void A_simulated_board_is_reported_as_simulated() =>
        Assert.Equal(
            ["power", "temperature"],
            Judgement
                .Of(Well with { IsSimulated = true })
                .Where(static finding => finding.Sentence.StartsWith("(Simulated board.)", StringComparison.Ordinal))
                .Select(static finding => finding.Subject)
        );
}
