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
/// Serves <see cref="WelcomePage"/>: a server of its own beside that of clients, so that whoever fills this one, which
/// lets everybody in, takes nothing from them, and so that no route of theirs can be reached here.
/// </summary>
public sealed class WelcomeServer : IHttpApplication<HttpContext>, IAsyncDisposable
{
    // A browser opens six at most.
    private const int MostConnections = 48;
    private const int MostOfAddress = 8;

    private readonly WelcomePage _page;
    private readonly LoggerFactory _loggers;
    private readonly KestrelServer _server;

    /// <summary>One that was not started yet.</summary>
    /// <param name="context">What the page tells of.</param>
    /// <param name="listen">Where it is to answer.</param>
    public WelcomeServer(ServerContext context, IPEndPoint listen)
    {
        _page = new WelcomePage(context, listen.Port);
        _loggers = new LoggerFactory(
            [new SharedLoggerProvider(context.Log)],
            new LoggerFilterOptions { MinLevel = LogLevel.Warning }
        );
        var options = new KestrelServerOptions { AddServerHeader = false };
        options.Limits.MaxConcurrentConnections = MostConnections;
        options.Limits.MaxRequestBodySize = 0;
        options.Limits.MaxRequestLineSize = 1 << 10;
        options.Limits.MaxRequestHeadersTotalSize = 8 << 10;
        options.Limits.MaxRequestBufferSize = 16 << 10;
        options.Limits.RequestHeadersTimeout = TimeSpan.FromSeconds(5);
        options.Limits.KeepAliveTimeout = TimeSpan.FromSeconds(5);
        var byAddress = new ConnectionsByAddress(MostOfAddress, context.Log, context.Time);
        options.Listen(
            listen,
            endpoint =>
            {
                endpoint.Protocols = HttpProtocols.Http1;
                endpoint.Use(next => connection => byAddress.CarryAsync(connection, next));
            }
        );
        _server = new KestrelServer(
            Options.Create(options),
            new SocketTransportFactory(Options.Create(new SocketTransportOptions()), _loggers),
            _loggers
        );
    }

    /// <summary>Where it answers.</summary>
    public Uri Address => new(_server.Features.GetRequiredFeature<IServerAddressesFeature>().Addresses.Single());

    /// <summary>Begins to serve.</summary>
    /// <exception cref="IOException">The address is in use.</exception>
    /// <exception cref="System.Net.Sockets.SocketException">It may not be used, or is none of this machine.</exception>
    public Task StartAsync() => _server.StartAsync(this, CancellationToken.None);

    /// <inheritdoc/>
    public HttpContext CreateContext(IFeatureCollection contextFeatures) => new DefaultHttpContext(contextFeatures);

    /// <inheritdoc/>
    public Task ProcessRequestAsync(HttpContext context) => _page.AnswerAsync(context);

    /// <inheritdoc/>
    public void DisposeContext(HttpContext context, Exception? exception) { }

    /// <summary>Ends it; who still reads the page is cut off.</summary>
    public async ValueTask DisposeAsync()
    {
        await _server.StopAsync(new CancellationToken(canceled: true));
        _server.Dispose();
        _loggers.Dispose();
    }
}
