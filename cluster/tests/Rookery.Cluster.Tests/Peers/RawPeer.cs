using System.Buffers.Binary;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Text;
using Rookery.Cluster.Peers;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>One end of a connection with a valid certificate that sends any bytes a test wants.</summary>
internal sealed class RawPeer : IAsyncDisposable
{
    private readonly SslStream _stream;
    private readonly PacketReader _reader;

    private RawPeer(SslStream stream) =>
        (_stream, _reader) = (stream, new PacketReader(stream, PeerProtocol.MaxBulkPacketBytes));

    /// <summary>Connects to a member, without checking its certificate.</summary>
    public static async Task<RawPeer> DialAsync(int port, PeerTrust trust)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(IPAddress.Loopback, port);
        var tls = new SslStream(new NetworkStream(socket, ownsSocket: true));
        await tls.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions
            {
                TargetHost = "127.0.0.1",
                ApplicationProtocols = [PeerListener.Protocol],
                ClientCertificateContext = trust.Certificate,
                RemoteCertificateValidationCallback = static (_, certificate, _, _) => certificate is not null,
            }
        );
        return new RawPeer(tls);
    }

    /// <summary>Accepts the connection of a member.</summary>
    public static async Task<RawPeer> AcceptAsync(TcpListener listener, PeerTrust trust)
    {
        var tls = new SslStream(new NetworkStream(await listener.AcceptSocketAsync(), ownsSocket: true));
        await tls.AuthenticateAsServerAsync(
            new SslServerAuthenticationOptions
            {
                ApplicationProtocols = [PeerListener.Protocol],
                ServerCertificateContext = trust.Certificate,
            }
        );
        return new RawPeer(tls);
    }

    public async Task SayHelloAsync(PeerHello hello) => await SendAsync(PacketKind.Hello, Encode(hello));

    public static byte[] Encode(PeerHello hello)
    {
        byte[] body = new byte[hello.SizeInBytes];
        hello.Write(body);
        return body;
    }

    public async Task SendAsync(PacketKind kind, byte[] body)
    {
        byte[] packet = new byte[PeerProtocol.PacketHeadBytes + body.Length];
        BinaryPrimitives.WriteInt32LittleEndian(packet, body.Length + 1);
        packet[4] = (byte)kind;
        body.CopyTo(packet, PeerProtocol.PacketHeadBytes);
        await SendAsync(packet);
    }

    public async Task SendAsync(byte[] bytes)
    {
        try
        {
            await _stream.WriteAsync(bytes);
        }
        catch (IOException)
        {
            // The other end closed the connection, which tests notice when they read.
        }
    }

    /// <summary>The next packet; null when the connection is closed.</summary>
    public async Task<(PacketKind Kind, byte[] Body)?> ReceiveAsync()
    {
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        PacketKind kind;
        ReadOnlyMemory<byte> body;
        while (!_reader.TryRead(out kind, out body))
        {
            try
            {
                if (!await _reader.FillAsync(timeout.Token))
                {
                    return null;
                }
            }
            catch (IOException)
            {
                return null;
            }
        }

        return (kind, body.ToArray());
    }

    /// <summary>Reads until the other end closes.</summary>
    /// <returns>The reason of the refusal; null if there was none.</returns>
    public async Task<string?> ReadToEndAsync()
    {
        string? refusal = null;
        while (await ReceiveAsync() is { } packet)
        {
            refusal = packet.Kind == PacketKind.Refusal ? Encoding.UTF8.GetString(packet.Body) : refusal;
        }

        return refusal;
    }

    public async ValueTask DisposeAsync()
    {
        _reader.Dispose();
        await _stream.DisposeAsync();
    }
}
