namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// The kinds and rates of faults in a run. A seed selects one profile, because faults of all kinds at once would hide
/// each other's effects. Unless its comment says otherwise, a property is the number of such faults in ten seconds.
/// </summary>
internal sealed record FaultProfile(string Name)
{
    /// <summary>The share of messages that are lost, from 0 to 1.</summary>
    public double Loss { get; init; }

    /// <summary>The share of messages that arrive twice, from 0 to 1.</summary>
    public double Duplication { get; init; }

    /// <summary>The share of messages that overtake others on their connection.</summary>
    public double Overtaking { get; init; }

    /// <summary>The longest delay of a message in microseconds; most take a tenth of it.</summary>
    public long LongestDelay { get; init; } = 20_000;

    /// <summary>The longest sync in microseconds.</summary>
    public long LongestSync { get; init; } = 30_000;

    /// <summary>Crashes in ten seconds of the whole cluster.</summary>
    public double Crashes { get; init; }

    /// <summary>The probability of a crash just after the output of a step that sent or wrote something.</summary>
    public double AimedCrash { get; init; }

    /// <summary>Crashes of the leader, in ten seconds.</summary>
    public double LeaderCrashes { get; init; }

    /// <summary>How long an uncleanly stopped node is cautious, in microseconds.</summary>
    public long Caution { get; init; } = 20_000_000;

    /// <summary>
    /// The longest election timeout that a leader may publish, in microseconds. On a slow network a long one makes
    /// elections rare.
    /// </summary>
    public long LongestElectionTimeout { get; init; } = 10_000_000;

    /// <summary>
    /// The probability of a crash just after a step that requested or granted a vote. The node is back within a tenth
    /// of a second, and may be asked again in the same term.
    /// </summary>
    public double CrashAtVote { get; init; }

    /// <summary>The probability of a crash just after a fetched snapshot was installed.</summary>
    public double CrashInInstall { get; init; }

    /// <summary>Partitions into two groups, for up to five seconds; sometimes only one direction is cut.</summary>
    public double Partitions { get; init; }

    /// <summary>Nodes whose process does nothing for up to four seconds.</summary>
    public double Pauses { get; init; }

    /// <summary>Disks that complete no write for up to five seconds.</summary>
    public double Stalls { get; init; }

    /// <summary>Stalls of all disks at once, as when all boards share a bad power supply.</summary>
    public double StallsOfAll { get; init; }

    /// <summary>Boards that become hot, or cool down.</summary>
    public double HotBoards { get; init; }

    /// <summary>Bursts of more proposals than fit in flight.</summary>
    public double Bursts { get; init; }

    /// <summary>Requests to add, promote, demote or remove a member.</summary>
    public double MemberChanges { get; init; }

    /// <summary>Requests to transfer the leadership.</summary>
    public double Transfers { get; init; }

    /// <summary>Flushes of a node's state to its manifest.</summary>
    public double Manifests { get; init; } = 2;

    /// <summary>Failing journal writes in ten seconds: the process ends and is started again.</summary>
    public double JournalFailures { get; init; }

    /// <summary>
    /// Clocks that are set, correctly or not, in ten seconds. If not 0, clocks are also wrong after a start.
    /// </summary>
    public double ClockFaults { get; init; }

    /// <summary>
    /// Whether the state of one node diverges at some time. It cannot be repaired, so the node must halt.
    /// </summary>
    public bool Diverges { get; init; }

    /// <summary>The probability that the end of the journal is damaged at a restart.</summary>
    public double Rot { get; init; }

    public static FaultProfile[] All { get; } =
    [
        new("calm")
        {
            Manifests = 4,
            Bursts = 0.3,
            HotBoards = 0.5,
        },
        new("lossy")
        {
            Loss = 0.1,
            Duplication = 0.1,
            Overtaking = 0.1,
            LongestDelay = 400_000,
            Partitions = 1,
        },
        new("crashes")
        {
            Crashes = 4,
            JournalFailures = 1,
            Loss = 0.02,
            Partitions = 0.5,
        },
        new("aimed crashes")
        {
            AimedCrash = 0.004,
            Loss = 0.02,
            LongestSync = 200_000,
            Partitions = 1,
            Transfers = 0.5,
        },
        new("elections")
        {
            CrashAtVote = 0.3,
            LeaderCrashes = 8,
            Caution = 0,
            LongestElectionTimeout = 1_500_000,
            LongestDelay = 600_000,
            LongestSync = 400_000,
        },
        new("slow disks")
        {
            LongestSync = 900_000,
            Stalls = 1,
            StallsOfAll = 0.3,
            HotBoards = 1,
            Crashes = 1,
            Transfers = 1,
        },
        new("partitions")
        {
            Partitions = 4,
            Crashes = 1,
            LongestDelay = 100_000,
            Manifests = 6,
            CrashInInstall = 0.2,
        },
        new("churn")
        {
            MemberChanges = 10,
            Crashes = 1,
            Partitions = 1,
            Loss = 0.05,
            Transfers = 1,
        },
        new("pauses")
        {
            Pauses = 3,
            Transfers = 1,
            Duplication = 0.05,
        },
        new("rot")
        {
            Crashes = 1,
            LeaderCrashes = 3,
            Rot = 0.4,
            Caution = 0,
            LongestElectionTimeout = 1_500_000,
            Partitions = 3,
            Manifests = 3,
        },
        new("divergence")
        {
            Diverges = true,
            Loss = 0.05,
            Partitions = 1,
            LeaderCrashes = 1,
            Caution = 0,
            LongestElectionTimeout = 1_500_000,
            Manifests = 0,
        },
        new("clocks")
        {
            ClockFaults = 10,
            LeaderCrashes = 3,
            Crashes = 1,
            Caution = 0,
            LongestElectionTimeout = 1_500_000,
            Loss = 0.02,
            Transfers = 1,
        },
        new("storm")
        {
            ClockFaults = 3,
            Loss = 0.1,
            Duplication = 0.05,
            Overtaking = 0.02,
            LongestDelay = 300_000,
            LongestSync = 300_000,
            Crashes = 3,
            AimedCrash = 0.001,
            Partitions = 2,
            Pauses = 1,
            Stalls = 0.5,
            MemberChanges = 4,
            Transfers = 1,
            Rot = 0.1,
            CrashInInstall = 0.1,
            JournalFailures = 0.5,
        },
    ];
}
