using System.Net;
using System.Net.Sockets;
using Rookery.Board.Doctor;
using Rookery.Cluster.Identity;
using Rookery.Disk;

namespace Rookery.Doctor;

/// <summary>Asks avahi who is announced, and tries to reach the router and the other nodes.</summary>
internal static class NetworkFactGathering
{
    private const int DiscardPort = 9;

    private static readonly TimeSpan ConnectingPatience = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan NeighbourPatience = TimeSpan.FromSeconds(1);

    public static async Task<(MdnsFacts Mdns, NetworkFacts Network)> GatherAsync(NodeIdentity? identity, CancellationToken cancellationToken)
    {
        var (services, trouble, isMissing) = await AvahiBrowse.RunAsync(cancellationToken);
        bool? isAnnounced = identity is null || trouble is not null || isMissing ? null : services.Any(service => string.Equals(service.NodeId, identity.NodeId, StringComparison.Ordinal));

        // Strangers on the same network are no members, but that they answer shows that the network lets clients through.
        var own = PeerAddresses.OfThisMachine().Select(static address => address.ToString()).ToHashSet(StringComparer.Ordinal);
        var others = services.Where(service => !own.Contains(service.Address) && (identity is null || !string.Equals(service.NodeId, identity.NodeId, StringComparison.Ordinal)));
        var places = others.Select(static service => (Name: service.NodeId ?? service.Address, Place: $"{service.Address}:{service.Port}"))
            .Concat(identity?.Peers.SelectMany(static peer => peer.Addresses.Select(address => (Name: peer.NodeId, Place: address))) ?? []);
        bool[] reached = await Task.WhenAll(places.GroupBy(static place => place.Name, StringComparer.Ordinal).Select(peer => AnyAnswersAsync(peer.Select(static place => place.Place), cancellationToken)));

        var disk = new PosixDisk();
        var gateway = NetworkTables.DefaultGateway(KernelTable.Read(disk, "/proc/net/route"));
        return (
            new MdnsFacts(trouble, isMissing, services.Count, isAnnounced),
            new NetworkFacts(gateway?.ToString(), gateway is not null && await IsNeighbourAsync(disk, gateway, cancellationToken), reached.Length, reached.Count(static answers => answers)));
    }

    private static async Task<bool> AnyAnswersAsync(IEnumerable<string> places, CancellationToken cancellationToken) =>
        (await Task.WhenAll(places.Select(place => AnswersAsync(place, cancellationToken)))).Contains(true);

    /// <summary>Whether a machine is there: one that refuses the connection is.</summary>
    private static async Task<bool> AnswersAsync(string place, CancellationToken cancellationToken)
    {
        int colon = place.LastIndexOf(':');
        if (colon <= 0 || !int.TryParse(place.AsSpan(colon + 1), out int port))
        {
            return false;
        }

        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(ConnectingPatience);
        try
        {
            using var client = new TcpClient();
            await client.ConnectAsync(place[..colon].Trim('[', ']'), port, patience.Token);
            return true;
        }
        catch (SocketException refused)
        {
            return refused.SocketErrorCode == SocketError.ConnectionRefused;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return false;
        }
    }

    /// <summary>Whether the router answers to its address: a packet to it makes the kernel ask, and the kernel's table then says.</summary>
    private static async Task<bool> IsNeighbourAsync(PosixDisk disk, IPAddress gateway, CancellationToken cancellationToken)
    {
        try
        {
            using var client = new UdpClient();
            await client.SendAsync(ReadOnlyMemory<byte>.Empty, new IPEndPoint(gateway, DiscardPort), cancellationToken);
        }
        catch (SocketException)
        {
            return false;
        }

        await Task.Delay(NeighbourPatience, cancellationToken);
        return NetworkTables.HasAnswered(KernelTable.Read(disk, "/proc/net/arp"), gateway);
    }
}
