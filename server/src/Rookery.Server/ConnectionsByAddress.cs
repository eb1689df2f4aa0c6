using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.Logging;
using Rookery.Server.Support;

namespace Rookery.Server;

/// <summary>
/// Limits the connections of each remote address, so that one host cannot take all connections of the node, with or
/// without a credential. Further connections are closed on arrival. Loopback is not limited, because a proxy on this
/// machine carries the connections of all clients. Thread-safe.
/// </summary>
/// <param name="max">Connections that one address may have at once.</param>
/// <param name="log">Receives a warning at a refusal, at most once a minute.</param>
/// <param name="time">The clock.</param>
internal sealed class ConnectionsByAddress(int max, ILogger log, TimeProvider time)
{
    // An IPv6 host can use every address of its /64 network (RFC 7934), so the network is counted.
    private const int NetworkBytes = 8;

    private static readonly TimeSpan BetweenWarnings = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<IPAddress, int> _counts = [];
    private long? _warnedAt;
    private long? _refusedAt;
    private long _refused;

    /// <summary>The connections that were closed on arrival since the start.</summary>
    public long Refused
    {
        get
        {
            lock (_gate)
            {
                return _refused;
            }
        }
    }

    /// <summary>How long ago a connection was last closed on arrival; null if none was.</summary>
    public TimeSpan? SinceLastRefusal
    {
        get
        {
            lock (_gate)
            {
                return _refusedAt is { } at ? time.GetElapsedTime(at) : null;
            }
        }
    }

    /// <summary>The connections that one address may have at once.</summary>
    public int Max => max;

    /// <summary>
    /// Runs a new connection until it ends and counts it meanwhile; closes it at once if its address has too many.
    /// </summary>
    public Task RunAsync(ConnectionContext connection, ConnectionDelegate next)
    {
        if ((connection.RemoteEndPoint as IPEndPoint)?.Address is not { } address || IPAddress.IsLoopback(address))
        {
            return next(connection);
        }

        var host = HostOf(address);
        if (TryAdd(host))
        {
            return RunAsync(connection, next, host);
        }

        connection.Abort(new ConnectionAbortedException("Its address has too many connections already."));
        return Task.CompletedTask;
    }

    private async Task RunAsync(ConnectionContext connection, ConnectionDelegate next, IPAddress host)
    {
        try
        {
            await next(connection);
        }
        finally
        {
            Remove(host);
        }
    }

    private bool TryAdd(IPAddress host)
    {
        lock (_gate)
        {
            int count = _counts.GetValueOrDefault(host);
            if (count < max)
            {
                _counts[host] = count + 1;
                return true;
            }

            _refused++;
            _refusedAt = time.GetTimestamp();
            if (_warnedAt is { } at && time.GetElapsedTime(at) < BetweenWarnings)
            {
                return false;
            }

            _warnedAt = time.GetTimestamp();
        }

        log.LogWarning(
            LogEvents.TooManyConnections,
            "{Address} has {Count} connections to this node, the maximum for one address: further ones are "
                + "reset until some close. Let its programs share their connections, or give the node more memory "
                + "(--memory), which raises the maximum.",
            host,
            max
        );
        return false;
    }

    private void Remove(IPAddress host)
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
