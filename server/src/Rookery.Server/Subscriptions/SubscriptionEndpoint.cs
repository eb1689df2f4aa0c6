using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Rookery.Platform;

namespace Rookery.Server.Subscriptions;

/// <summary>
/// The endpoint of RavenDB's TCP protocol. Bounds the connections that did not authenticate yet: their number here,
/// their bytes and time in <see cref="SubscriptionConnection"/>.
/// </summary>
internal sealed class SubscriptionEndpoint(ServerContext context)
{
    /// <summary>
    /// Most connections that did not authenticate yet; further ones are closed on arrival. Four times what one address
    /// may have, so that one address cannot lock out the others.
    /// </summary>
    public const int MaxHandshakes = 4 * MaxOfAddress;

    /// <summary>Most connections of one address.</summary>
    public const int MaxOfAddress = 64;

    private const SocketOptionLevel Tcp = SocketOptionLevel.Tcp;

    // A client that vanished is noticed after these times, so that its subscription becomes free for another worker.
    private const int SecondsBeforeProbe = 30;
    private const int SecondsBetweenProbes = 10;
    private const int Probes = 3;

    // Linux: TCP_USER_TIMEOUT, in milliseconds, for a peer that vanished while bytes to it are unacknowledged.
    private const int UserTimeoutOption = 18;
    private const int UserTimeoutMilliseconds = 60_000;

    private static readonly object SlotItem = new();
    private int _handshakes;

    /// <summary>Admits a connection before its TLS handshake.</summary>
    public async Task AdmitAsync(ConnectionContext connection, ConnectionDelegate next)
    {
        if (Interlocked.Increment(ref _handshakes) > MaxHandshakes)
        {
            Interlocked.Decrement(ref _handshakes);
            context.Subscriptions.CountRefusal();
            connection.Abort(new ConnectionAbortedException("Too many connections have not authenticated yet."));
            return;
        }

        var slot = new Slot(this);
        connection.Items[SlotItem] = slot;
        try
        {
            DetectVanishedPeer(connection);
            await next(connection);
        }
        finally
        {
            slot.Release();
        }
    }

    /// <summary>Serves an admitted connection.</summary>
    public Task ServeAsync(ConnectionContext connection) =>
        SocketThreads.RunOnPoolAsync(
            static async on =>
            {
                using var worker = new SubscriptionConnection(on.Context, on.Connection, on.Slot.Release);
                await worker.RunAsync();
            },
            (Context: context, Connection: connection, Slot: (Slot)connection.Items[SlotItem]!)
        );

    private static void DetectVanishedPeer(ConnectionContext connection)
    {
        if (connection.Features.Get<IConnectionSocketFeature>()?.Socket is not { } socket)
        {
            return;
        }

        try
        {
            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, optionValue: true);
            socket.SetSocketOption(Tcp, SocketOptionName.TcpKeepAliveTime, SecondsBeforeProbe);
            socket.SetSocketOption(Tcp, SocketOptionName.TcpKeepAliveInterval, SecondsBetweenProbes);
            socket.SetSocketOption(Tcp, SocketOptionName.TcpKeepAliveRetryCount, Probes);
            Span<byte> value = stackalloc byte[sizeof(int)];
            System.Buffers.Binary.BinaryPrimitives.WriteInt32LittleEndian(value, UserTimeoutMilliseconds);
            socket.SetRawSocketOption((int)ProtocolType.Tcp, UserTimeoutOption, value);
        }
        catch (SocketException)
        {
            // The peer has left already.
        }
    }

    private sealed class Slot(SubscriptionEndpoint endpoint)
    {
        private int _isReleased;

        public void Release()
        {
            if (Interlocked.Exchange(ref _isReleased, 1) == 0)
            {
                Interlocked.Decrement(ref endpoint._handshakes);
            }
        }
    }
}
