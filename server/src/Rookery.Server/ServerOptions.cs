using System.Net;
using Rookery.Board;
using Rookery.Server.Access;
using Rookery.Server.Alerts;
using Rookery.Server.Configuration;
using Rookery.Server.Support;

namespace Rookery.Server;

/// <summary>Options of the HTTP server.</summary>
public sealed record ServerOptions
{
    /// <summary>Address and port to listen on.</summary>
    public required IPEndPoint Listen { get; init; }

    /// <summary>
    /// Address and port for RavenDB's TCP protocol, which carries the documents of subscriptions; port 0 for any free
    /// one. Null to not listen.
    /// </summary>
    public IPEndPoint? TcpListen { get; init; }

    /// <summary>
    /// Whether the server speaks TLS and requires a credential. Otherwise it speaks plain HTTP and every caller is an
    /// administrator.
    /// </summary>
    public bool IsSecure { get; init; }

    /// <summary>
    /// Returns the TLS identity. Called at each handshake, so that a renewed certificate needs no restart. Null, or a
    /// null result, if there is none.
    /// </summary>
    public Func<IServerIdentity?>? Identity { get; init; }

    /// <summary>
    /// SHA-256 of the local token, which has all rights; empty without one. Only root and the owner of the process can
    /// read that token.
    /// </summary>
    public ReadOnlyMemory<byte> LocalKeyHash { get; init; }

    /// <summary>The code that claims the first admin token, once; null if no claim is needed.</summary>
    public string? ClaimCode { get; init; }

    /// <summary>
    /// Returns, in sentences, what the node waits for while it forms a cluster. Null, or a null result, if it does not
    /// form one.
    /// </summary>
    public Func<string?>? Forming { get; init; }

    /// <summary>Watches the board; null if it is not watched.</summary>
    public BoardWatch? Board { get; init; }

    /// <summary>Reads the reports of other programs on this machine; null if they are not read.</summary>
    public Func<MachineNotes>? MachineNotes { get; init; }

    /// <summary>
    /// Reads what is wrong with the settings on this machine's card, and what they give that is not used, in sentences;
    /// null if they are not read.
    /// </summary>
    public Func<IReadOnlyList<string>>? SettingsNotes { get; init; }

    /// <summary>The node's settings, to be shown to its administrators.</summary>
    public IReadOnlyList<ShownSetting> Settings { get; init; } = [];

    /// <summary>Parts that Rookery.Hosting adds to a debug package.</summary>
    public IReadOnlyList<DebugPart> DebugParts { get; init; } = [];

    /// <summary>
    /// Whether the node samples itself every ten seconds and requests the samples of the other members. Otherwise there
    /// are no histories and no data about other members.
    /// </summary>
    public bool IsObserved { get; init; }

    /// <summary>
    /// Returns an HTTP client for the member with the given id, connected to the port on which that member listens for
    /// other members. The caller disposes it. Null, or a null result, if no address is known.
    /// </summary>
    public Func<string, HttpClient?>? ConnectToMember { get; init; }

    /// <summary>Routes that Rookery.Hosting adds.</summary>
    public IReadOnlyList<AdminRoute> AdminRoutes { get; init; } = [];

    /// <summary>Largest document, in bytes of JSON.</summary>
    public int DocumentBytesLimit { get; init; } = 8 << 20;

    /// <summary>Largest atomic batch, in bytes of JSON: min(32 MiB, an eighth of the memory budget).</summary>
    public int BatchBytesLimit { get; init; } = 32 << 20;

    /// <summary>
    /// Largest list of ids, query or multi_get, in bytes of JSON: min(4 MiB, 1/64 of the memory budget). This limit is
    /// smaller than those of documents and batches, because each string in such a body becomes an object.
    /// </summary>
    public int QueryBytesLimit { get; init; } = 4 << 20;

    /// <summary>
    /// Maximum number of connections; further ones are closed on arrival. Each may hold a few pooled pages.
    /// </summary>
    public int ConnectionsLimit { get; init; } = 2048;

    /// <summary>URL of this machine's node_exporter.</summary>
    public Uri MachineMetrics { get; init; } = new(ServeConfiguration.DefaultMachineMetrics);

    /// <summary>Name of the node; empty if it is in no cluster.</summary>
    public string NodeName { get; init; } = string.Empty;

    /// <summary>Name of its cluster; empty if it is in none.</summary>
    public string ClusterName { get; init; } = string.Empty;

    /// <summary>Tag by which RavenDB's clients identify this node.</summary>
    public string NodeTag { get; init; } = "A";
}
