namespace Rookery.Board.Doctor;

/// <summary>
/// The facts about a machine and its node from which <see cref="Judgement"/> draws the findings of `rookery doctor`. A
/// fact that could not be determined is null, and no finding is drawn from it.
/// </summary>
public sealed record DoctorFacts
{
    /// <summary>The time of this machine's clock.</summary>
    public required DateTimeOffset Now { get; init; }

    /// <summary>The board's model.</summary>
    public string? Model { get; init; }

    /// <summary>Whether the values of sensors come from files of a test instead of this machine.</summary>
    public bool IsSimulated { get; init; }

    /// <summary>
    /// The values of the board's sensors. <see cref="BoardReading.SinceBoot"/> includes what the running node has seen.
    /// </summary>
    public BoardReading Reading { get; init; }

    /// <summary>The storage devices of data and journal; one if both are on the same.</summary>
    public IReadOnlyList<StorageReading> Storage { get; init; } = [];

    /// <summary>
    /// The free space of the data directory's file system; empty without a data directory. If the journal has its own
    /// file system, the node itself reports that its space is low.
    /// </summary>
    public IReadOnlyList<SpaceFacts> Space { get; init; } = [];

    /// <summary>The result of the disk probe; null if none was requested.</summary>
    public DiskProbe? Probe { get; init; }

    /// <summary>Why the requested disk probe failed; null if it succeeded or none was requested.</summary>
    public string? ProbeRefusal { get; init; }

    /// <summary>Whether a time service keeps the clock synchronised, as the kernel reports.</summary>
    public bool? IsClockSynchronised { get; init; }

    /// <summary>How many seconds the clock is ahead of the cluster's time; negative if it lags.</summary>
    public double? ClockAheadSeconds { get; init; }

    /// <summary>The status of the node, or why it gave none; null if no node was asked.</summary>
    public NodeFacts? Node { get; init; }

    /// <summary>When the node's certificate for clients expires; null for a node without one.</summary>
    public DateTimeOffset? CertificateEnds { get; init; }

    /// <summary>
    /// Why the node's identity cannot be read, or the node's own message about its certificate; null if there is
    /// neither.
    /// </summary>
    public string? CertificateTrouble { get; init; }

    /// <summary>
    /// The ports of a node that does not run; empty while it runs, because then the node itself uses them.
    /// </summary>
    public IReadOnlyList<PortFacts> Ports { get; init; } = [];

    /// <summary>The ports of a running node.</summary>
    public IReadOnlyList<OpenPortFacts> OpenPorts { get; init; } = [];

    /// <summary>What mDNS finds; null if it was not queried.</summary>
    public MdnsFacts? Mdns { get; init; }

    /// <summary>Whether the router and the other members are reachable; null if no connection was tried.</summary>
    public NetworkFacts? Network { get; init; }

    /// <summary>The image that this machine runs; null on machines without the image.</summary>
    public ImageFacts? Image { get; init; }
}

/// <summary>The image that a machine runs.</summary>
/// <param name="Release">Its release, such as <c>0.2.0+os20261126.1412</c>.</param>
/// <param name="PackagesLocked">When the versions of its packages were chosen; null if unknown.</param>
public sealed record ImageFacts(string Release, DateTimeOffset? PackagesLocked);

/// <summary>The free space of a file system.</summary>
/// <param name="Directory">The data directory on it.</param>
/// <param name="FreeBytes">Free bytes.</param>
/// <param name="ReserveBytes">The bytes that the node keeps free. With less, it refuses writes that add data.</param>
public sealed record SpaceFacts(string Directory, long FreeBytes, long ReserveBytes);

/// <summary>The node's own status.</summary>
/// <param name="Address">The node's address.</param>
/// <param name="NoAnswerReason">Why the node gave no answer; null if it gave one.</param>
/// <param name="Reason">Why the node serves no requests; null if it serves.</param>
/// <param name="ClusterTrouble">Why the node takes no writes; null if it takes them.</param>
/// <param name="ClockDoubt">Why the cluster's time is in doubt; null if it is not.</param>
public sealed record NodeFacts(
    string Address,
    string? NoAnswerReason,
    string? Reason,
    string? ClusterTrouble,
    string? ClockDoubt
)
{
    /// <summary>What a node without an owner waits for to form a cluster with others; null if it forms none.</summary>
    public string? Forming { get; init; }

    /// <summary>Why the node accepts no data, such as a full card; null if it accepts them.</summary>
    public string? GrowthRefusal { get; init; }

    /// <summary>Number of other members that the node reports.</summary>
    public int OtherMembers { get; init; }

    /// <summary>Connections that the node refused; null if it refused none.</summary>
    public RefusedConnections? RefusedConnections { get; init; }
}

/// <summary>Connections that a node closed on arrival, because their address had too many.</summary>
/// <param name="Count">Their number since the node started.</param>
/// <param name="MaxPerAddress">The connections that one address may have at once.</param>
/// <param name="SinceLast">How long ago the last one was refused.</param>
public sealed record RefusedConnections(long Count, int MaxPerAddress, TimeSpan SinceLast);

/// <summary>A port of a node that does not run.</summary>
/// <param name="Port">The port number.</param>
/// <param name="Purpose">What it is for, such as "clients".</param>
/// <param name="IsTaken">Whether another program listens on it, so that the node could not start.</param>
public sealed record PortFacts(int Port, string Purpose, bool IsTaken);

/// <summary>A port of a node that runs.</summary>
/// <param name="Port">The port number.</param>
/// <param name="Purpose">What it is for, such as "clients".</param>
/// <param name="IsForMembers">Whether it is the port for other members.</param>
/// <param name="IsOnlyLocal">Whether it listens on loopback only.</param>
/// <param name="Callers">How many other machines are connected to it now.</param>
public sealed record OpenPortFacts(int Port, string Purpose, bool IsForMembers, bool IsOnlyLocal, int Callers);

/// <summary>The nodes that avahi, the mDNS service, finds.</summary>
/// <param name="Trouble">Why avahi gave no answer; null if it gave one.</param>
/// <param name="IsMissing">Whether avahi-browse is not installed.</param>
/// <param name="Nodes">How many nodes are announced, including this one.</param>
/// <param name="Others">How many of them are on other machines.</param>
/// <param name="IsOwnAnnounced">Whether this node is announced with an address that others can reach; null if its id
/// is unknown or avahi gave no answer.</param>
public sealed record MdnsFacts(string? Trouble, bool IsMissing, int Nodes, int Others, bool? IsOwnAnnounced);

/// <summary>Which of the router and the other nodes are reachable.</summary>
/// <param name="Gateway">The default gateway's address; null if there is none.</param>
/// <param name="GatewayAnswers">Whether the gateway answers; null if that could not be determined.</param>
/// <param name="Peers">How many other nodes are known, from the members' records and mDNS.</param>
/// <param name="PeersReached">How many of them accept a connection.</param>
public sealed record NetworkFacts(string? Gateway, bool? GatewayAnswers, int Peers, int PeersReached)
{
    /// <summary>
    /// How many of the other nodes accept no connection although their machines are on: these answer address
    /// resolution.
    /// </summary>
    public int PeersResolvedOnly { get; init; }

    /// <summary>How many members of this node's cluster accepted a connection on their port for members.</summary>
    public int MembersServing { get; init; }
}
