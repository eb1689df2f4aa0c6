using System.Net;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Rookery.Server.Welcome;

/// <summary>
/// Serves <see cref="WelcomePage"/>. It is separate from the server for clients, so that requests without a credential
/// cannot exhaust the clients' connections, and cannot reach the clients' routes.
/// </summary>
public sealed class WelcomeServer : IHttpApplication<HttpContext>, IAsyncDisposable
{
    // A browser opens six connections at most.
    private const int MaxConnections = 48;
    private const int MaximumPerAddress = 8;

    // The default of the sockets is 1 MiB for each connection.
    private const int BufferBytes = 16 << 10;

    private readonly WelcomePage _page;
    private readonly LoggerFactory _loggers;
    private readonly KestrelServer _server;

    /// <summary>Creates the server; call <see cref="StartAsync"/> to listen.</summary>
    /// <param name="context">State that the page shows.</param>
    /// <param name="listen">Address and port to listen on.</param>
    public WelcomeServer(ServerContext context, IPEndPoint listen)
    {
        _page = new WelcomePage(context, listen.Port);
        _loggers = new LoggerFactory(
            [new SharedLoggerProvider(context.Log)],
            new LoggerFilterOptions { MinLevel = LogLevel.Warning }
        );
        var options = new KestrelServerOptions { AddServerHeader = false };
        StrictContentLength.Require(options);
        options.Limits.MaxConcurrentConnections = MaxConnections;
        options.Limits.MaxRequestBodySize = 0;
        options.Limits.MaxRequestLineSize = 1 << 10;
        options.Limits.MaxRequestHeadersTotalSize = 8 << 10;
        options.Limits.MaxRequestBufferSize = BufferBytes;
        options.Limits.RequestHeadersTimeout = TimeSpan.FromSeconds(5);
        options.Limits.KeepAliveTimeout = TimeSpan.FromSeconds(5);
        var byAddress = new ConnectionsByAddress(MaximumPerAddress, context.Log, context.Time);
        options.Listen(
            listen,
            endpoint =>
            {
                endpoint.Protocols = HttpProtocols.Http1;
                endpoint.Use(next => connection => byAddress.RunAsync(connection, next));
            }
        );
        _server = new KestrelServer(
            Options.Create(options),
            new SocketTransportFactory(
                Options.Create(new SocketTransportOptions { MaxReadBufferSize = BufferBytes }),
                _loggers
            ),
            _loggers
        );
    }

    /// <summary>The URL of the page; valid after <see cref="StartAsync"/>.</summary>
    public Uri Address => new(_server.Features.GetRequiredFeature<IServerAddressesFeature>().Addresses.Single());

    /// <summary>Starts to listen.</summary>
    /// <exception cref="IOException">The address is in use.</exception>
    /// <exception cref="System.Net.Sockets.SocketException">The address may not be used, or is not an address of this
    /// machine.</exception>
    public Task StartAsync() => _server.StartAsync(this, CancellationToken.None);

    /// <inheritdoc/>
    public HttpContext CreateContext(IFeatureCollection contextFeatures) => new DefaultHttpContext(contextFeatures);

    /// <inheritdoc/>
    public Task ProcessRequestAsync(HttpContext context) => _page.AnswerAsync(context);

    /// <inheritdoc/>
    public void DisposeContext(HttpContext context, Exception? exception) { }

    /// <summary>Stops the server and disconnects clients that still read.</summary>
    public async ValueTask DisposeAsync()
    {
        await _server.StopAsync(new CancellationToken(canceled: true));
        _server.Dispose();
        _loggers.Dispose();
    }
}
