using Rookery.Platform;

namespace Rookery.Board.Doctor;

/// <summary>Derives findings from facts. Pure: the same facts give the same findings.</summary>
public static class Judgement
{
    // The year of this program. A clock that shows an earlier year was never set.
    private const int FirstYear = 2026;
    private const double WrongClockSeconds = 60;
    private const double SlowSyncMilliseconds = 20;
    private const double BadSyncMilliseconds = 100;
    private const double SlowBytesPerSecond = 10e6;
    private const double WornLife = 0.9; // fraction of the expected life
    private const double EndOfLife = 1.1; // StorageDevice reports it for "more than the expected life"
    private const int CertificateWarningDays = 30;

    // Values of StorageReading.SpareBlocksUsed.
    private const int SpareBlocksLow = 2;
    private const int SpareBlocksNearlyUsedUp = 3;

    private static readonly TimeSpan RecentRefusal = TimeSpan.FromHours(1);

    private const string PowerFix =
        "Use the power supply that the board's maker recommends and a short, thick cable, and unplug USB devices "
        + "that draw much.";
    private const string HeatFix = "Give it air, a heat sink or a fan.";

    /// <summary>Returns all findings, in a fixed order.</summary>
    public static IReadOnlyList<Finding> Of(DoctorFacts facts) =>
        [
            .. OfNode(facts.Node),
            .. OfConnections(facts.Node?.RefusedConnections),
            OfPower(facts),
            OfTemperature(facts),
            .. facts.Storage.Select(OfDevice),
            .. OfProbe(facts),
            .. facts.Space.Select(OfSpace),
            .. ImageJudgement.Of(facts),
            OfClock(facts),
            .. OfCertificate(facts),
            .. facts.Ports.Select(OfPort),
            .. facts.OpenPorts.Select(port => OfOpenPort(port, facts.Network)),
            .. OfMdns(facts.Mdns, facts.Network),
            .. OfNetwork(facts.Network, facts.Node),
        ];

    // The client sees only that its connection is reset, so this finding gives the reason.
    private static IEnumerable<Finding> OfConnections(RefusedConnections? refused)
    {
        if (refused is not null)
        {
            yield return new(
                "connections",
                refused.SinceLast < RecentRefusal ? Severity.Warning : Severity.Notice,
                $"The node reset {Amount.Of(refused.Count, "connection")} since it started, the last one "
                    + $"{Amount.Time(refused.SinceLast)} ago, because one address already had {refused.MaxPerAddress}, "
                    + "which is the maximum.",
                "Let each program use one client object and share its connections, or give the node more memory "
                    + "(--memory), which raises the maximum. The node's log names the address."
            );
        }
    }

    private static IEnumerable<Finding> OfNode(NodeFacts? node)
    {
        if (node is not null)
        {
            yield return node switch
            {
                { NoAnswerReason: { } noAnswerReason } => new(
                    "node",
                    Severity.Warning,
                    noAnswerReason,
                    "If it should run, start it: `systemctl start rookery`; `journalctl -u rookery` says why it ended."
                ),
                { Reason: { } reason } => new(
                    "node",
                    Severity.Error,
                    $"The node at {node.Address} does not serve: {reason}",
                    "Correct this; `journalctl -u rookery` shows the node's log."
                ),
                { ClusterTrouble: { } trouble } => new(
                    "node",
                    Severity.Error,
                    trouble,
                    "`rookery status` shows which members are not reachable; check those."
                ),
                { GrowthRefusal: { } refusal } => new(
                    "node",
                    Severity.Error,
                    refusal,
                    "Delete what is not needed, or use a larger card; `rookery status` shows whose card it is."
                ),
                _ => new("node", Severity.Ok, $"The node at {node.Address} serves."),
            };
        }
    }

    private static Finding OfPower(DoctorFacts facts)
    {
        var (now, ever) = (facts.Reading.Now, facts.Reading.Now | facts.Reading.SinceBoot);
        const Throttling slowed = Throttling.Throttled | Throttling.FrequencyCapped;
        Finding finding = facts.Reading.KnownFlags switch
        {
            // The running node may have seen more than this process can read.
            Throttling.None when ever == Throttling.None => Unknown(facts, "power", "under-voltage and throttling"),
            _ when Has(now, Throttling.UnderVoltage) => new(
                "power",
                Severity.Error,
                "The supply voltage is below 4.63 V now: the board may stop at any moment.",
                PowerFix
            ),
            _ when Has(now, slowed) => new(
                "power",
                Severity.Warning,
                "The firmware throttles the processor now, because of heat or low power.",
                $"{HeatFix} {PowerFix}"
            ),
            _ when Has(ever, Throttling.UnderVoltage) => new(
                "power",
                Severity.Warning,
                "The supply voltage fell below 4.63 V since the machine was booted.",
                PowerFix
            ),
            _ when Has(ever, slowed) => new(
                "power",
                Severity.Notice,
                "The firmware throttled the processor since the machine was booted, because of heat or low power.",
                HeatFix
            ),
            var known when !Has(known, Throttling.Throttled) => new(
                "power",
                Severity.Ok,
                "No under-voltage was seen; this kernel does not report throttling."
            ),
            _ => new("power", Severity.Ok, "No under-voltage and no throttling since the machine was booted."),
        };
        return MarkIfSimulated(facts, finding);
    }

    private static Finding OfTemperature(DoctorFacts facts)
    {
        if (facts.Reading.TemperatureCelsius is not { } celsius)
        {
            return MarkIfSimulated(facts, Unknown(facts, "temperature", "its temperature"));
        }

        Finding finding = celsius switch
        {
            >= BoardPolicy.HotCelsius => new(
                "temperature",
                Severity.Warning,
                $"{celsius:0} °C: background work pauses, and the firmware throttles the processor from 80 to "
                    + $"85 °C on.",
                HeatFix
            ),
            >= BoardPolicy.WarmCelsius => new(
                "temperature",
                Severity.Notice,
                $"{celsius:0} °C: background work is slowed down.",
                HeatFix
            ),
            _ => new("temperature", Severity.Ok, $"{celsius:0} °C."),
        };
        return MarkIfSimulated(facts, finding);
    }

    private static Finding OfDevice(StorageReading device)
    {
        string product = device.Card?.Name is { } cardName ? $" ({cardName})" : string.Empty;
        string name = device.Device + product;
        double? life = device.LifeUsed;
        const string replace =
            "Replace it before it fails. In a cluster, use `rookery cluster node replace`, so that a new card takes "
            + "over; a node alone needs a backup first.";
        return device switch
        {
            _ when life >= EndOfLife || device.SpareBlocksUsed == SpareBlocksNearlyUsedUp => new(
                "card",
                Severity.Error,
                $"{name} reports that it is worn out.",
                replace
            ),
            _ when life >= WornLife || device.SpareBlocksUsed == SpareBlocksLow => new(
                "card",
                Severity.Warning,
                $"{name} reports that it is near the end of its life.",
                replace
            ),
            { Card: null } => new(
                "card",
                Severity.Ok,
                $"The data are on {name}, which is neither an SD card nor an eMMC."
            ),
            { Card.IsSdCard: false } => new(
                "card",
                Severity.Ok,
                life is { } used
                    ? $"{name} is an eMMC with at most {used:P0} of its life used."
                    : $"{name} is an eMMC that does not report its wear."
            ),
            { Card.Classes: null } => new(
                "card",
                Severity.Notice,
                $"{name} is an SD card whose speed classes the kernel does not show.",
                "`rookery doctor --probe` measures it."
            ),
            { Card.Classes: { Speed: < 10 } classes } => new(
                "card",
                Severity.Warning,
                $"{name} is a slow SD card ({classes}).",
                "Use a card of class 10 with A1 or A2, or a USB drive."
            ),
            { Card.Classes: { Application: 0 or null } classes } => new(
                "card",
                Severity.Notice,
                $"{name} is an SD card ({classes}) without a guaranteed rate of small writes.",
                "`rookery doctor --probe` measures it; a card with A1 or A2 guarantees at least 500 a second."
            ),
            { Card.Classes: var classes } => new("card", Severity.Ok, $"{name} is an SD card of {classes}."),
        };
    }

    private static IEnumerable<Finding> OfProbe(DoctorFacts facts)
    {
        if (facts.ProbeRefusal is { } refusal)
        {
            yield return new(
                "disk",
                Severity.Warning,
                $"The disk was not probed: {refusal}",
                "Remove the cause that this message gives, for example by freeing space."
            );
        }

        if (facts.Probe is { } probe)
        {
            string measured =
                $"Synced writes in {probe.Directory} took {probe.MedianSyncMilliseconds:0.0} ms in the median and "
                + $"{probe.SlowSyncMilliseconds:0.0} ms in the 99th percentile; sequential writes reached "
                + $"{probe.BytesPerSecond / 1e6:0.0} MB/s.";
            const string fix =
                "Every write waits for a sync: put data and journal on a better card (A1, A2) or a USB drive.";
            if (probe.MedianSyncMilliseconds > BadSyncMilliseconds || probe.BytesPerSecond < SlowBytesPerSecond)
            {
                yield return new("disk", Severity.Warning, $"{measured} That is slow.", fix);
            }
            else if (
                probe.MedianSyncMilliseconds > SlowSyncMilliseconds
                || probe.SlowSyncMilliseconds > BadSyncMilliseconds
            )
            {
                yield return new(
                    "disk",
                    Severity.Notice,
                    $"{measured} Good cards take less than {SlowSyncMilliseconds} ms and stall less often.",
                    fix
                );
            }
            else
            {
                yield return new("disk", Severity.Ok, measured);
            }
        }
    }

    private static Finding OfSpace(SpaceFacts space)
    {
        string figures =
            $"{Amount.Bytes(space.FreeBytes)} are free in {space.Directory}, and the node's reserve is "
            + $"{Amount.Bytes(space.ReserveBytes)}";
        if (space.FreeBytes < space.ReserveBytes)
        {
            return new(
                "space",
                Severity.Error,
                $"{figures}: writes that grow the data are refused.",
                "Delete documents, databases or other files there, or use a larger card."
            );
        }

        if (space.FreeBytes < space.ReserveBytes * 2)
        {
            return new(
                "space",
                Severity.Warning,
                $"{figures}: space will be short soon.",
                "Delete what is not needed, or use a larger card."
            );
        }

        return new("space", Severity.Ok, $"{figures}.");
    }

    private static Finding OfClock(DoctorFacts facts)
    {
        const string fix =
            "Synchronise the clock: run `timedatectl set-ntp true`, and see that the network reaches a time server.";
        return facts switch
        {
            { Now.Year: < FirstYear } => new(
                "clock",
                Severity.Error,
                $"The clock shows {facts.Now:yyyy-MM-dd}: it was never set, so certificates seem not to be valid yet.",
                fix
            ),
            { ClockAheadSeconds: { } ahead } when Math.Abs(ahead) > WrongClockSeconds => new(
                "clock",
                Severity.Warning,
                $"The clock is {Amount.Time(TimeSpan.FromSeconds(Math.Abs(ahead)))} "
                    + $"{(ahead > 0 ? "ahead of" : "behind")} the cluster's time.",
                fix
            ),
            { Node.ClockDoubt: { } doubt } => new("clock", Severity.Warning, doubt, fix),
            { IsClockSynchronised: false } => new(
                "clock",
                Severity.Warning,
                $"The clock ({facts.Now:yyyy-MM-dd HH:mm} UTC) is not synchronised with a time source.",
                fix
            ),
            { IsClockSynchronised: null } => new(
                "clock",
                Severity.Notice,
                "It is not known whether the clock is synchronised with a time source."
            ),
            _ => new("clock", Severity.Ok, "The clock is synchronised with a time source."),
        };
    }

    private static IEnumerable<Finding> OfCertificate(DoctorFacts facts)
    {
        const string fix =
            "The node renews it automatically while the cluster has a leader and the clocks are right. The node's log "
            + "names the reason if it cannot.";
        if (facts.CertificateTrouble is { } trouble)
        {
            yield return new("certificate", Severity.Warning, trouble, fix);
        }
        else if (facts.CertificateEnds is not { } expiry)
        {
            yield break;
        }
        else if (expiry <= facts.Now)
        {
            yield return new(
                "certificate",
                Severity.Error,
                $"The node's certificate for clients expired on {expiry:yyyy-MM-dd}: clients refuse this node.",
                fix
            );
        }
        else if (expiry <= facts.Now.AddDays(CertificateWarningDays))
        {
            yield return new(
                "certificate",
                Severity.Warning,
                $"The node's certificate for clients expires on {expiry:yyyy-MM-dd}.",
                fix
            );
        }
        else
        {
            yield return new(
                "certificate",
                Severity.Ok,
                $"The node's certificate for clients is valid until {expiry:yyyy-MM-dd}."
            );
        }
    }

    private static Finding OfPort(PortFacts port) =>
        port.IsTaken
            ? new(
                "ports",
                Severity.Error,
                $"The node does not answer, and another program listens on its port {port.Port}, for {port.Purpose}.",
                $"`ss -ltnp 'sport = :{port.Port}'` shows the program: end it, or give the node another port."
            )
            : new("ports", Severity.Ok, $"Port {port.Port}, for {port.Purpose}, is free.");

    private static Finding OfOpenPort(OpenPortFacts port, NetworkFacts? network) =>
        port switch
        {
            { IsOnlyLocal: true } => new(
                "ports",
                Severity.Notice,
                $"Port {port.Port}, for {port.Purpose}, accepts connections from this machine only.",
                $"If others must reach it, let it listen on all addresses: "
                    + $"`{(port.IsForMembers ? "peerListen" : "listen")}` in the configuration."
            ),
            { IsForMembers: true, Callers: 0 } when network is { MembersServing: > 0 } => new(
                "ports",
                Severity.Warning,
                $"This node reaches {Amount.Of(network.MembersServing, "member")}, but no member is connected to port "
                    + $"{port.Port} here, for {port.Purpose}.",
                $"A firewall here or on the way blocks them: open TCP port {port.Port} (`nft list ruleset` "
                    + $"shows the rules of this machine)."
            ),
            { Callers: > 0 } => new(
                "ports",
                Severity.Ok,
                $"Port {port.Port}, for {port.Purpose}, listens; other machines connected to it: {port.Callers}."
            ),
            _ => new(
                "ports",
                Severity.Ok,
                $"Port {port.Port}, for {port.Purpose}, listens; only another machine can check whether a firewall "
                    + $"blocks it."
            ),
        };

    private static IEnumerable<Finding> OfMdns(MdnsFacts? mdns, NetworkFacts? network)
    {
        if (mdns is not null)
        {
            yield return mdns switch
            {
                { IsMissing: true } => new(
                    "mdns",
                    Severity.Notice,
                    "avahi-browse is not installed, so this machine cannot find nodes by mDNS.",
                    "`apt install avahi-daemon avahi-utils`, or start the node with the addresses of the other "
                        + "members: `--peers`, or `peers` in its configuration file."
                ),
                { Trouble: { } trouble } => new(
                    "mdns",
                    Severity.Warning,
                    $"avahi-daemon does not answer: {trouble}",
                    "`systemctl enable --now avahi-daemon`. Until then members are found at their last known "
                        + "addresses only."
                ),
                { IsOwnAnnounced: false } => new(
                    "mdns",
                    Severity.Notice,
                    $"avahi-daemon knows {Amount.Of(mdns.Nodes, "node")}, but not this one, or no address of it.",
                    "The package writes /etc/avahi/services/rookery.service, which announces this node. If that "
                        + "file exists: `systemctl restart avahi-daemon`."
                ),
                { Others: 0 } when network is { PeersReached: > 0 } => new(
                    "mdns",
                    Severity.Notice,
                    $"avahi-daemon answers and shows none of the other nodes, although {network.PeersReached} of them"
                        + $" can be reached: no multicast arrives from them.",
                    "They are found at their last known addresses only. Check that avahi-daemon runs there, "
                        + "that no firewall blocks UDP port 5353, and that router and switch forward multicast "
                        + "(IGMP snooping)."
                ),
                _ => new("mdns", Severity.Ok, $"avahi-daemon answers; nodes announced: {mdns.Nodes}."),
            };
        }
    }

    private static IEnumerable<Finding> OfNetwork(NetworkFacts? network, NodeFacts? node)
    {
        if (network is null)
        {
            yield break;
        }

        string? forming = node?.Forming;
        const string isolationFix =
            "turn off AP or client isolation in the router's settings, leave the guest network, or use a cable.";
        string router = network switch
        {
            { Gateway: null } => "There is no default gateway",
            { GatewayAnswers: null } => $"It is not known whether the router {network.Gateway} answers",
            _ => $"The router {network.Gateway} {(network.GatewayAnswers.Value ? "answers" : "does not answer")}",
        };
        yield return network switch
        {
            { Peers: 0, GatewayAnswers: true } when forming is not null => new(
                "network",
                Severity.Warning,
                $"{router}, and no other node is seen. {forming}",
                $"The others are off, or the network isolates its clients or drops multicast: {isolationFix}"
            ),
            { Peers: 0 } when forming is not null => new(
                "network",
                Severity.Warning,
                $"{router}, and no other node is seen. {forming}",
                "Check cable, Wi-Fi and its password: `ip addr` shows whether this machine has an address."
            ),
            { Peers: 0 } when node is { OtherMembers: > 0 } => new(
                "network",
                network.GatewayAnswers is true ? Severity.Ok : Severity.Notice,
                $"{router}. The node has {Amount.Of(node.OtherMembers, "other member")}; their addresses are not known "
                    + "here. On the node's machine, --data lets this command try them."
            ),
            { Peers: 0, GatewayAnswers: true } => new("network", Severity.Ok, $"{router}; no other node is known."),
            { Peers: 0 } => new("network", Severity.Notice, $"{router}, and no other node is known."),
            { PeersReached: 0, PeersResolvedOnly: > 0 } => new(
                "network",
                Severity.Error,
                $"None of the other nodes accepts a connection ({network.Peers} are known), although "
                    + $"{network.PeersResolvedOnly} of their machines are on: they answer address resolution.",
                "A firewall there or here blocks connections: open the TCP ports for clients and members (443 and "
                    + "9443, unless configured otherwise). Or they were switched off within the last minute."
            ),
            { PeersReached: 0, GatewayAnswers: true } => new(
                "network",
                Severity.Error,
                $"{router}, and none of the other nodes does ({network.Peers} are known).",
                $"They are off, or the network isolates its clients: {isolationFix}"
            ),
            { PeersReached: 0, Gateway: not null, GatewayAnswers: false } => new(
                "network",
                Severity.Error,
                $"Neither the router {network.Gateway} nor any of the other nodes answers ({network.Peers} are known).",
                "Check cable, Wi-Fi and its password: this machine reaches no other."
            ),
            { PeersReached: 0 } => new(
                "network",
                Severity.Error,
                $"None of the other nodes answers ({network.Peers} are known). {router}.",
                "Check that this machine has an address: `ip addr`."
            ),
            { PeersResolvedOnly: > 0 } => new(
                "network",
                Severity.Notice,
                $"Other nodes that answer: {network.PeersReached} of {network.Peers}; "
                    + $"{network.PeersResolvedOnly} more are on but accept no connection.",
                "A firewall there blocks connections, or they were switched off within the last minute: `rookery "
                    + "status` shows which nodes."
            ),
            _ when network.PeersReached < network.Peers => new(
                "network",
                Severity.Notice,
                $"Other nodes that answer: {network.PeersReached} of {network.Peers}.",
                "The others are off, or have other addresses now: `rookery status` shows which nodes."
            ),
            _ => new("network", Severity.Ok, $"Other nodes that answer: {network.PeersReached} of {network.Peers}."),
        };
    }

    private static Finding Unknown(DoctorFacts facts, string subject, string unknownValue) =>
        facts.Model?.StartsWith("Raspberry Pi", StringComparison.Ordinal) is true
            ? new(
                subject,
                Severity.Notice,
                $"The kernel of this {facts.Model} does not report {unknownValue}.",
                "Use the kernel of Raspberry Pi OS, which reports it."
            )
            : new(subject, Severity.Ok, $"This machine does not report {unknownValue}.");

    private static Finding MarkIfSimulated(DoctorFacts facts, Finding finding) =>
        facts.IsSimulated ? finding with { Sentence = $"(Simulated board.) {finding.Sentence}" } : finding;

    private static bool Has(Throttling held, Throttling flags) => (held & flags) != Throttling.None;
}
