using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.Logging;
using Rookery.Server.Support;

namespace Rookery.Server;

/// <summary>
/// Counts the connections of each remote address, and closes those that are too many on arrival: nobody alone takes all
/// that the node serves at once, with or without a credential. This machine's own do not count, because a proxy here
/// brings everybody's. Thread-safe.
/// </summary>
/// <param name="most">How many one address may have at once.</param>
/// <param name="log">Told of the first that is refused, and at most once a minute.</param>
/// <param name="time">The clock.</param>
internal sealed class ConnectionsByAddress(int most, ILogger log, TimeProvider time)
{
    // Of IPv6 a host has a network to itself (RFC 7934).
    private const int NetworkBytes = 8;

    private static readonly TimeSpan BetweenWarnings = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<IPAddress, int> _counts = [];
    private long? _warnedAt;

    /// <summary>Carries a connection that came in to its end, or closes it.</summary>
    public Task CarryAsync(ConnectionContext connection, ConnectionDelegate next)
    {
        if ((connection.RemoteEndPoint as IPEndPoint)?.Address is not { } address || IPAddress.IsLoopback(address))
        {
            return next(connection);
        }

        var host = HostOf(address);
        if (Enter(host))
        {
            return CarryAsync(connection, next, host);
        }

        connection.Abort(new ConnectionAbortedException("Its address has too many connections already."));
        return Task.CompletedTask;
    }

    private async Task CarryAsync(ConnectionContext connection, ConnectionDelegate next, IPAddress host)
    {
        try
        {
            await next(connection);
        }
        finally
        {
            Leave(host);
        }
    }

    private bool Enter(IPAddress host)
    {
        lock (_gate)
        {
            int count = _counts.GetValueOrDefault(host);
            if (count < most)
            {
                _counts[host] = count + 1;
                return true;
            }

            if (_warnedAt is { } at && time.GetElapsedTime(at) < BetweenWarnings)
            {
                return false;
            }

            _warnedAt = time.GetTimestamp();
        }

        log.LogWarning(
            LogEvents.TooManyConnections,
            "{Address} has {Count} connections to this node, the most that one address may have: it gets no "
                + "more until some end.",
            host,
            most
        );
        return false;
    }

    private void Leave(IPAddress host)
    {
        lock (_gate)
        {
            if (--_counts[host] == 0)
            {
                _counts.Remove(host);
            }
        }
    }

    private static IPAddress HostOf(IPAddress address)
    {
        if (address.IsIPv4MappedToIPv6)
        {
            return address.MapToIPv4();
        }

        if (address.AddressFamily != AddressFamily.InterNetworkV6)
        {
            return address;
        }

        byte[] network = address.GetAddressBytes();
        network.AsSpan(NetworkBytes).Clear();
        return new IPAddress(network);
    }
}
