using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Alerts;
using Rookery.Server.Dashboard;
using Rookery.Server.FastPath;
using Rookery.Server.Observation;
using Rookery.Server.Operations;
using Rookery.Server.Raven;
using Rookery.Server.Subscriptions;
using Rookery.Server.Support;
using Rookery.Server.Transfer;

namespace Rookery.Server;

/// <summary>Builds and stops the HTTP server of one node.</summary>
public static class RookeryServer
{
    // Bytes that one connection buffers in each direction before it slows its client down. With 16 KiB an answer of 100
    // KB took 40 % more processor time. The limits of the sockets apply to plain HTTP, Kestrel's to bytes that TLS has
    // decrypted. The sockets' default is 1 MiB: 60 half-sent bulk inserts pinned 62 MiB, and a node of 256 MiB ran out
    // of memory.
    internal const int ConnectionBufferBytes = 64 << 10;

    // The limit of connections of one address is between these. RavenDB's clients open one for each concurrent request.
    private static readonly (int Low, int High) AddressLimitBounds = (64, 512);

    // Durations of these routes depend on their readers.
    private static readonly string[] UncountedPatterns = ["/changes", "/streams", "/export"];

    /// <summary>
    /// How long reads may continue after the server begins to stop. Long reads end themselves at once. Reads that still
    /// run after this time are cut off, because their clients do not read the answer.
    /// </summary>
    internal static readonly TimeSpan ReadStopTimeout = TimeSpan.FromSeconds(1);

    /// <summary>
    /// How long a stop waits for all answers: long enough for a write that waits for a majority, or for a slow sync,
    /// which can take seconds on a memory card.
    /// </summary>
    internal static readonly TimeSpan StopTimeout = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Builds the application. The caller starts and stops it, and sets <see cref="ServerContext.Readiness"/> when
    /// documents can be served.
    /// </summary>
    /// <param name="context">State that the routes share.</param>
    /// <param name="configureHost">Configures the host differently, for tests that serve from memory; null to listen as
    /// configured.</param>
    public static WebApplication Build(ServerContext context, Action<IWebHostBuilder>? configureHost = null)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        // A failed start is also thrown as an exception, which the caller reports in one sentence, so the host does not
        // log it.
        builder
            .Logging.AddProvider(new SharedLoggerProvider(context.RequestLog))
            .SetMinimumLevel(LogLevel.Warning)
            .AddFilter("Microsoft.Extensions.Hosting", LogLevel.None);
        builder.Services.AddRoutingCore();
        builder.Services.Configure<HostOptions>(static host => host.ShutdownTimeout = Timeout.InfiniteTimeSpan);
        builder.Services.AddSingleton(context);
        builder.Services.AddSingleton<IHostLifetime>(new StoppedByProcess());
        builder.Services.AddSingleton<IHostedService>(context.Background);
        builder.Services.AddSingleton<IHostedService>(context.Observation);
        // A request is parsed, and answered by the fast path, on the thread that received its bytes; RequestGate moves
        // other requests to the pool. With the default, each read and write wakes another thread of the pool (one
        // connection: 3,880 writes/s instead of 4,570).
        builder
            .WebHost.UseKestrelCore()
            .UseSockets(static sockets =>
            {
                sockets.UnsafePreferInlineScheduling = true;
                sockets.MaxReadBufferSize = ConnectionBufferBytes;
                sockets.MaxWriteBufferSize = ConnectionBufferBytes;
            })
            .ConfigureKestrel(kestrel => Configure(kestrel, context));
        configureHost?.Invoke(builder.WebHost);

        var app = builder.Build();
        EndReadsAfterStop(context, app.Lifetime);
        app.UseRouting();
        app.Use(next => new RequestGate(context, next).HandleAsync);
        var routes = app.MapGroup(string.Empty);
        ((IEndpointConventionBuilder)routes).Finally(endpoint => Complete(endpoint, context));
        MapRoutes(routes, context);
        context.MemberAlerts ??= context.Options.IsObserved ? () => context.Observation.AlertsOfOthers : null;
        context.Forwarding.MakeRoutes = () => app.Services.GetRequiredService<EndpointDataSource>().Endpoints.Count;
        return app;
    }

    /// <summary>
    /// Stops the application: reads end within <see cref="ReadStopTimeout"/>, writes within <see cref="StopTimeout"/>,
    /// and background work ends. Requests that are still unanswered then are cut off with a warning in the log.
    /// </summary>
    /// <param name="app">The result of <see cref="Build"/>.</param>
    /// <param name="context">The context it was built with.</param>
    public static async Task StopAsync(WebApplication app, ServerContext context)
    {
        using var timeout = new CancellationTokenSource(StopTimeout, context.Time);
        await app.StopAsync(timeout.Token);
        if (timeout.IsCancellationRequested)
        {
            context.Log.LogWarning(
                LogEvents.StopCutOff,
                "Some requests had no answer {Seconds} s after the stop began, and were cut off.",
                StopTimeout.TotalSeconds
            );
        }
    }

    private static void EndReadsAfterStop(ServerContext context, IHostApplicationLifetime lifetime)
    {
        var end = new CancellationTokenSource();
        context.Stopping = lifetime.ApplicationStopping;
        context.ReadsEnd = end.Token;
        context.Stopping.Register(() => context.Readiness.Node?.Consensus.EndWaitingReads());
        context.Stopping.Register(() => _ = EndAsync());

        async Task EndAsync()
        {
            await Task.Delay(ReadStopTimeout, context.Time, CancellationToken.None);
            await end.CancelAsync();
        }
    }

    // One line for each group of routes.
    private static void MapRoutes(IEndpointRouteBuilder routes, ServerContext context)
    {
        HealthRoutes.Map(routes, context);
        HelpRoutes.Map(routes);
        DashboardRoutes.Map(routes, context);
        SessionRoutes.Map(routes, context);
        Raven.RavenRoutes.Map(routes, context);
        MetricsRoute.Map(routes, context);
        MachineMetricsRoute.Map(routes, context);
        DiscoveryRoute.Map(routes, context);
        DebugIoRoute.Map(routes, context);
        AlertRoutes.Map(routes, context);
        LogRoute.Map(routes, context);
        SettingsRoute.Map(routes, context);
        DebugPackageRoute.Map(routes, context);
        Observation.LiveRoute.Map(routes, context);
        Observation.HistoryRoutes.Map(routes, context);
        Observation.RedisRoute.Map(routes, context);
        Observation.FindRoute.Map(routes, context);
        ChangesStreamRoute.Map(routes, context);
        ImportRoute.Map(routes, context);
        ExportRoute.Map(routes, context);
        BackupRoute.Map(routes, context);
        ClaimRoute.Map(routes, context);
        TokenRoutes.Map(routes, context);
        CertificateRoutes.Map(routes, context);
        foreach (var route in context.Options.AdminRoutes)
        {
            routes
                .MapMethods(route.Path, [route.Method], Raven.RavenRoute.OnServer(route.Handler))
                .For(RouteScope.Admin)
                .Taking(new RouteParameters([.. route.Parameters]) { TakesNoBody = !route.TakesBody });
        }
    }

    private static void Complete(EndpointBuilder endpoint, ServerContext context)
    {
        if (endpoint is RouteEndpointBuilder route)
        {
            var scope = endpoint.Metadata.OfType<RouteScope>().LastOrDefault();
            Invariant.Holds(scope is not null, "every route has a scope");
            Invariant.Holds(endpoint.Metadata.OfType<RouteParameters>().Any(), "every route declares its parameters");
            string pattern = route.RoutePattern.RawText ?? string.Empty;
            endpoint.Metadata.Add(context.Metrics.ForRoute(pattern));
            if (endpoint.Metadata.OfType<OnAnyMember>().Any())
            {
                context.Forwarding.Extend(route);
            }

            if (TotalOf(scope, pattern, endpoint.Metadata.OfType<LongBody>().Any(), context.Metrics) is { } total)
            {
                endpoint.Metadata.Add(new RouteTotal(total));
            }
        }
    }

    // Returns null for routes whose duration depends on their client: it does not measure this node.
    private static RouteMetrics? TotalOf(RouteScope scope, string pattern, bool hasLongBody, RequestMetrics metrics)
    {
        if (hasLongBody || UncountedPatterns.Any(part => pattern.Contains(part, StringComparison.Ordinal)))
        {
            return null;
        }

        if (scope == RouteScope.Read)
        {
            return metrics.Reads;
        }

        if (scope == RouteScope.Write || scope == RouteScope.ReadAndWrite)
        {
            return metrics.Writes;
        }

        return null;
    }

    private static void Configure(KestrelServerOptions kestrel, ServerContext context)
    {
        var options = context.Options;
        kestrel.AddServerHeader = false;
        StrictContentLength.Require(kestrel);
        kestrel.Limits.MaxConcurrentConnections = options.ConnectionsLimit;
        kestrel.Limits.MaxConcurrentUpgradedConnections = options.ConnectionsLimit;
        // Room for the JSON around a batch's documents, and for the bytes that EarlyResponse reads after an error.
        // Routes with bodies of any length lift this limit (LongBody).
        kestrel.Limits.MaxRequestBodySize = options.BatchBytesLimit + (1L << 20) + EarlyResponse.MaxBytes;
        kestrel.Limits.MaxRequestBufferSize = ConnectionBufferBytes;
        kestrel.Limits.MaxResponseBufferSize = ConnectionBufferBytes;
        // A slow client must not hold its resources: it is disconnected below 240 B/s after 10 s.
        kestrel.Limits.MinRequestBodyDataRate = new MinDataRate(
            bytesPerSecond: 240,
            gracePeriod: TimeSpan.FromSeconds(10)
        );
        kestrel.Limits.RequestHeadersTimeout = TimeSpan.FromSeconds(15);
        // Three minutes after the last request.
        kestrel.Limits.KeepAliveTimeout = TimeSpan.FromMinutes(3) + FastPathReader.MaxAwayFromKestrel;
        kestrel.Listen(
            options.Listen,
            endpoint =>
            {
                endpoint.Protocols = HttpProtocols.Http1;
                var byAddress = new ConnectionsByAddress(
                    Math.Clamp(options.ConnectionsLimit / 4, AddressLimitBounds.Low, AddressLimitBounds.High),
                    context.Log,
                    context.Time
                );
                context.Connections = byAddress;
                endpoint.Use(next => connection => byAddress.RunAsync(connection, next));
                if (options.IsSecure)
                {
                    endpoint.UseHttps(new SecureEndpoint(options.Identity ?? (static () => null)).ToOptions());
                }

                // After TLS, so that the fast path sees decrypted requests.
                var handlers = new FastPathHandlers(context);
                endpoint.Use(next =>
                    connection =>
                    {
                        FastPathReader.Insert(connection, handlers, context);
                        return next(connection);
                    }
                );
            }
        );
        ListenForWorkers(kestrel, context);
        foreach (var protocol in context.Protocols)
        {
            Listen(kestrel, protocol, context);
        }
    }

    private static void Listen(KestrelServerOptions kestrel, ServedProtocol protocol, ServerContext context) =>
        kestrel.Listen(
            protocol.Listen,
            endpoint =>
            {
                var byAddress = new ConnectionsByAddress(protocol.MaxOfAddress, context.Log, context.Time);
                protocol.Port = () => endpoint.IPEndPoint!.Port;
                protocol.Connections = byAddress;
                endpoint.Use(next => connection => byAddress.RunAsync(connection, next));
                if (protocol.UsesTls)
                {
                    endpoint.UseHttps(new SecureEndpoint(context.Options.Identity ?? (static () => null)).ToOptions());
                }

                endpoint.Run(protocol.ServeAsync);
            }
        );

    // RavenDB's TCP protocol, which carries the documents of subscriptions.
    private static void ListenForWorkers(KestrelServerOptions kestrel, ServerContext context)
    {
        if (context.Options.TcpListen is not { } listen)
        {
            return;
        }

        kestrel.Listen(
            listen,
            endpoint =>
            {
                var workers = new SubscriptionEndpoint(context);
                var byAddress = new ConnectionsByAddress(SubscriptionEndpoint.MaxOfAddress, context.Log, context.Time);
                context.Subscriptions.Port = () => endpoint.IPEndPoint!.Port;
                endpoint.Use(next => connection => byAddress.RunAsync(connection, next));
                endpoint.Use(next => connection => workers.AdmitAsync(connection, next));
                if (context.Options.IsSecure)
                {
                    endpoint.UseHttps(new SecureEndpoint(context.Options.Identity ?? (static () => null)).ToOptions());
                }

                endpoint.Run(workers.ServeAsync);
            }
        );
    }

    /// <summary>
    /// A host lifetime that handles no signals, because the process does. With the framework's own lifetime, SIGTERM
    /// would stop the server before the node announces it, and SIGQUIT would end all long reads of a node that keeps
    /// running.
    /// </summary>
    private sealed class StoppedByProcess : IHostLifetime
    {
        public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
