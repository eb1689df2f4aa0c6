namespace Rookery.Board.Doctor;

/// <summary>
/// What was found out about a machine and its node. What could not be found out is null, and nothing is concluded from
/// it.
/// </summary>
public sealed record DoctorFacts
{
    /// <summary>This machine's clock.</summary>
    public required DateTimeOffset Now { get; init; }

    /// <summary>What kind of board it is.</summary>
    public string? Model { get; init; }

    /// <summary>Whether the board is no real one.</summary>
    public bool IsSimulated { get; init; }

    /// <summary>How the board does; what held before includes what the running node saw.</summary>
    public BoardReading Reading { get; init; }

    /// <summary>The devices of data and journal.</summary>
    public IReadOnlyList<StorageReading> Storage { get; init; } = [];

    /// <summary>The file systems of data and journal.</summary>
    public IReadOnlyList<SpaceFacts> Space { get; init; } = [];

    /// <summary>What a probe of the disk measured; null when none was asked for.</summary>
    public DiskProbe? Probe { get; init; }

    /// <summary>Why a probe that was asked for was not done.</summary>
    public string? ProbeRefusal { get; init; }

    /// <summary>Whether the kernel knows of a source of time.</summary>
    public bool? IsClockSynchronised { get; init; }

    /// <summary>By how much the clock is ahead of the cluster's time.</summary>
    public double? ClockAheadSeconds { get; init; }

    /// <summary>What the node answered; null when no node was asked.</summary>
    public NodeFacts? Node { get; init; }

    /// <summary>When the certificate that clients are shown ends; null for a node without one.</summary>
    public DateTimeOffset? CertificateEnds { get; init; }

    /// <summary>Why the node's identity cannot be read, or what the node says is wrong with its certificate.</summary>
    public string? CertificateTrouble { get; init; }

    /// <summary>The node's ports; empty while it runs, because then it has them itself.</summary>
    public IReadOnlyList<PortFacts> Ports { get; init; } = [];

    /// <summary>The same of a node that runs.</summary>
    public IReadOnlyList<OpenPortFacts> OpenPorts { get; init; } = [];

    /// <summary>What mDNS told; null when it was not asked.</summary>
    public MdnsFacts? Mdns { get; init; }

    /// <summary>The router and the other members; null when they were not tried.</summary>
    public NetworkFacts? Network { get; init; }
}

/// <summary>A file system.</summary>
/// <param name="Directory">A directory on it.</param>
/// <param name="FreeBytes">What is free.</param>
/// <param name="ReserveBytes">What the node keeps free.</param>
public sealed record SpaceFacts(string Directory, long FreeBytes, long ReserveBytes);

/// <summary>What the node says of itself.</summary>
/// <param name="Address">Where it was asked.</param>
/// <param name="Silence">Why there is no answer; null when there is one.</param>
/// <param name="Reason">Why it does not serve; null when it does.</param>
/// <param name="ClusterTrouble">Why writes do not go through it; null when they do.</param>
/// <param name="ClockDoubt">What it says is wrong with the cluster's time.</param>
public sealed record NodeFacts(
    string Address,
    string? Silence,
    string? Reason,
    string? ClusterTrouble,
    string? ClockDoubt
)
{
    /// <summary>What a node that nobody owns waits for to form a cluster with others; null when it does not.</summary>
    public string? Forming { get; init; }
}

/// <summary>A port of a node that does not run.</summary>
/// <param name="Port">Its number.</param>
/// <param name="Purpose">What for, as in "clients".</param>
/// <param name="IsTaken">Whether something listens on it.</param>
public sealed record PortFacts(int Port, string Purpose, bool IsTaken);

/// <summary>A port of a node that runs.</summary>
/// <param name="Port">Its number.</param>
/// <param name="Purpose">What for.</param>
/// <param name="IsForMembers">Whether other members keep connections to it.</param>
/// <param name="IsOnlyLocal">Whether it listens for this machine only.</param>
/// <param name="Callers">How many other machines have a connection to it now.</param>
public sealed record OpenPortFacts(int Port, string Purpose, bool IsForMembers, bool IsOnlyLocal, int Callers);

/// <summary>What avahi answered.</summary>
/// <param name="Trouble">Why it did not; null when it did.</param>
/// <param name="IsMissing">Whether its client is not installed.</param>
/// <param name="Nodes">The nodes that are announced, this one included.</param>
/// <param name="Others">Those of them that are on other machines.</param>
/// <param name="IsOwnAnnounced">Whether this node is among them, with an address that others can call; null when it is
/// not known which is this one.</param>
public sealed record MdnsFacts(string? Trouble, bool IsMissing, int Nodes, int Others, bool? IsOwnAnnounced);

/// <summary>Who can be reached.</summary>
/// <param name="Gateway">The default gateway's address; null when there is none.</param>
/// <param name="GatewayAnswers">Whether it answers; null when that could not be found out.</param>
/// <param name="Peers">How many other nodes are known, of the members' records and of mDNS.</param>
/// <param name="PeersReached">How many of them answer.</param>
public sealed record NetworkFacts(string? Gateway, bool? GatewayAnswers, int Peers, int PeersReached)
{
    /// <summary>
    /// How many of those that do not answer are there: their machines answer to their addresses, and not to a call.
    /// </summary>
    public int PeersShut { get; init; }

    /// <summary>How many members of this node's cluster took a connection on their port for members.</summary>
    public int MembersServing { get; init; }
}
