using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;
using Rookery.Disk;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>Makes connections to other members: TCP, TLS with certificates on both sides, hello.</summary>
internal sealed class PeerDialer(PeerHello self, Func<PeerTrust> trust, PeerGate gate, TimeProvider time, MemoryShare? memory)
{
    /// <summary>How long one address may take until both ends have said hello.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(3);

    /// <summary>Connects to a member.</summary>
    /// <param name="node">Who must be there.</param>
    /// <param name="address"><c>host:port</c>.</param>
    /// <param name="kind">What for.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>The connection, and what to dispose behind it.</returns>
    public async Task<(PeerConnection Connection, IAsyncDisposable Stream)> DialAsync(NodeId node, string address, LinkKind kind, CancellationToken cancellationToken)
    {
        using var patience = new CancellationTokenSource(Patience, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(patience.Token, cancellationToken);
        var (host, port) = Split(address);
        var socket = await ConnectAsync(host, port, either.Token);
        var stream = new SslStream(new NetworkStream(socket, ownsSocket: true));
        var reader = new PacketReader(stream, PeerProtocol.MaxControlPacketBytes, memory);
        try
        {
            string proven = await AuthenticateAsync(stream, host, either.Token);
            await PeerHandshake.WriteAsync(stream, new HelloBody(self with { Kind = kind }), either.Token);
            var remote = await PeerHandshake.ReadHelloAsync(reader, either.Token);
            if (gate.Refuse(remote, proven) is { } refusal)
            {
                await PeerHandshake.WriteAsync(stream, new RefusalBody(refusal), either.Token);
                throw new PeerProtocolException($"It was refused: {refusal}");
            }

            if (remote.Member != node || remote.Kind != kind)
            {
                throw new PeerProtocolException($"Node {remote.NodeId} answers there, and not the one that was looked for.");
            }

            return (new PeerConnection(stream, reader, remote, asks: true, time, memory), stream);
        }
        catch
        {
            reader.Dispose();
            await stream.DisposeAsync();
            throw;
        }
    }

    private static (string Host, int Port) Split(string address)
    {
        int colon = address.LastIndexOf(':');
        return colon > 0 && int.TryParse(address.AsSpan(colon + 1), out int port) && port is > 0 and <= ushort.MaxValue
            ? (address[..colon].Trim('[', ']'), port)
            : throw new PeerProtocolException($"The address \"{address}\" is not of the form host:port.");
    }

    private static async Task<Socket> ConnectAsync(string host, int port, CancellationToken cancellationToken)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            // Of a name all addresses are tried. The resolver of the system may hang; then the attempt is over when its time is.
            await (IPAddress.TryParse(host, out var address)
                ? socket.ConnectAsync(address, port, cancellationToken)
                : socket.ConnectAsync(host, port, cancellationToken));
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    private async Task<string> AuthenticateAsync(SslStream stream, string host, CancellationToken cancellationToken)
    {
        var current = trust();
        var verdict = new PeerVerdict(null, null);
        var options = new SslClientAuthenticationOptions
        {
            TargetHost = host,
            ApplicationProtocols = [PeerListener.Protocol],
            EnabledSslProtocols = SslProtocols.Tls13,
            AllowTlsResume = false,                     // handshakes are rare here, and each shall look at the certificates of now
            ClientCertificateContext = current.Certificate,
            CertificateChainPolicy = current.Rule.ChainPolicy(PeerRole.Server),
            RemoteCertificateValidationCallback = (_, certificate, _, _) =>
            {
                verdict = current.Rule.Judge((X509Certificate2?)certificate, PeerRole.Server);
                return verdict.NodeId is not null;
            },
        };
        try
        {
            await stream.AuthenticateAsClientAsync(options, cancellationToken);
        }
        catch (AuthenticationException) when (verdict.Refusal is not null)
        {
            throw new PeerProtocolException(verdict.Refusal);
        }

        return stream.NegotiatedApplicationProtocol == PeerListener.Protocol
            ? verdict.NodeId!
            : throw new PeerProtocolException("What listens there does not speak the protocol between members.");
    }
}
