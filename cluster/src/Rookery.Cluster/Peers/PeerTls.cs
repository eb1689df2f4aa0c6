using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;

namespace Rookery.Cluster.Peers;

/// <summary>Makes TLS connections to other members' ports, with certificates on both sides.</summary>
internal static class PeerTls
{
    /// <summary>
    /// Connects to one address. Accepts only a certificate that an authority of this cluster issued to a member.
    /// </summary>
    /// <param name="address"><c>host:port</c>.</param>
    /// <param name="trust">This node's certificate, and the rule for members' certificates.</param>
    /// <param name="protocol">The protocol to negotiate (ALPN).</param>
    /// <param name="cancellationToken">Cancels the attempt.</param>
    /// <returns>The stream, which the caller disposes, and the random id of the node that answered.</returns>
    /// <exception cref="PeerProtocolException">The other end is not a member, or does not speak the
    /// protocol.</exception>
    /// <exception cref="SocketException">The address does not accept connections.</exception>
    public static async Task<(SslStream Stream, string Proven)> ConnectAsync(
        string address,
        PeerTrust trust,
        SslApplicationProtocol protocol,
        CancellationToken cancellationToken
    )
    {
        var verdict = new PeerVerdict(NodeId: null, Refusal: null);
        try
        {
            var stream = await ConnectAsync(
                address,
                trust.Certificate,
                protocol,
                trust.Rule.ChainPolicy(PeerRole.Server),
                presented =>
                {
                    verdict = trust.Rule.Judge(presented, PeerRole.Server);
                    return verdict.NodeId is not null;
                },
                cancellationToken
            );
            return (stream, verdict.NodeId!);
        }
        catch (AuthenticationException) when (verdict.Refusal is not null)
        {
            throw new PeerStrangerException(verdict.Refusal);
        }
    }

    /// <summary>
    /// Connects to any node at an address, for HTTP, and presents this node's certificate. Accepts any certificate.
    /// </summary>
    /// <exception cref="SocketException">The address does not accept connections.</exception>
    public static Task<SslStream> ConnectToAnyoneAsync(
        string address,
        PeerTrust trust,
        CancellationToken cancellationToken
    ) =>
        ConnectAsync(
            address,
            trust.Certificate,
            SslApplicationProtocol.Http11,
            new X509ChainPolicy
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust,
                DisableCertificateDownloads = true,
                RevocationMode = X509RevocationMode.NoCheck,
            },
            static presented => presented is not null,
            cancellationToken
        );

    private static async Task<SslStream> ConnectAsync(
        string address,
        SslStreamCertificateContext own,
        SslApplicationProtocol protocol,
        X509ChainPolicy policy,
        Func<X509Certificate2?, bool> accepts,
        CancellationToken cancellationToken
    )
    {
        var (host, port) = Split(address);
        var stream = new SslStream(
            new NetworkStream(await ConnectAsync(host, port, cancellationToken), ownsSocket: true)
        );
        try
        {
            var options = new SslClientAuthenticationOptions
            {
                TargetHost = host,
                ApplicationProtocols = [protocol],
                EnabledSslProtocols = SslProtocols.Tls13,
                AllowTlsResume = false, // handshakes are rare, and each must check the current certificates
                ClientCertificateContext = own,
                CertificateChainPolicy = policy,
                RemoteCertificateValidationCallback = (_, certificate, _, _) => accepts((X509Certificate2?)certificate),
            };
            await stream.AuthenticateAsClientAsync(options, cancellationToken);
            return stream.NegotiatedApplicationProtocol == protocol
                ? stream
                : throw new PeerProtocolException("The server there does not speak the protocol between members.");
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
            // This tries all addresses of a name. If the system's resolver hangs, the caller's time limit ends the
            // attempt.
            await (
                IPAddress.TryParse(host, out var address)
                    ? socket.ConnectAsync(address, port, cancellationToken)
                    : socket.ConnectAsync(host, port, cancellationToken)
            );
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }
}
