using System.Net;
using Rookery.Board;
using Rookery.Server.Access;
using Rookery.Server.Alerts;
using Rookery.Server.Configuration;
using Rookery.Server.Support;

namespace Rookery.Server;

/// <summary>How the HTTP server runs.</summary>
public sealed record ServerOptions
{
    /// <summary>Where it listens.</summary>
    public required IPEndPoint Listen { get; init; }

    /// <summary>
    /// Whether it speaks TLS and lets nobody in without a credential. Otherwise it speaks plain HTTP and asks nobody
    /// who he is.
    /// </summary>
    public bool IsSecure { get; init; }

    /// <summary>
    /// What it shows over TLS, asked at each handshake so that a renewed certificate needs no restart; null, or a null
    /// result, while there is none.
    /// </summary>
    public Func<IServerIdentity?>? Identity { get; init; }

    /// <summary>
    /// SHA-256 of a token that may do everything and that only this machine's root and the owner of the process can
    /// read; empty when there is none.
    /// </summary>
    public ReadOnlyMemory<byte> LocalKeyHash { get; init; }

    /// <summary>With this code the first admin token is claimed, once; null where nobody needs one.</summary>
    public string? ClaimCode { get; init; }

    /// <summary>
    /// What the node waits for to form a cluster with others, in sentences; null, or a null result, when it does not.
    /// </summary>
    public Func<string?>? Forming { get; init; }

    /// <summary>The machine below, to be shown; null where nobody watches it.</summary>
    public BoardWatch? Board { get; init; }

    /// <summary>What other programs noted on this machine, read anew each time; null where nobody looks.</summary>
    public Func<MachineNotes>? MachineNotes { get; init; }

    /// <summary>Its settings, to be shown.</summary>
    public IReadOnlyList<ShownSetting> Settings { get; init; } = [];

    /// <summary>What the program at the top adds to a debug package.</summary>
    public IReadOnlyList<DebugPart> DebugParts { get; init; } = [];

    /// <summary>
    /// Whether it samples itself every ten seconds and asks the other members what they sampled; otherwise it knows of
    /// no history, and of others nothing.
    /// </summary>
    public bool IsObserved { get; init; }

    /// <summary>
    /// A client of another member's port for members, by the member's random id; the caller disposes it. Null, or a
    /// null result, where none is known.
    /// </summary>
    public Func<string, HttpClient?>? ConnectToMember { get; init; }

    /// <summary>What the program at the top adds.</summary>
    public IReadOnlyList<AdminRoute> AdminRoutes { get; init; } = [];

    /// <summary>What one document may weigh at most, in bytes of JSON.</summary>
    public int DocumentBytesLimit { get; init; } = 8 << 20;

    /// <summary>
    /// What one atomic batch may weigh at most, in bytes of JSON: min(32 MiB, an eighth of the memory budget).
    /// </summary>
    public int BatchBytesLimit { get; init; } = 32 << 20;

    /// <summary>
    /// What a list of ids, a query or a multi_get may weigh at most, in bytes of JSON: each of their texts becomes an
    /// object. min(4 MiB, 1/64 of the memory budget).
    /// </summary>
    public int QueryBytesLimit { get; init; } = 4 << 20;

    /// <summary>Connections served at once; more are closed on arrival. Each may hold a few pooled pages.</summary>
    public int ConnectionsLimit { get; init; } = 2048;

    /// <summary>Where node_exporter tells of this machine.</summary>
    public Uri MachineMetrics { get; init; } = new(ServeConfiguration.UsualMachineMetrics);

    /// <summary>What the node is called; empty while it is in no cluster.</summary>
    public string NodeName { get; init; } = string.Empty;

    /// <summary>What its cluster is called; empty while it is in none.</summary>
    public string ClusterName { get; init; } = string.Empty;

    /// <summary>The tag by which clients know this node.</summary>
    public string NodeTag { get; init; } = "A";
}
