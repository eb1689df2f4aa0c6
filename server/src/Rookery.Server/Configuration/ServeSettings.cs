namespace Rookery.Server.Configuration;

/// <summary>
/// Settings as written on the command line or in the file, before validation. A setting that is not given is null.
/// </summary>
public sealed record ServeSettings
{
    /// <summary>The data directory.</summary>
    public string? Data { get; init; }

    /// <summary>Directory of the journal, if it is not in the data directory.</summary>
    public string? Journal { get; init; }

    /// <summary>The URL to listen on for clients.</summary>
    public string? Listen { get; init; }

    /// <summary>Where to listen for the other members (<c>address:port</c>).</summary>
    public string? PeerListen { get; init; }

    /// <summary>Where to listen for RavenDB's TCP protocol (<c>address:port</c>).</summary>
    public string? TcpListen { get; init; }

    /// <summary>Where to listen for Redis clients (<c>[address:]port</c>).</summary>
    public string? Redis { get; init; }

    /// <summary>The database that Redis clients use.</summary>
    public string? RedisDatabase { get; init; }

    /// <summary>Where to serve the welcome page over plain HTTP (<c>address:port</c>).</summary>
    public string? Welcome { get; init; }

    /// <summary>
    /// Where to look for other members (<c>host:port,host:port</c>), besides the addresses where they were last seen.
    /// </summary>
    public string? Peers { get; init; }

    /// <summary>The URL by which clients reach the node, if it differs from the URL it listens on.</summary>
    public string? PublicUrl { get; init; }

    /// <summary>Memory limit ("128M").</summary>
    public string? Memory { get; init; }

    /// <summary>URL of this machine's node_exporter.</summary>
    public string? MachineMetrics { get; init; }

    /// <summary>File with the claim code; without it the node generates one.</summary>
    public string? ClaimCodeFile { get; init; }

    /// <summary>How the node forms a cluster with other nodes.</summary>
    public FormSettings? Form { get; init; }

    /// <summary>Where alerts are sent.</summary>
    public WebhookSettings? Webhook { get; init; }

    /// <summary>Whether plain HTTP may be served beyond this machine.</summary>
    public bool? Insecure { get; init; }

    /// <summary>
    /// Returns these settings, completed by <paramref name="fallback"/>: the command line takes precedence over the
    /// file.
    /// </summary>
    public ServeSettings Over(ServeSettings fallback) =>
        new()
        {
            Data = Data ?? fallback.Data,
            Journal = Journal ?? fallback.Journal,
            Listen = Listen ?? fallback.Listen,
            PeerListen = PeerListen ?? fallback.PeerListen,
            TcpListen = TcpListen ?? fallback.TcpListen,
            Redis = Redis ?? fallback.Redis,
            RedisDatabase = RedisDatabase ?? fallback.RedisDatabase,
            Welcome = Welcome ?? fallback.Welcome,
            Peers = Peers ?? fallback.Peers,
            PublicUrl = PublicUrl ?? fallback.PublicUrl,
            Memory = Memory ?? fallback.Memory,
            MachineMetrics = MachineMetrics ?? fallback.MachineMetrics,
            ClaimCodeFile = ClaimCodeFile ?? fallback.ClaimCodeFile,
            Form = Form ?? fallback.Form,
            Webhook = Webhook ?? fallback.Webhook,
            Insecure = Insecure ?? fallback.Insecure,
        };
}

/// <summary>How unclaimed nodes form a cluster with each other.</summary>
/// <param name="Expect">Number of nodes of the cluster.</param>
/// <param name="PhraseFile">Path of the file with the phrase that the nodes share.</param>
public sealed record FormSettings(int Expect, string PhraseFile);
