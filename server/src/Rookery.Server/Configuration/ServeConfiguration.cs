using System.Net;
using System.Net.Sockets;
using Rookery.Documents.Nodes;

namespace Rookery.Server.Configuration;

/// <summary>The validated configuration of a node.</summary>
/// <param name="DataDirectory">Absolute path.</param>
/// <param name="JournalDirectory">Absolute path; null for the default, a directory in the data directory.</param>
/// <param name="Listen">Address and port to listen on for clients.</param>
/// <param name="MemoryBytes">Memory limit of the process in bytes.</param>
public sealed record ServeConfiguration(
    string DataDirectory,
    string? JournalDirectory,
    IPEndPoint Listen,
    long MemoryBytes
)
{
    /// <summary>Whether clients use TLS and must present a credential.</summary>
    public bool IsSecure { get; private init; }

    /// <summary>The URL of <see cref="Listen"/>.</summary>
    public string Url => $"{(IsSecure ? "https" : "http")}://{Listen}";

    /// <summary>Default URL of node_exporter on Debian, when it listens on this machine only.</summary>
    public const string DefaultMachineMetrics = "http://127.0.0.1:9100/metrics";

    private const string Loopback = "http://127.0.0.1:8080";
    private const string Off = "off";

    // The port for members is the port for clients plus this, so that users remember one number.
    private const int PeerPortOffset = 1000;

    /// <summary>Address and port for the other members of the cluster.</summary>
    public required IPEndPoint PeerListen { get; init; }

    /// <summary>
    /// Address and port for RavenDB's TCP protocol, which carries the documents of subscriptions; port 0 for any free
    /// one. Null if it is not spoken.
    /// </summary>
    public required IPEndPoint? TcpListen { get; init; }

    /// <summary>Where and with which database Redis clients are served; null if they are not.</summary>
    public RedisConfiguration? Redis { get; private init; }

    /// <summary>Address and port of the welcome page; null if it is not served.</summary>
    public IPEndPoint? Welcome { get; private init; }

    /// <summary>Addresses at which to look for other members, as the user wrote them. They are not validated.</summary>
    public IReadOnlyList<string> Peers { get; private init; } = [];

    /// <summary>The URL by which clients reach the node; null if none is configured.</summary>
    public string? PublicUrl { get; private init; }

    /// <summary>URL of this machine's node_exporter.</summary>
    public required Uri MachineMetrics { get; init; }

    /// <summary>Absolute path of the file with the claim code; null if the node generates one.</summary>
    public string? ClaimCodeFile { get; private init; }

    /// <summary>
    /// How the node forms a cluster with other nodes; null if it does not. The phrase file is an absolute path.
    /// </summary>
    public FormSettings? Form { get; private init; }

    /// <summary>Where alerts are sent; null if they are not sent.</summary>
    public WebhookConfiguration? Webhook { get; private init; }

    /// <summary>All settings for display; empty if this configuration is not for a running node.</summary>
    public IReadOnlyList<ShownSetting> Shown { get; init; } = [];

    /// <summary>Validates settings.</summary>
    /// <exception cref="ConfigurationException">A setting is invalid; the message names it.</exception>
    public static ServeConfiguration From(ServeSettings settings)
    {
        if (string.IsNullOrWhiteSpace(settings.Data))
        {
            throw new ConfigurationException(
                "No data directory was given: say --data DIR, or \"data\" in the configuration file."
            );
        }

        string listen = settings.Listen ?? Loopback;
        var endpoint = ParseListen(listen, out bool isSecure);
        if (!isSecure && !IPAddress.IsLoopback(endpoint.Address) && settings.Insecure is not true)
        {
            throw new ConfigurationException(
                $"Listening on {listen} would let anyone who reaches this machine read and write all data, "
                    + $"because plain HTTP asks for no credential; listen on 127.0.0.1, say https, or say "
                    + $"--insecure."
            );
        }

        return new ServeConfiguration(
            DirectoryPath.Absolute(settings.Data),
            string.IsNullOrWhiteSpace(settings.Journal) ? null : DirectoryPath.Absolute(settings.Journal),
            endpoint,
            ParseMemory(settings.Memory)
        )
        {
            IsSecure = isSecure,
            PeerListen = ParsePeerListen(settings.PeerListen, endpoint),
            TcpListen = ParseTcpListen(settings.TcpListen, endpoint, settings.Insecure is true || isSecure),
            Redis = RedisConfiguration.From(settings, isSecure),
            Welcome = ParseWelcome(settings.Welcome, isSecure),
            Peers =
                settings.Peers?.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries)
                ?? [],
            PublicUrl = ParsePublicUrl(settings.PublicUrl),
            MachineMetrics = ParseMachineMetrics(settings.MachineMetrics ?? DefaultMachineMetrics),
            ClaimCodeFile = string.IsNullOrWhiteSpace(settings.ClaimCodeFile)
                ? null
                : Path.GetFullPath(settings.ClaimCodeFile),
            Form = ParseForm(settings),
            Webhook = settings.Webhook?.Check(),
        };
    }

    private static IPEndPoint ParsePeerListen(string? listen, IPEndPoint clients)
    {
        if (listen is null)
        {
            int port = clients.Port + PeerPortOffset;
            return new IPEndPoint(clients.Address, port <= IPEndPoint.MaxPort ? port : clients.Port - PeerPortOffset);
        }

        return IPEndPoint.TryParse(listen, out var endpoint) && endpoint.Port > 0
            ? UsableOf(endpoint, Socket.OSSupportsIPv6)
            : throw new ConfigurationException(
                $"The address to listen on for other members must look like [::]:9080, not like \"{listen}\"."
            );
    }

    // Clients learn the port by HTTP, so that any free one serves them, unless a firewall must know it.
    private static IPEndPoint? ParseTcpListen(string? listen, IPEndPoint clients, bool mayLeaveMachine)
    {
        if (listen is null)
        {
            return new IPEndPoint(clients.Address, port: 0);
        }

        if (listen is Off)
        {
            return null;
        }

        if (!IPEndPoint.TryParse(listen, out var endpoint))
        {
            throw new ConfigurationException(
                $"The address to listen on for subscriptions must look like [::]:38888, or be \"{Off}\", not "
                    + $"\"{listen}\"."
            );
        }

        return mayLeaveMachine || IPAddress.IsLoopback(endpoint.Address)
            ? UsableOf(endpoint, Socket.OSSupportsIPv6)
            : throw new ConfigurationException(
                $"Listening on {listen} for subscriptions would let anyone who reaches this machine read all data, "
                    + "because without https no credential is asked for; listen on 127.0.0.1, say https, or say "
                    + "--insecure."
            );
    }

    private static IPEndPoint? ParseWelcome(string? listen, bool isSecure)
    {
        if (listen is null)
        {
            return null;
        }

        if (!isSecure)
        {
            throw new ConfigurationException(
                "The welcome page tells how to trust the certificate that clients are shown: it needs a node "
                    + "that listens on https."
            );
        }

        if (IPEndPoint.TryParse(listen, out var endpoint) && endpoint.Port > 0)
        {
            return UsableOf(endpoint, Socket.OSSupportsIPv6);
        }

        throw new ConfigurationException(
            $"The address of the welcome page must look like [::]:80, not like \"{listen}\"."
        );
    }

    private static Uri ParseMachineMetrics(string url) =>
        Uri.TryCreate(url, UriKind.Absolute, out var parsed)
        && parsed.Scheme is "http"
        && parsed.IsLoopback
        && parsed.UserInfo.Length == 0
            ? parsed
            : throw new ConfigurationException(
                $"The URL of this machine's metrics must look like {DefaultMachineMetrics}, on this machine "
                    + $"and in plain HTTP, not like \"{ShownUrl.Of(url)}\"."
            );

    private static FormSettings? ParseForm(ServeSettings settings) =>
        settings.Form switch
        {
            null => null,
            { Expect: < 2 or > 9 } form => throw new ConfigurationException(
                $"A cluster is formed by 2 to 9 nodes, and \"form.expect\" is {form.Expect}."
            ),
            _ when !string.IsNullOrWhiteSpace(settings.Journal) => throw new ConfigurationException(
                "A node with a journal of its own does not form a cluster by itself: leave out \"journal\", or "
                    + "\"form\" and let it join with a token."
            ),
            var form => form with { PhraseFile = Path.GetFullPath(form.PhraseFile) },
        };

    private static string? ParsePublicUrl(string? url) =>
        url is null
        || (
            Uri.TryCreate(url, UriKind.Absolute, out var parsed)
            && parsed.Scheme is "http" or "https"
            && parsed.PathAndQuery is "/"
            && parsed.UserInfo.Length == 0
            && parsed.Fragment.Length == 0
        )
            ? url?.TrimEnd('/')
            : throw new ConfigurationException(
                $"The URL by which clients reach this node must look like https://node.example:8080, not "
                    + $"like \"{ShownUrl.Of(url)}\"."
            );

    private static IPEndPoint ParseListen(string listen, out bool isSecure)
    {
        isSecure = false;
        if (
            !Uri.TryCreate(listen, UriKind.Absolute, out var url)
            || url.Scheme is not ("http" or "https")
            || url.PathAndQuery is not "/"
            || url.UserInfo.Length > 0
            || url.Fragment.Length > 0
        )
        {
            throw new ConfigurationException(
                $"The address to listen on must look like {Loopback} or https://[::]:8443, not like "
                    + $"\"{ShownUrl.Of(listen)}\"."
            );
        }

        isSecure = url.Scheme is "https";
        if (
            url.HostNameType is UriHostNameType.IPv4 or UriHostNameType.IPv6
            && IPAddress.TryParse(url.Host, out var address)
        )
        {
            return UsableOf(new IPEndPoint(address, url.Port), Socket.OSSupportsIPv6);
        }

        if (string.Equals(url.Host, "localhost", StringComparison.OrdinalIgnoreCase))
        {
            return new IPEndPoint(IPAddress.Loopback, url.Port);
        }

        throw new ConfigurationException(
            $"The address to listen on must name an IP address of this machine or localhost, and \"{url.Host}"
                + $"\" is neither."
        );
    }

    /// <summary>
    /// Returns the endpoint to listen on. On <c>[::]</c> a node answers over IPv6 and IPv4; a kernel without IPv6
    /// cannot listen there, so the node then listens on all IPv4 addresses.
    /// </summary>
    internal static IPEndPoint UsableOf(IPEndPoint endpoint, bool supportsIPv6) =>
        !supportsIPv6 && endpoint.Address.Equals(IPAddress.IPv6Any)
            ? new IPEndPoint(IPAddress.Any, endpoint.Port)
            : endpoint;

    private static long ParseMemory(string? memory)
    {
        if (memory is null)
        {
            return MemorySize.DefaultBytes();
        }

        if (!MemorySize.TryParse(memory, out long bytes))
        {
            throw new ConfigurationException($"The memory bound must look like 128M or 2G, not like \"{memory}\".");
        }

        return bytes >= MemorySize.MinimumBytes
            ? bytes
            : throw new ConfigurationException(
                $"The memory bound must be at least {MemorySize.MinimumBytes >> 20}M, and {memory} is less."
            );
    }
}
