using System.Net;
using Microsoft.AspNetCore.Http;
using Rookery.Cluster.Forming;
using Rookery.Platform;

namespace Rookery.Cluster.Membership;

/// <summary>How a node takes part in its cluster.</summary>
public sealed record ClusterMemberOptions
{
    /// <summary>The data directory, absolute.</summary>
    public required string DataDirectory { get; init; }

    /// <summary>Where it listens for members.</summary>
    public required IPEndPoint Listen { get; init; }

    /// <summary>Where members may reach it now, <c>host:port</c>, the likeliest first. Asked once a minute.</summary>
    public required Func<IReadOnlyList<string>> Addresses { get; init; }

    /// <summary>Where it listens for clients now, by address, the likeliest first. Asked once a minute.</summary>
    public required Func<IReadOnlyList<string>> ClientUrls { get; init; }

    /// <summary>
    /// Where other members may be beside the places that are known, <c>host:port</c>, if its owner says so. Any member
    /// may be at any of them: certificates say who is.
    /// </summary>
    public IReadOnlyList<string> PeerPlaces { get; init; } = [];

    /// <summary>
    /// Looks which nodes are announced in this network; hints, as <see cref="PeerPlaces"/> are. Takes some seconds.
    /// </summary>
    public Func<CancellationToken, Task<IReadOnlyList<AnnouncedNode>>> Browse { get; init; } =
        static _ => Task.FromResult<IReadOnlyList<AnnouncedNode>>([]);

    /// <summary>
    /// How it forms a cluster with others while nobody has claimed it; null when its owner does not want that.
    /// </summary>
    public FormingOptions? Forming { get; init; }

    /// <summary>The URL at which clients reach it, if its owner says so.</summary>
    public string? PublicUrl { get; init; }

    /// <summary>Whether the machine's clock follows a source of time.</summary>
    public required Func<bool> IsClockSynchronised { get; init; }

    /// <summary>How little this machine should lead; see <see cref="ConsensusOptions.BoardPenalty"/>.</summary>
    public Func<int> BoardPenalty { get; init; } = static () => 0;

    /// <summary>Told when the identity has changed, with the new one.</summary>
    public Action<Identity.NodeIdentity>? IdentityChanged { get; init; }

    /// <summary>
    /// Answers members that ask below <c>/observe/</c> on the port for members; null where nobody does.
    /// </summary>
    public Func<HttpContext, Task>? AnswerMember { get; init; }

    /// <summary>The budget of the process; null to count nothing.</summary>
    public MemoryBudget? Memory { get; init; }

    /// <summary>Told in sentences of what an owner should look at.</summary>
    public required Action<string> Log { get; init; }

    /// <summary>Told in sentences of what was done as it should be.</summary>
    public required Action<string> Note { get; init; }
}
