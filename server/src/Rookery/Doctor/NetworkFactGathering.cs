using System.ComponentModel;
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Rookery.Board.Doctor;
using Rookery.Cluster.Identity;
using Rookery.Hosting.Machine;
using Rookery.Platform;

namespace Rookery.Doctor;

/// <summary>Asks avahi who is announced, and tries to reach the router and the other nodes.</summary>
internal static class NetworkFactGathering
{
    // Whatever a router says there, it answers; most have a name server.
    private const int RouterPort = 53;

    private static readonly TimeSpan CallingPatience = TimeSpan.FromSeconds(3);

    // Of a neighbour that it knew the kernel is sure after 8 s: it waits 5 for signs of life, then asks three times,
    // once a second.
    private const int MostLooks = 7;
    private static readonly TimeSpan LookInterval = TimeSpan.FromSeconds(1);

    private enum Reach
    {
        /// <summary>Nothing is heard of it.</summary>
        Silent,

        /// <summary>It does not answer to a call; whether its machine is there could not be found out.</summary>
        Unknown,

        /// <summary>It answers to its address, and not to a call.</summary>
        Shut,

        /// <summary>It refuses the connection: the machine is there.</summary>
        Refuses,

        /// <summary>It takes the connection.</summary>
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

        // Strangers on the same network are no members, but that they answer shows that the network lets clients
        // through.
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
            .SelectMany(static peer => peer.Addresses.Select(address => (Name: peer.NodeId, Place: address)))
            .Concat(
                others.Select(static service => (Name: NameOf(service), Place: PlaceAt(service.Address, service.Port)))
            )
            .ToLookup(static place => place.Name, static place => place.Place, StringComparer.Ordinal);
        var disk = new PosixDisk();
        string? gateway = NetworkTables.DefaultGateway(
            KernelTable.Read(disk, "/proc/net/route"),
            KernelTable.Read(disk, "/proc/net/ipv6_route")
        );
        string[] router = gateway is null ? [] : [PlaceAt(gateway, RouterPort)];

        var reached = await ReachAllAsync(
            [.. peers.SelectMany(static peer => peer).Concat(router).Distinct(StringComparer.Ordinal)],
            cancellationToken
        );
        Reach Best(IEnumerable<string> places) =>
            places.Select(place => reached[place]).DefaultIfEmpty(Reach.Silent).Max();
        Reach[] best = [.. peers.Select(Best)];
        return (
            new MdnsFacts(trouble, isMissing, CountOf(services), CountOf(others), isAnnounced),
            new NetworkFacts(
                gateway,
                Best(router) switch
                {
                    Reach.Unknown => null,
                    var reach => reach > Reach.Unknown,
                },
                best.Length,
                best.Count(static reach => reach >= Reach.Refuses)
            )
            {
                PeersShut = best.Count(static reach => reach == Reach.Shut),
                MembersServing = members.Count(member => Best(member.Addresses) == Reach.Accepts),
            }
        );
    }

    private static string NameOf(MdnsService service) => service.NodeId ?? service.Address;

    private static int CountOf(IEnumerable<MdnsService> services) =>
        services.Select(NameOf).Distinct(StringComparer.Ordinal).Count();

    private static string PlaceAt(string address, int port) =>
        address.Contains(':', StringComparison.Ordinal) ? $"[{address}]:{port}" : $"{address}:{port}";

    /// <summary>
    /// Calls all at once. Of those that are silent the kernel knows more, because to call them it had to ask for their
    /// addresses: its table of neighbours needs no privilege, which a ping would.
    /// </summary>
    private static async Task<Dictionary<string, Reach>> ReachAllAsync(
        IReadOnlyList<string> places,
        CancellationToken cancellationToken
    )
    {
        var reached = new Dictionary<string, Reach>(StringComparer.Ordinal);
        foreach (
            var (place, reach) in places.Zip(
                await Task.WhenAll(places.Select(place => CallAsync(place, cancellationToken)))
            )
        )
        {
            reached[place] = reach;
        }

        string[] silent = [.. places.Where(place => reached[place] == Reach.Silent)];
        for (int looks = 1; silent.Length > 0; looks++)
        {
            string? neighbours = await NeighboursAsync(cancellationToken);
            foreach (string place in silent)
            {
                reached[place] =
                    neighbours is null ? Reach.Unknown
                    : AddressIn(place) is { } address
                    && NetworkTables.NeighbourAt(neighbours, address) is var neighbour and not Neighbour.Absent
                        ? neighbour == Neighbour.Present ? Reach.Shut
                            : Reach.Unknown
                    : Reach.Silent;
            }

            if (
                neighbours is null
                || looks == MostLooks
                || !Array.Exists(silent, place => reached[place] == Reach.Unknown)
            )
            {
                break;
            }

            await Task.Delay(LookInterval, cancellationToken);
        }

        return reached;
    }

    private static async Task<Reach> CallAsync(string place, CancellationToken cancellationToken)
    {
        int colon = place.LastIndexOf(':');
        if (colon <= 0 || !int.TryParse(place.AsSpan(colon + 1), out int port))
        {
            return Reach.Silent;
        }

        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(CallingPatience);
        try
        {
            using var client = new TcpClient();
            await client.ConnectAsync(HostIn(place), port, patience.Token);
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

    private static string HostIn(string place) => place[..place.LastIndexOf(':')].Trim('[', ']');

    private static IPAddress? AddressIn(string place) =>
        place.LastIndexOf(':') > 0 && IPAddress.TryParse(HostIn(place), out var address) ? address : null;

    /// <summary>The kernel's neighbours of IPv4 and IPv6; null where there is no `ip`.</summary>
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
