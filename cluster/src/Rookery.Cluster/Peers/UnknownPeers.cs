using System.Net;
using Microsoft.AspNetCore.Connections;

namespace Rookery.Cluster.Peers;

/// <summary>
/// The connections to the port for members whose other end has not proven its identity. Their number is limited, and a
/// new one replaces the oldest. If new ones were refused instead, an attacker could lock members out with a few silent
/// connections. Thread-safe.
/// </summary>
internal sealed class UnknownPeers
{
    /// <summary>The maximum number of such connections.</summary>
    internal const int MaxPeers = 64;

    /// <summary>The maximum number of such connections from one address.</summary>
    internal const int MaxPerAddress = 16;

    private readonly Lock _gate = new();

    // Oldest first.
    private readonly List<BaseConnectionContext> _connections = [];

    /// <summary>
    /// Serves an accepted connection until it ends. It counts as a stranger until <see cref="RemoveProven"/>, and may
    /// be aborted to make room for a newer one.
    /// </summary>
    public async Task ServeAsync(ConnectionContext connection, ConnectionDelegate next)
    {
        Add(connection);
        try
        {
            await next(connection);
        }
        finally
        {
            Remove(connection.ConnectionId);
        }
    }

    /// <summary>Removes a connection from the strangers, because its other end has proven which node it is.</summary>
    public void RemoveProven(BaseConnectionContext connection) => Remove(connection.ConnectionId);

    private void Add(BaseConnectionContext connection)
    {
        BaseConnectionContext? oldest = null;
        lock (_gate)
        {
            if (_connections.Count(other => AddressOf(other).Equals(AddressOf(connection))) >= MaxPerAddress)
            {
                oldest = _connections.Find(other => AddressOf(other).Equals(AddressOf(connection)));
            }
            else if (_connections.Count >= MaxPeers)
            {
                oldest = _connections[0];
            }

            _connections.Add(connection);
            if (oldest is not null)
            {
                _connections.Remove(oldest);
            }
        }

        oldest?.Abort(new ConnectionAbortedException("A newer connection without a proven identity took its place."));
    }

    // By id, because the same connection is represented by another object later in the handshake.
    private void Remove(string connectionId)
    {
        lock (_gate)
        {
            _connections.RemoveAll(connection =>
                string.Equals(connection.ConnectionId, connectionId, StringComparison.Ordinal)
            );
        }
    }

    private static IPAddress AddressOf(BaseConnectionContext connection) =>
        (connection.RemoteEndPoint as IPEndPoint)?.Address ?? IPAddress.None;
}
