using System.ComponentModel;
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Rookery.Board.Doctor;
using Rookery.Cluster.Identity;
using Rookery.Hosting.Machine;
using Rookery.Platform;

namespace Rookery.Doctor;

/// <summary>Gathers the announced nodes from avahi, and tries to reach the router and the other nodes.</summary>
internal static class NetworkFactGathering
{
    // Most routers run a name server. A refused connection also shows that the router is reachable.
    private const int RouterPort = 53;

    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(3);

    // The kernel decides after 8 s whether a neighbour is reachable: it waits 5 s for traffic, then sends three
    // requests, one per second.
    private const int MaxNeighbourChecks = 7;
    private static readonly TimeSpan CheckInterval = TimeSpan.FromSeconds(1);

    private enum Reach
    {
        /// <summary>The end point's machine does not answer at all.</summary>
        Silent,

        /// <summary>
        /// The end point accepts no connection; whether its machine is on could not be determined.
        /// </summary>
        Unknown,

        /// <summary>The end point accepts no connection, but its machine answers address resolution.</summary>
        ResolvesOnly,

        /// <summary>The end point refuses the connection, so its machine is on.</summary>
        Refuses,

        /// <summary>The end point accepts the connection.</summary>
        Accepts,
    }

    public static async Task<(MdnsFacts Mdns, NetworkFacts Network)> GatherAsync(
        NodeIdentity? identity,
        CancellationToken cancellationToken
    )
    {
        var (services, trouble, isMissing) = await AvahiBrowse.RunAsync(cancellationToken);
        bool? isAnnounced =
            identity is null || trouble is not null || isMissing
                ? null
                : services.Any(service =>
                    string.Equals(service.NodeId, identity.NodeId, StringComparison.Ordinal)
                    && IPAddress.TryParse(service.Address, out var address)
                    && !address.IsIPv6LinkLocal
                );

        // Includes nodes of other clusters: if they answer, the network does not isolate its clients.
        var own = PeerAddresses
            .OfThisMachine()
            .Select(static address => address.ToString())
            .ToHashSet(StringComparer.Ordinal);
        MdnsService[] others =
        [
            .. services.Where(service =>
                !own.Contains(service.Address)
                && (identity is null || !string.Equals(service.NodeId, identity.NodeId, StringComparison.Ordinal))
            ),
        ];
        IReadOnlyList<KnownPeer> members = identity?.Peers ?? [];
        var peers = members
            .SelectMany(static peer => peer.Addresses.Select(address => (Name: peer.NodeId, EndPoint: address)))
            .Concat(
                others.Select(static service =>
                    (Name: NameOf(service), EndPoint: EndPointAt(service.Address, service.Port))
                )
            )
            .ToLookup(static endPoint => endPoint.Name, static endPoint => endPoint.EndPoint, StringComparer.Ordinal);
        var disk = new PosixDisk();
        string? gateway = NetworkTables.DefaultGateway(
            KernelTable.Read(disk, "/proc/net/route"),
            KernelTable.Read(disk, "/proc/net/ipv6_route")
        );
        string[] router = gateway is null ? [] : [EndPointAt(gateway, RouterPort)];

        var reached = await ReachAllAsync(
            [.. peers.SelectMany(static peer => peer).Concat(router).Distinct(StringComparer.Ordinal)],
            cancellationToken
        );
        Reach BestOf(IEnumerable<string> endPoints) =>
            endPoints.Select(endPoint => reached[endPoint]).DefaultIfEmpty(Reach.Silent).Max();
        Reach[] best = [.. peers.Select(BestOf)];
        return (
            new MdnsFacts(trouble, isMissing, CountOf(services), CountOf(others), isAnnounced),
            new NetworkFacts(
                gateway,
                BestOf(router) switch
                {
                    Reach.Unknown => null,
                    var reach => reach > Reach.Unknown,
                },
                best.Length,
                best.Count(static reach => reach >= Reach.Refuses)
            )
            {
                PeersResolvedOnly = best.Count(static reach => reach == Reach.ResolvesOnly),
                MembersServing = members.Count(member => BestOf(member.Addresses) == Reach.Accepts),
            }
        );
    }

    private static string NameOf(MdnsService service) => service.NodeId ?? service.Address;

    private static int CountOf(IEnumerable<MdnsService> services) =>
        services.Select(NameOf).Distinct(StringComparer.Ordinal).Count();

    private static string EndPointAt(string address, int port) =>
        address.Contains(':', StringComparison.Ordinal) ? $"[{address}]:{port}" : $"{address}:{port}";

    /// <summary>
    /// Connects to all end points at once. For those that do not answer, the kernel's neighbour table shows whether the
    /// machine answered address resolution. Unlike a ping, reading that table needs no privilege.
    /// </summary>
    private static async Task<Dictionary<string, Reach>> ReachAllAsync(
        IReadOnlyList<string> endPoints,
        CancellationToken cancellationToken
    )
    {
        var reached = new Dictionary<string, Reach>(StringComparer.Ordinal);
        Reach[] answers = await Task.WhenAll(endPoints.Select(endPoint => ConnectAsync(endPoint, cancellationToken)));
        foreach (var (endPoint, reach) in endPoints.Zip(answers))
        {
            reached[endPoint] = reach;
        }

        string[] silent = [.. endPoints.Where(endPoint => reached[endPoint] == Reach.Silent)];
        for (int checks = 1; silent.Length > 0; checks++)
        {
            string? neighbours = await NeighboursAsync(cancellationToken);
            foreach (string endPoint in silent)
            {
                reached[endPoint] = neighbours is null ? Reach.Unknown : ReachOfSilent(endPoint, neighbours);
            }

            if (
                neighbours is null
                || checks == MaxNeighbourChecks
                || !Array.Exists(silent, endPoint => reached[endPoint] == Reach.Unknown)
            )
            {
                break;
            }

            await Task.Delay(CheckInterval, cancellationToken);
        }

        return reached;
    }

    private static async Task<Reach> ConnectAsync(string endPoint, CancellationToken cancellationToken)
    {
        int colon = endPoint.LastIndexOf(':');
        if (colon <= 0 || !int.TryParse(endPoint.AsSpan(colon + 1), out int port))
        {
            return Reach.Silent;
        }

        using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        timeout.CancelAfter(ConnectTimeout);
        try
        {
            using var client = new TcpClient();
            await client.ConnectAsync(HostIn(endPoint), port, timeout.Token);
            return Reach.Accepts;
        }
        catch (SocketException refused)
        {
            return refused.SocketErrorCode == SocketError.ConnectionRefused ? Reach.Refuses : Reach.Silent;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return Reach.Silent;
        }
    }

    private static string HostIn(string endPoint) => endPoint[..endPoint.LastIndexOf(':')].Trim('[', ']');

    /// <summary>
    /// Returns whether the machine of an end point that does not answer is on, by the kernel's table of neighbours.
    /// </summary>
    private static Reach ReachOfSilent(string endPoint, string neighbours)
    {
        if (AddressIn(endPoint) is not { } address)
        {
            return Reach.Silent;
        }

        return NetworkTables.NeighbourAt(neighbours, address) switch
        {
            Neighbour.Absent => Reach.Silent,
            Neighbour.Present => Reach.ResolvesOnly,
            _ => Reach.Unknown,
        };
    }

    private static IPAddress? AddressIn(string endPoint) =>
        endPoint.LastIndexOf(':') > 0 && IPAddress.TryParse(HostIn(endPoint), out var address) ? address : null;

    /// <summary>Returns the kernel's IPv4 and IPv6 neighbours as JSON; null if `ip` is not installed.</summary>
    private static async Task<string?> NeighboursAsync(CancellationToken cancellationToken)
    {
        try
        {
            using var process = Process.Start(
                new ProcessStartInfo("ip", ["-json", "neighbour"])
                {
                    RedirectStandardOutput = true,
                    UseShellExecute = false,
                }
            );
            string? table = process is null ? null : await process.StandardOutput.ReadToEndAsync(cancellationToken);
            return table;
        }
        catch (Win32Exception)
        {
            return null;
        }
    }
}
