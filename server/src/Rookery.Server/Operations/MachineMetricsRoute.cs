using System.Net;
using System.Net.Http.Headers;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Configuration;
using Rookery.Server.Raven;

namespace Rookery.Server.Operations;

/// <summary>
/// /metrics/machine: the metrics of this machine's node_exporter, unchanged. The node_exporter has no access control,
/// so it listens on loopback only; this route requires the scope of the node's metrics.
/// </summary>
internal sealed class MachineMetricsRoute : IDisposable
{
    // node_exporter on a Raspberry Pi answers with about 100 KB.
    private const int MaxBytes = 4 << 20;

    // The same as the default scrape timeout of Prometheus.
    private static readonly TimeSpan ScrapeTimeout = TimeSpan.FromSeconds(10);

    private readonly ServerContext _context;
    private readonly HttpClient _client;

    private MachineMetricsRoute(ServerContext context)
    {
        _context = context;
        var handler = new SocketsHttpHandler
        {
            UseProxy = false,
            UseCookies = false,
            AllowAutoRedirect = false,
            MaxConnectionsPerServer = 1,
            ConnectCallback = static (context, cancellation) =>
                ThisMachine.ConnectAsync(context.DnsEndPoint, cancellation),
        };
        _client = new HttpClient(handler)
        {
            MaxResponseContentBufferSize = MaxBytes,
            Timeout = Timeout.InfiniteTimeSpan,
        };
    }

    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        var route = new MachineMetricsRoute(context);

        // Dispose after the stop, because scrapes may arrive while the server is stopping.
        routes
            .ServiceProvider.GetRequiredService<IHostApplicationLifetime>()
            .ApplicationStopped.Register(route.Dispose);
        routes.MapWithoutData("/metrics/machine", RouteScope.Metrics, route.AnswerAsync).Taking(RouteParameters.Any);
    }

    public void Dispose() => _client.Dispose();

    private async Task AnswerAsync(HttpContext http)
    {
        using var timeout = new CancellationTokenSource(ScrapeTimeout, _context.Time);
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(
            timeout.Token,
            http.RequestAborted,
            _context.Stopping
        );
        try
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, _context.Options.MachineMetrics);
            if (AcceptedCoding.Includes(http, "gzip"))
            {
                request.Headers.AcceptEncoding.Add(new StringWithQualityHeaderValue("gzip"));
            }

            using var answer = await _client.SendAsync(request, ending.Token);
            await (
                answer.StatusCode == HttpStatusCode.OK
                    ? ForwardAsync(http, answer.Content)
                    : RefuseAsync(http, $"answered with {(int)answer.StatusCode}")
            );
        }
        catch (OperationCanceledException) when (_context.Stopping.IsCancellationRequested && !http.Response.HasStarted)
        {
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status503ServiceUnavailable,
                ErrorResponse.RavenException,
                Readiness.NodeStops
            );
        }
        catch (OperationCanceledException) when (timeout.IsCancellationRequested)
        {
            await RefuseAsync(http, $"did not answer within {ScrapeTimeout.TotalSeconds:0} seconds");
        }
        catch (HttpRequestException failure)
        {
            await RefuseAsync(
                http,
                failure.HttpRequestError switch
                {
                    HttpRequestError.ConnectionError => "does not answer",
                    HttpRequestError.ConfigurationLimitExceeded => $"answered with more than {MaxBytes >> 20} MiB",
                    _ => "gave no answer that can be read",
                }
            );
        }
    }

    private static async Task ForwardAsync(HttpContext http, HttpContent content)
    {
        http.Response.ContentType = content.Headers.ContentType?.ToString();
        http.Response.Headers.ContentEncoding = content.Headers.ContentEncoding.ToArray();
        http.Response.ContentLength = content.Headers.ContentLength;
        await content.CopyToAsync(http.Response.Body, http.RequestAborted);
    }

    private Task RefuseAsync(HttpContext http, string problem) =>
        ErrorResponse.WriteAsync(
            http,
            StatusCodes.Status502BadGateway,
            ErrorResponse.RavenException,
            $"node_exporter at {ShownUrl.Of(_context.Options.MachineMetrics)} {problem}. `systemctl status "
                + $"prometheus-node-exporter` on this machine shows why. If it listens elsewhere, set machineMetrics."
        );
}
