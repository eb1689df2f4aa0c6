using System.Net;
using Microsoft.AspNetCore.Http;
using Rookery.Cluster.Forming;
using Rookery.Platform;

namespace Rookery.Cluster.Membership;

/// <summary>The options of a node's membership in its cluster.</summary>
public sealed record ClusterMemberOptions
{
    /// <summary>The data directory, absolute.</summary>
    public required string DataDirectory { get; init; }

    /// <summary>The address at which the node listens for members.</summary>
    public required IPEndPoint Listen { get; init; }

    /// <summary>
    /// Returns the addresses at which members may reach the node, <c>host:port</c>, the likeliest to answer first.
    /// Called once a minute.
    /// </summary>
    public required Func<IReadOnlyList<string>> Addresses { get; init; }

    /// <summary>
    /// Returns the URLs at which the node listens for clients, with IP addresses, the likeliest to answer first. Called
    /// once a minute.
    /// </summary>
    public required Func<IReadOnlyList<string>> ClientUrls { get; init; }

    /// <summary>
    /// Additional addresses to dial for each other member, <c>host:port</c>, as configured by the operator.
    /// The certificate shows which member answers at an address.
    /// </summary>
    public IReadOnlyList<string> ConfiguredPeers { get; init; } = [];

    /// <summary>
    /// Returns the nodes that announce themselves in the local network, as hints like <see cref="ConfiguredPeers"/>.
    /// Takes some seconds.
    /// </summary>
    public Func<CancellationToken, Task<IReadOnlyList<AnnouncedNode>>> Browse { get; init; } =
        static _ => Task.FromResult<IReadOnlyList<AnnouncedNode>>([]);

    /// <summary>
    /// How the node forms a cluster with other nodes while it is unclaimed; null when forming is not configured.
    /// </summary>
    public FormingOptions? Forming { get; init; }

    /// <summary>The URL at which clients reach the node, as configured by the operator; null for none.</summary>
    public string? PublicUrl { get; init; }

    /// <summary>Whether the machine's clock is synchronised with a time source.</summary>
    public required Func<bool> IsClockSynchronised { get; init; }

    /// <summary>How unsuitable this machine is to lead; see <see cref="ConsensusOptions.BoardPenalty"/>.</summary>
    public Func<int> BoardPenalty { get; init; } = static () => 0;

    /// <summary>Invoked with the new identity when it has changed.</summary>
    public Action<Identity.NodeIdentity>? IdentityChanged { get; init; }

    /// <summary>Answers members' requests below <c>/observe/</c> on the port for members; null for none.</summary>
    public Func<HttpContext, Task>? AnswerMember { get; init; }

    /// <summary>The memory budget of the process; null to count nothing.</summary>
    public MemoryBudget? Memory { get; init; }

    /// <summary>Receives sentences that need the operator's attention.</summary>
    public required Action<string> Log { get; init; }

    /// <summary>Receives sentences about normal events.</summary>
    public required Action<string> Note { get; init; }
}
