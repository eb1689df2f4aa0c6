using System.Net;
using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;
using Microsoft.AspNetCore.Server.Kestrel.Https;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Rookery.Cluster.Identity;

namespace Rookery.Cluster.Peers;

/// <summary>
/// Listens on the port for members. A connection that negotiates <c>rookery/1</c> in the TLS handshake (ALPN) goes to
/// the <see cref="PeerNetwork"/>. Any other connection is HTTPS, and its routes find the caller's identity in
/// <see cref="ProvenPeer"/>.
/// </summary>
public static class PeerListener
{
    /// <summary>
    /// The maximum number of connections: several for each member, and the <see cref="UnknownPeers"/>.
    /// </summary>
    private const int MaxConnections = 256;

    /// <summary>The time after which an idle HTTPS connection is closed, and the limit for a handshake.</summary>
    private static readonly TimeSpan HandshakeTimeout = TimeSpan.FromSeconds(5);

    /// <summary>How long a stop waits for running requests, as on the port for clients.</summary>
    internal static readonly TimeSpan StopTimeout = TimeSpan.FromSeconds(10);

    /// <summary>The protocol between members, as ALPN names it (RFC 7301).</summary>
    public static readonly SslApplicationProtocol Protocol = new("rookery/1");

    /// <summary>Builds a server for one port. The caller starts, stops and disposes it.</summary>
    /// <param name="endPoint">The address to listen at.</param>
    /// <param name="network">Receives the members' links.</param>
    /// <param name="configureHttp">Adds the routes served over HTTPS on the same port.</param>
    public static WebApplication Build(
        IPEndPoint endPoint,
        PeerNetwork network,
        Action<IApplicationBuilder> configureHttp
    )
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Services.Configure<HostOptions>(static host => host.ShutdownTimeout = Timeout.InfiniteTimeSpan);
        builder.Services.AddSingleton<IHostLifetime>(new StoppedByProcess());
        builder
            .WebHost.UseKestrelCore()
            .ConfigureKestrel(kestrel =>
            {
                kestrel.AddServerHeader = false;
                kestrel.Limits.MaxConcurrentConnections = MaxConnections;
                kestrel.Limits.KeepAliveTimeout = HandshakeTimeout;
                kestrel.Limits.RequestHeadersTimeout = HandshakeTimeout;
                kestrel.Listen(endPoint, listen => listen.UsePeers(network));
            });
        var app = builder.Build();
        configureHttp(app);
        return app;
    }

    /// <summary>
    /// Stops a port: closes links at once, waits up to <see cref="StopTimeout"/> for running requests, then aborts the
    /// rest and logs that.
    /// </summary>
    /// <param name="port">The server that <see cref="Build"/> made.</param>
    /// <param name="log">Receives the message about aborted requests.</param>
    /// <param name="time">The clock.</param>
    public static async Task StopAsync(WebApplication port, Action<string> log, TimeProvider time)
    {
        using var timeout = new CancellationTokenSource(StopTimeout, time);
        await port.StopAsync(timeout.Token);
        if (timeout.IsCancellationRequested)
        {
            log(
                $"Some requests of other members had no answer {StopTimeout.TotalSeconds} s after the port for "
                    + "members began to stop, and were cut off."
            );
        }
    }

    /// <summary>Configures a Kestrel endpoint as a port for members.</summary>
    public static ListenOptions UsePeers(this ListenOptions listen, PeerNetwork network)
    {
        var strangers = new UnknownPeers();
        listen.Protocols = HttpProtocols.Http1;
        listen.Use(next => connection => strangers.ServeAsync(connection, next));
        listen.UseHttps(
            new TlsHandshakeCallbackOptions
            {
                HandshakeTimeout = HandshakeTimeout,
                OnConnection = context => new ValueTask<SslServerAuthenticationOptions>(
                    OptionsFor(context.Connection, network.Trust(), strangers)
                ),
            }
        );
        listen.Use(next => connection => IsLink(connection) ? ServeLinkAsync(connection, network) : next(connection));
        return listen;
    }

    /// <summary>
    /// Makes the TLS options of one handshake, with the current certificates. A refused or missing client certificate
    /// does not fail the handshake: a joining node has none yet, and a member is told why its certificate is refused.
    /// </summary>
#pragma warning disable CA5359 // The verdict is checked before a connection is used.
    private static SslServerAuthenticationOptions OptionsFor(
        BaseConnectionContext connection,
        PeerTrust trust,
        UnknownPeers strangers
    ) =>
        new()
        {
            ApplicationProtocols = [Protocol, SslApplicationProtocol.Http11],
            EnabledSslProtocols = SslProtocols.Tls13,
            AllowTlsResume = false, // handshakes are rare, and each must check the current certificates
            ServerCertificateContext = trust.Certificate,
            ClientCertificateRequired = true,
            CertificateChainPolicy = trust.Rule.ChainPolicy(PeerRole.Client),
            RemoteCertificateValidationCallback = (_, certificate, _, _) =>
            {
                var verdict = trust.Rule.Judge((X509Certificate2?)certificate, PeerRole.Client);
                connection.Features.Set(new ProvenPeer(verdict));
                if (verdict.NodeId is not null)
                {
                    strangers.RemoveProven(connection);
                }

                return true;
            },
        };
#pragma warning restore CA5359

    private static bool IsLink(ConnectionContext connection) =>
        connection.Features.Get<ISslStreamFeature>() is { } tls
        && tls.SslStream.NegotiatedApplicationProtocol == Protocol;

    private static async Task ServeLinkAsync(ConnectionContext connection, PeerNetwork network)
    {
        // A server that stops cancels this token and waits for the connection to end.
        var stops =
            connection.Features.Get<IConnectionLifetimeNotificationFeature>()?.ConnectionClosedRequested
            ?? CancellationToken.None;
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(connection.ConnectionClosed, stops);
        var proven = connection.Features.Get<ProvenPeer>();
        var stream = new IncomingStream(
            connection.Features.GetRequiredFeature<ISslStreamFeature>().SslStream,
            proven?.Verdict ?? default,
            (connection.RemoteEndPoint as IPEndPoint)?.Address
        );
        await network.AcceptAsync(stream, linked.Token);
    }

    /// <summary>
    /// Ignores signals. The framework's own lifetime would handle them and stop this port before the node stops.
    /// </summary>
    private sealed class StoppedByProcess : IHostLifetime
    {
        public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}

/// <summary>A connection feature of the port for members: the identity of the other end.</summary>
/// <param name="Verdict">The node that the certificate proves, or why it proves none. <see cref="PeerGate"/> checks
/// whether that node is still a member.</param>
public sealed record ProvenPeer(PeerVerdict Verdict);
