using System.Net;
using Microsoft.AspNetCore.Connections;

namespace Rookery.Cluster.Peers;

/// <summary>
/// The connections to the port for members whose other end has not proven to be one: so few that they cost nothing, and
/// the newest go on. Refusing the newest instead would let anybody shut members out who opens as many as there may be
/// and says nothing; here he has to open them faster than a member shakes hands. Thread-safe.
/// </summary>
internal sealed class Strangers
{
    /// <summary>The most at once.</summary>
    internal const int Most = 64;

    /// <summary>The most at once of one address.</summary>
    internal const int MostOfOneAddress = 16;

    private readonly Lock _gate = new();

    // The oldest first.
    private readonly List<BaseConnectionContext> _connections = [];

    /// <summary>
    /// Carries a connection that came in to its end; until it is <see cref="Known"/>, or later ones need its place.
    /// </summary>
    public async Task CarryAsync(ConnectionContext connection, ConnectionDelegate next)
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

    /// <summary>Its other end has proven which node it is: it is none of these any more.</summary>
    public void Known(BaseConnectionContext connection) => Remove(connection.ConnectionId);

    private void Add(BaseConnectionContext connection)
    {
        BaseConnectionContext? oldest = null;
        lock (_gate)
        {
            if (_connections.Count(other => AddressOf(other).Equals(AddressOf(connection))) >= MostOfOneAddress)
            {
                oldest = _connections.Find(other => AddressOf(other).Equals(AddressOf(connection)));
            }
            else if (_connections.Count >= Most)
            {
                oldest = _connections[0];
            }

            _connections.Add(connection);
            if (oldest is not null)
            {
                _connections.Remove(oldest);
            }
        }

        oldest?.Abort(new ConnectionAbortedException("Others who have not shown who they are need its place."));
    }

    // By its id: later in the handshake it is another object.
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
