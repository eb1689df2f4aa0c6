using System.Globalization;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Alerts;
using Rookery.Server.Raven;
using Rookery.Server.Subscriptions;

namespace Rookery.Server.Operations;

/// <summary>
/// /metrics: all metrics of this process in Prometheus' text format. docs/reference/metrics.md lists them.
/// </summary>
internal static class MetricsRoute
{
    private const double MicrosecondsPerSecond = 1e6;
    private static readonly double[] Quantiles = [0.5, 0.99, 0.999];

    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes
            .MapWithoutData(
                "/metrics",
                RouteScope.Metrics,
                http =>
                {
                    http.Response.ContentType = "text/plain; version=0.0.4; charset=utf-8";
                    return http.Response.WriteAsync(Collect(context), http.RequestAborted);
                }
            )
            .Taking(RouteParameters.Any);

    /// <summary>Returns all metrics.</summary>
    public static string Collect(ServerContext context)
    {
        var text = new PrometheusText();
        text.Gauge("rookery_ready", "1 when documents are served.").Sample(context.Readiness.Reason is null ? 1 : 0);
        AddAlerts(text, context.ActiveAlerts());
        AddRequests(text, context.Metrics);
        text.Counter(
                "rookery_log_lines_left_out_total",
                "Log lines about requests that exceeded the rate limit and were dropped."
            )
            .Sample(context.RequestLog.DroppedLines + context.FaultLog.DroppedLines);
        if (context.Connections is { } connections)
        {
            text.Counter(
                    "rookery_connections_refused_total",
                    "Connections closed on arrival, because their address had the maximum number of connections."
                )
                .Sample(connections.Refused);
        }

        AddIo(text, context.Io);
        AddMemory(text, context.Memory);
        CertificateHealth.Add(text, context);
        BoardHealth.Add(text, context.Options.Board, context.BoardReader.Read().Devices);
        context.Options.MachineNotes?.Invoke().Add(text);
        AddSubscriptions(text, context.Subscriptions);
        foreach (var protocol in context.Protocols)
        {
            protocol.AddMetrics(text);
        }

        if (context.Readiness.Node is { Diagnosis: null } node)
        {
            NodeMetrics.Add(text, node);
            IndexMetrics.Add(text, node, context.Indexes);
        }

        ProcessMetrics.Add(text);
        return text.ToString();
    }

    private static void AddSubscriptions(PrometheusText text, ServedSubscriptions subscriptions)
    {
        text.Gauge("rookery_subscription_workers", "Workers of subscriptions that are connected to this node.")
            .Sample(subscriptions.Workers);
        text.Counter("rookery_subscription_documents_total", "Documents sent to workers of subscriptions.")
            .Sample(subscriptions.Documents);
        text.Counter("rookery_subscription_batches_total", "Batches sent to workers of subscriptions.")
            .Sample(subscriptions.Batches);
        text.Counter(
                "rookery_subscription_acknowledgements_total",
                "Acknowledgements of workers that are stored in the log."
            )
            .Sample(subscriptions.Acknowledgements);
        text.Counter(
                "rookery_subscription_connections_refused_total",
                "TCP connections closed on arrival, or refused because of their credential or for lack of room."
            )
            .Sample(subscriptions.Refused);
    }

    private static void AddAlerts(PrometheusText text, IReadOnlyList<ActiveAlert> active)
    {
        text.Gauge("rookery_alerts", "Alerts that are active on this node, by its own evaluation.");
        foreach (string severity in (string[])[AlertSeverity.Warning, AlertSeverity.Critical])
        {
            text.Sample(
                active.Count(alert => string.Equals(alert.Severity, severity, StringComparison.Ordinal)),
                ("severity", severity)
            );
        }
    }

    private static void AddRequests(PrometheusText text, RequestMetrics metrics)
    {
        var routes = metrics
            .Routes.Where(route => CountRequests(route) > 0)
            .OrderBy(route => route.Pattern, StringComparer.Ordinal)
            .ToArray();
        text.Gauge("rookery_http_requests_in_flight", "Requests being answered now.").Sample(metrics.InFlight);
        text.Counter(
                "rookery_fast_path_requests_total",
                "GET and PUT of one document, bulk_docs and short queries that were answered without the HTTP pipeline."
            )
            .Sample(metrics.FastPathRequests);
        text.Counter("rookery_http_requests_total", "Requests answered, by route and class of status.");
        foreach (var route in routes)
        {
            for (int hundreds = 1; hundreds <= 5; hundreds++)
            {
                if (route.WithStatusClass(hundreds) is > 0 and long count)
                {
                    text.Sample(
                        count,
                        ("route", route.Pattern),
                        ("status", string.Create(CultureInfo.InvariantCulture, $"{hundreds}xx"))
                    );
                }
            }
        }

        text.Histogram(
            "rookery_http_request_duration_seconds",
            "Time from the head of a request to the end of its answer, by route."
        );
        foreach (var route in routes)
        {
            AddDurations(text, route);
        }
    }

    private static void AddDurations(PrometheusText text, RouteMetrics route)
    {
        long count = 0;
        for (int bucket = 0; bucket < RouteMetrics.BucketBounds.Length; bucket++)
        {
            count += route.InBucket(bucket);
            double bound = RouteMetrics.BucketBounds[bucket] / MicrosecondsPerSecond;
            text.Sample(
                "_bucket",
                count,
                ("route", route.Pattern),
                ("le", bound.ToString("R", CultureInfo.InvariantCulture))
            );
        }

        count += route.InBucket(RouteMetrics.BucketBounds.Length);
        text.Sample("_bucket", count, ("route", route.Pattern), ("le", "+Inf"));
        text.Sample("_sum", route.TotalMicroseconds / MicrosecondsPerSecond, ("route", route.Pattern));
        text.Sample("_count", count, ("route", route.Pattern));
    }

    private static long CountRequests(RouteMetrics route)
    {
        long count = 0;
        for (int bucket = 0; bucket <= RouteMetrics.BucketBounds.Length; bucket++)
        {
            count += route.InBucket(bucket);
        }

        return count;
    }

    private static void AddIo(PrometheusText text, IoTimeline io)
    {
        text.Counter(
                "rookery_socket_thread_disk_operations_total",
                "Disk operations that ran on a thread of sockets and delayed its connections. It must stay 0."
            )
            .Sample(SocketThreads.BlockingCalls);
        var totals = Enum.GetValues<IoKind>().Select(io.TotalOf).Where(total => total.Count > 0).ToArray();
        text.Counter("rookery_io_operations_total", "Disk operations, by kind.");
        foreach (var total in totals)
        {
            text.Sample(total.Count, ("kind", IoKindName.Of(total.Kind)));
        }

        text.Counter("rookery_io_bytes_total", "Bytes read or written by disk operations, by kind.");
        foreach (var total in totals)
        {
            text.Sample(total.Bytes, ("kind", IoKindName.Of(total.Kind)));
        }

        text.Counter("rookery_io_seconds_total", "Duration of disk operations, by kind.");
        foreach (var total in totals)
        {
            text.Sample(total.TotalMicroseconds / MicrosecondsPerSecond, ("kind", IoKindName.Of(total.Kind)));
        }

        text.Summary(
            "rookery_io_recent_seconds",
            "Quantiles of recent disk operations; sum and count are of all since the start."
        );
        foreach (var total in totals)
        {
            foreach (double quantile in Quantiles)
            {
                text.Sample(
                    io.PercentileMicroseconds(total.Kind, quantile) / MicrosecondsPerSecond,
                    ("kind", IoKindName.Of(total.Kind)),
                    ("quantile", quantile.ToString("R", CultureInfo.InvariantCulture))
                );
            }

            text.Sample("_sum", total.TotalMicroseconds / MicrosecondsPerSecond, ("kind", IoKindName.Of(total.Kind)));
            text.Sample("_count", total.Count, ("kind", IoKindName.Of(total.Kind)));
        }
    }

    private static void AddMemory(PrometheusText text, MemoryBudget memory)
    {
        text.Gauge("rookery_memory_budget_bytes", "The memory limit of the process (--memory).")
            .Sample(memory.TotalBytes);
        text.Gauge("rookery_memory_used_bytes", "Bytes in use by a share of the budget.");
        foreach (var share in memory.Shares)
        {
            text.Sample(share.UsedBytes, ("share", share.Name));
        }

        text.Gauge("rookery_memory_limit_bytes", "Limit of a share of the budget in bytes.");
        foreach (var share in memory.Shares)
        {
            text.Sample(share.LimitBytes, ("share", share.Name));
        }
    }
}
