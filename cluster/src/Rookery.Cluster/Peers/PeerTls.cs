using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;

namespace Rookery.Cluster.Peers;

/// <summary>Makes TLS connections to other members' ports: with certificates on both sides, and only to whom an authority of this cluster calls a member.</summary>
internal static class PeerTls
{
    /// <summary>Connects to one address.</summary>
    /// <param name="address"><c>host:port</c>.</param>
    /// <param name="trust">This node's certificate, and whom it takes for members.</param>
    /// <param name="protocol">What is to be spoken (ALPN).</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>The stream, which the caller disposes, and the random id of the node that is there.</returns>
    /// <exception cref="PeerProtocolException">Whoever is there is no member, or does not speak the protocol.</exception>
    /// <exception cref="SocketException">Nobody is there.</exception>
    public static async Task<(SslStream Stream, string Proven)> ConnectAsync(string address, PeerTrust trust, SslApplicationProtocol protocol, CancellationToken cancellationToken)
    {
        var (host, port) = Split(address);
        var stream = new SslStream(new NetworkStream(await ConnectAsync(host, port, cancellationToken), ownsSocket: true));
        try
        {
            return (stream, await AuthenticateAsync(stream, host, trust, protocol, cancellationToken));
        }
        catch
        {
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

    private static async Task<string> AuthenticateAsync(SslStream stream, string host, PeerTrust trust, SslApplicationProtocol protocol, CancellationToken cancellationToken)
    {
        var verdict = new PeerVerdict(null, null);
        var options = new SslClientAuthenticationOptions
        {
            TargetHost = host,
            ApplicationProtocols = [protocol],
            EnabledSslProtocols = SslProtocols.Tls13,
            AllowTlsResume = false,                     // handshakes are rare here, and each shall look at the certificates of now
            ClientCertificateContext = trust.Certificate,
            CertificateChainPolicy = trust.Rule.ChainPolicy(PeerRole.Server),
            RemoteCertificateValidationCallback = (_, certificate, _, _) =>
            {
                verdict = trust.Rule.Judge((X509Certificate2?)certificate, PeerRole.Server);
                return verdict.NodeId is not null;
            },
        };
        try
        {
            await stream.AuthenticateAsClientAsync(options, cancellationToken);
        }
        catch (AuthenticationException) when (verdict.Refusal is not null)
        {
            throw new PeerStrangerException(verdict.Refusal);
        }

        return stream.NegotiatedApplicationProtocol == protocol
            ? verdict.NodeId!
            : throw new PeerProtocolException("What listens there does not speak the protocol between members.");
    }
}
