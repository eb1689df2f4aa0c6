namespace Rookery.Server.Configuration;

/// <summary>What the owner asked for, as written; null where nothing was said.</summary>
public sealed record ServeSettings
{
    /// <summary>The data directory.</summary>
    public string? Data { get; init; }

    /// <summary>The journal's directory, when it is not in the data directory.</summary>
    public string? Journal { get; init; }

    /// <summary>The URL to listen on.</summary>
    public string? Listen { get; init; }

    /// <summary>Where a member of a cluster listens for the others (<c>address:port</c>).</summary>
    public string? PeerListen { get; init; }

    /// <summary>
    /// Where the page for people who do not know the node yet is served, over plain HTTP (<c>address:port</c>).
    /// </summary>
    public string? Welcome { get; init; }

    /// <summary>Where other members may be (<c>host:port,host:port</c>), beside where they were seen last.</summary>
    public string? Peers { get; init; }

    /// <summary>The URL by which clients reach this node, where it is not the one it listens on.</summary>
    public string? PublicUrl { get; init; }

    /// <summary>The memory bound ("128M").</summary>
    public string? Memory { get; init; }

    /// <summary>The URL at which node_exporter tells of this machine.</summary>
    public string? MachineMetrics { get; init; }

    /// <summary>The file with the code by which the node is claimed, where it is not to make one.</summary>
    public string? ClaimCodeFile { get; init; }

    /// <summary>How it forms a cluster with other cards.</summary>
    public FormSettings? Form { get; init; }

    /// <summary>Where alerts are sent.</summary>
    public WebhookSettings? Webhook { get; init; }

    /// <summary>Whether plain HTTP may leave this machine.</summary>
    public bool? Insecure { get; init; }

    /// <summary>
    /// These settings, with <paramref name="fallback"/>'s where these are silent: the command line over the file.
    /// </summary>
    public ServeSettings Over(ServeSettings fallback) =>
        new()
        {
            Data = Data ?? fallback.Data,
            Journal = Journal ?? fallback.Journal,
            Listen = Listen ?? fallback.Listen,
            PeerListen = PeerListen ?? fallback.PeerListen,
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

/// <summary>How a node that nobody has claimed forms a cluster with others.</summary>
/// <param name="Expect">How many nodes the cluster is to have.</param>
/// <param name="PhraseFile">The file with the phrase that they share.</param>
public sealed record FormSettings(int Expect, string PhraseFile);
