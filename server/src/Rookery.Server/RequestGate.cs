using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.FastPath;
using Rookery.Server.Raven;
using Rookery.Server.Support;
using Rookery.Storage;

namespace Rookery.Server;

/// <summary>
/// Middleware of every request. It counts and times the request, and checks its credential. It refuses requests of
/// other sites' pages, and requests for documents while the node serves none. It answers exceptions and unknown routes
/// in RavenDB's error form.
/// </summary>
internal sealed class RequestGate(ServerContext context, RequestDelegate next)
{
    /// <summary>The version of RavenDB whose dialect the server speaks, as every response names it.</summary>
    internal const string RavenVersion = "7.2.0.0";

    /// <summary>Message of a request that failed through a fault of the node.</summary>
    internal const string OwnFault =
        "The node could not answer because of a fault of its own; its log has the details.";

    private readonly BrowserGuard _guard = new(context.Options);
    private readonly AccessGate _access = context.Access;

    public Task HandleAsync(HttpContext http)
    {
        http.Features.Get<FastPathReader>()?.BeginRequest();
        return SocketThreads.ContinueOnPoolAsync(
            static on => on.Gate.HandleOnPoolAsync(on.Http),
            (Gate: this, Http: http)
        );
    }

    private Task HandleOnPoolAsync(HttpContext http)
    {
        var fastPath = http.Features.Get<FastPathReader>();
        var handling = HandleAsync(http, http.GetEndpoint());
        if (fastPath is null)
        {
            return handling;
        }

        if (!handling.IsCompletedSuccessfully)
        {
            return EndAsync(handling, fastPath, http);
        }

        fastPath.EndRequest(http);
        return handling;
    }

    private static async Task EndAsync(Task handling, FastPathReader fastPath, HttpContext http)
    {
        await handling;
        fastPath.EndRequest(http);
    }

    // Handlers on the hot path complete synchronously; then no state machine is allocated here either.
    private Task HandleAsync(HttpContext http, Endpoint? endpoint)
    {
        bool needsDocuments = endpoint?.Metadata.GetMetadata<WithoutData>() is null;
        var route = endpoint?.Metadata.GetMetadata<RouteMetrics>();
        var total = endpoint?.Metadata.GetMetadata<RouteTotal>();
        long startedAt = context.Metrics.Begin(needsDocuments);
        http.Response.Headers["Raven-Server-Version"] = RavenVersion;
        // A browser that guesses types could run the text of a document.
        http.Response.Headers.XContentTypeOptions = "nosniff";
        var handling = Answer(http, endpoint, needsDocuments);
        if (handling.IsCompletedSuccessfully && !EarlyResponse.IsDue(http))
        {
            context.Metrics.End(route, total, startedAt, http.Response.StatusCode);
            return Task.CompletedTask;
        }

        return FinishAsync(http, handling, route, total, startedAt);
    }

    private Task Answer(HttpContext http, Endpoint? endpoint, bool needsDocuments)
    {
        try
        {
            // This check precedes all others. After another refusal, the connection stays open, and Kestrel reads the
            // next request after the body; but with an unknown transfer coding the body's end is unknown.
            CheckTransferCoding(http);
            if (_guard.Problem(http.Request, endpoint?.Metadata.GetMetadata<RouteScope>()) is { } problem)
            {
                return ErrorResponse.WriteAsync(http, StatusCodes.Status403Forbidden, ErrorResponse.Forbidden, problem);
            }

            if (_access.Refusal(http, endpoint) is { } refusal)
            {
                return refusal.MayBeStale
                    ? AuthoriseAfterBarrierAsync(http, endpoint, needsDocuments)
                    : RefuseAsync(http, refusal);
            }

            return ServeAsync(http, endpoint, needsDocuments);
        }
        catch (RefusedException refused)
        {
            return ErrorResponse.WriteAsync(http, refused.Status, refused.Type, refused.Message);
        }
        catch (Exception failure)
        {
            return Task.FromException(failure);
        }
    }

    private Task ServeAsync(HttpContext http, Endpoint? endpoint, bool needsDocuments)
    {
        if (needsDocuments && context.Readiness.Reason is { } reason)
        {
            return ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status503ServiceUnavailable,
                ErrorResponse.RavenException,
                endpoint?.Metadata.GetMetadata<RouteScope>() == RouteScope.Open
                    ? context.PublicText.For(http, reason)!
                    : reason
            );
        }

        if (endpoint?.Metadata.GetMetadata<RouteParameters>() is { } parameters)
        {
            parameters.Check(http, IsWrite(http, endpoint));
        }

        if (endpoint?.Metadata.GetMetadata<LongBody>() is not null)
        {
            LongBody.Allow(http);
        }

        return next(http);
    }

    /// <summary>
    /// Refuses a transfer coding besides "chunked", and closes the connection. Kestrel ignores other codings, so it
    /// could see the end of the body elsewhere than a proxy before it does. HTTP/1.0 has no transfer codings: a proxy
    /// that speaks it ignores the header, so the body's end is as uncertain (RFC 9112, 6.1).
    /// </summary>
    private static void CheckTransferCoding(HttpContext http)
    {
        var coding = http.Request.Headers.TransferEncoding;
        if (coding.Count == 0)
        {
            return;
        }

        if (HttpProtocol.IsHttp10(http.Request.Protocol))
        {
            http.Response.Headers.Connection = "close";
            throw RefusedException.BadRequest("A request of HTTP/1.0 has no Transfer-Encoding.");
        }

        if (!coding.ToString().AsSpan().Trim().Equals("chunked", StringComparison.OrdinalIgnoreCase))
        {
            http.Response.Headers.Connection = "close";
            throw RefusedException.NotSupported(
                $"'Transfer-Encoding: {coding}' is not supported by this version; only 'chunked' is, once."
            );
        }
    }

    // The scope of a route distinguishes reads from writes. The method does not: POST queries reads, GET hilo/next
    // writes.
    private static bool IsRead(HttpContext http)
    {
        var scope = http.GetEndpoint()?.Metadata.GetMetadata<RouteScope>();
        return scope == RouteScope.Read
            || (
                scope != RouteScope.Write
                && scope != RouteScope.ReadAndWrite
                && (HttpMethods.IsGet(http.Request.Method) || HttpMethods.IsHead(http.Request.Method))
            );
    }

    private static bool IsWrite(HttpContext http, Endpoint endpoint) =>
        !HttpMethods.IsGet(http.Request.Method)
        && !HttpMethods.IsHead(http.Request.Method)
        && endpoint.Metadata.GetMetadata<RouteScope>() != RouteScope.Read;

    /// <summary>
    /// Checks the credential again after a read barrier. A member that has just started may not have applied the newest
    /// credentials, and clients take "unknown" as final. Without a barrier the answer is 503, which sends clients to
    /// another node.
    /// </summary>
    private async Task AuthoriseAfterBarrierAsync(HttpContext http, Endpoint? endpoint, bool needsDocuments)
    {
        bool isFresh = await context.Node.Consensus.ReadBarrierAsync();
        try
        {
            var refusal = _access.Refusal(http, endpoint);
            await (
                refusal is null
                    ? ServeAsync(http, endpoint, needsDocuments)
                    : RefuseAsync(http, refusal.Value.MayBeStale && !isFresh ? _access.CannotCheck() : refusal.Value)
            );
        }
        catch (RefusedException refused)
        {
            await ErrorResponse.WriteAsync(http, refused.Status, refused.Type, refused.Message);
        }
    }

    private static Task RefuseAsync(HttpContext http, AccessRefusal refused)
    {
        if (refused.Status == StatusCodes.Status401Unauthorized)
        {
            http.Response.Headers.WWWAuthenticate = "Bearer realm=\"rookery\"";
        }

        return ErrorResponse.WriteAsync(
            http,
            refused.Status,
            refused.Status == StatusCodes.Status503ServiceUnavailable
                ? ErrorResponse.RavenException
                : ErrorResponse.Forbidden,
            refused.Sentence
        );
    }

    private async Task FinishAsync(
        HttpContext http,
        Task handling,
        RouteMetrics? route,
        RouteTotal? total,
        long startedAt
    )
    {
        bool isRead = IsRead(http);
        var end = isRead
            ? context.ReadsEnd.UnsafeRegister(static request => ((HttpContext)request!).Abort(), http)
            : default;
        try
        {
            await handling;
        }
        catch (OperationCanceledException)
            when (isRead
                && context.Stopping.IsCancellationRequested
                && !http.RequestAborted.IsCancellationRequested
                && !http.Response.HasStarted
            )
        {
            http.Response.Headers.ETag = default;
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status503ServiceUnavailable,
                ErrorResponse.RavenException,
                Readiness.NodeStops
            );
        }
        catch (OperationCanceledException cancelled)
            when (cancelled.CancellationToken == http.RequestAborted
                || http.RequestAborted.IsCancellationRequested
                || context.Stopping.IsCancellationRequested
            )
        {
            // The client left or the node stops, so no answer is expected. A write to a closed connection can fail
            // before the token is cancelled.
            http.Abort();
        }
        catch (Exception failure) when (failure is ConnectionResetException or ConnectionAbortedException)
        {
            // The client closed the connection. That is ordinary, so it is not logged.
            http.Abort();
        }
        catch (OutOfMemoryException) when (isRead && !http.Response.HasStarted)
        {
            // A read stored nothing, so the client may repeat it. Without trimming, the next reads would fail, too.
            LargeBuffers.Trim();
            context.Readiness.Indexes?.TrimMemory();
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status429TooManyRequests,
                ErrorResponse.RavenException,
                "There is no memory for this answer now. Ask for less at once, or try again in a second."
            );
        }
        catch (BadHttpRequestException refused)
        {
            await ErrorResponse.WriteAsync(http, refused.StatusCode, ErrorResponse.BadRequest, Explain(refused, http));
        }
        catch (IOException malformed) when (malformed.InnerException is OverflowException)
        {
            // Kestrel throws this for a chunk whose announced length overflows.
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status400BadRequest,
                ErrorResponse.BadRequest,
                ExplainMalformed(http)
            );
        }
        catch (Exception failure)
        {
            LogOf(http)
                .LogError(
                    LogEvents.RequestFailed,
                    failure,
                    "{Method} {Path} failed",
                    http.Request.Method,
                    http.Request.Path.Value
                );
            await AnswerFailureAsync(http, failure);
        }
        finally
        {
            // DisposeAsync would allocate 32 bytes more for each read that waits.
            end.Dispose();
            context.Metrics.End(route, total, startedAt, http.Response.StatusCode);
        }

        if (EarlyResponse.IsDue(http))
        {
            await EarlyResponse.ReadOnAsync(http, context.Time, context.Stopping);
        }
    }

    private LimitedLog LogOf(HttpContext http) =>
        http.GetEndpoint()?.Metadata.GetMetadata<RouteScope>() is { } scope && scope != RouteScope.Open
            ? context.FaultLog
            : context.RequestLog;

    private static string ExplainMalformed(HttpContext http) =>
        $"The body of {http.Request.Method} {http.Request.Path} is malformed HTTP, or its connection broke "
        + $"before its end; nothing of it was stored.";

    private static string Explain(BadHttpRequestException refused, HttpContext http) =>
        refused.StatusCode switch
        {
            StatusCodes.Status413PayloadTooLarge =>
                $"The body of {http.Request.Method} {http.Request.Path} is larger than this route takes; "
                    + $"send it in parts, or use bulk insert or import.",
            StatusCodes.Status408RequestTimeout =>
                $"The body of {http.Request.Method} {http.Request.Path} came too slowly; nothing of it was stored.",
            _ => ExplainMalformed(http),
        };

    private static Task AnswerFailureAsync(HttpContext http, Exception failure) =>
        ErrorResponse.WriteAsync(
            http,
            StatusCodes.Status500InternalServerError,
            ErrorResponse.RavenException,
            failure is DamagedException ? failure.Message : OwnFault
        );
}
