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

    /// <summary>The address at which it listens for members.</summary>
    public required IPEndPoint Listen { get; init; }

    /// <summary>
    /// Returns the addresses at which members may reach it, <c>host:port</c>, most likely first. Called once a minute.
    /// </summary>
    public required Func<IReadOnlyList<string>> Addresses { get; init; }

    /// <summary>
    /// Returns the URLs at which it listens for clients, by address, most likely first. Called once a minute.
    /// </summary>
    public required Func<IReadOnlyList<string>> ClientUrls { get; init; }

    /// <summary>
    /// Further addresses at which any other member may be, <c>host:port</c>, as configured by the owner. Certificates
    /// tell which member answers.
    /// </summary>
    public IReadOnlyList<string> PeerPlaces { get; init; } = [];

    /// <summary>
    /// Returns the nodes that announce themselves in this network; hints like <see cref="PeerPlaces"/>. Takes some
    /// seconds.
    /// </summary>
    public Func<CancellationToken, Task<IReadOnlyList<AnnouncedNode>>> Browse { get; init; } =
        static _ => Task.FromResult<IReadOnlyList<AnnouncedNode>>([]);

    /// <summary>
    /// How it forms a cluster with others while it is unclaimed; null when the owner does not want that.
    /// </summary>
    public FormingOptions? Forming { get; init; }

    /// <summary>The URL at which clients reach it, as configured by the owner; null for none.</summary>
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

    /// <summary>Receives sentences that need the owner's attention.</summary>
    public required Action<string> Log { get; init; }

    /// <summary>Receives sentences about normal events.</summary>
    public required Action<string> Note { get; init; }
}
