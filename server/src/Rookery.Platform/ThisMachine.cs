using System.Net;
using System.Net.Sockets;

namespace Rookery.Platform;

/// <summary>
/// Connects to programs of this machine. They receive tokens in plain text, because the tokens do not leave the
/// machine. So only loopback addresses are used, whatever a resolver answers for <c>localhost</c>: with an incomplete
/// /etc/hosts, the answer can be another machine.
/// </summary>
public static class ThisMachine
{
    /// <summary>Returns the loopback addresses of a host.</summary>
    /// <exception cref="SocketException">The host has none.</exception>
    public static async Task<IPAddress[]> ResolveAsync(string host, CancellationToken cancellationToken) =>
        OnlyLoopback(await Dns.GetHostAddressesAsync(host, cancellationToken));

    /// <summary>Connects to a host at one of its loopback addresses. The caller disposes the stream.</summary>
    /// <exception cref="SocketException">The host has no such address, or nothing listens there.</exception>
    public static async ValueTask<Stream> ConnectAsync(DnsEndPoint host, CancellationToken cancellationToken)
    {
        var addresses = await ResolveAsync(host.Host, cancellationToken);
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            await socket.ConnectAsync(addresses, host.Port, cancellationToken);
            return new NetworkStream(socket, ownsSocket: true);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    internal static IPAddress[] OnlyLoopback(IPAddress[] addresses) =>
        Array.FindAll(addresses, IPAddress.IsLoopback) is { Length: > 0 } own
            ? own
            : throw new SocketException((int)SocketError.HostNotFound);
}
