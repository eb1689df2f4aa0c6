using System.Collections.Concurrent;
using System.Net.Http.Headers;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Primitives;
using Rookery.Documents.Consensus;
using Rookery.Server.Access;
using Rookery.Server.Raven;
using Rookery.Server.Support;

namespace Rookery.Server.Observation;

/// <summary>
/// Forwards requests of routes marked <see cref="OnAnyMember"/> to the member in <c>node=TAG</c>, and answers requests
/// that other members forward. Thread-safe.
/// </summary>
internal sealed class ForwardedRequests(ServerContext context)
{
    /// <summary>Name of the query parameter with the tag of the member that answers.</summary>
    internal const string Parameter = "node";

    /// <summary>Header with the caller's name, for the log of the node that runs the route.</summary>
    private const string AskedByHeader = "Rookery-Asked-By";

    private const int PieceBytes = 64 << 10;

    // Each forwarded request takes a connection to the port for members, which consensus needs too.
    internal const int MaxConcurrent = 8;

    // The wait for the first byte is longer than for later bytes: the member may have to build a whole archive first.
    private static readonly TimeSpan AnswerTimeout = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan NextPartTimeout = TimeSpan.FromSeconds(30);

    private readonly ConcurrentDictionary<(string Method, string Path), RequestDelegate> _handlers = new();
    private int _forwarding;

    /// <summary>
    /// Builds the routes of the server. The framework would build them at the first request of a client, but another
    /// member may forward a request earlier.
    /// </summary>
    public Func<int>? MakeRoutes { get; set; }

    /// <summary>Makes a route forward requests and answer forwarded ones. Called while routes are built.</summary>
    public void Extend(RouteEndpointBuilder endpoint)
    {
        var own = endpoint.RequestDelegate!;
        string path = endpoint.RoutePattern.RawText!;
        foreach (
            string method in endpoint
                .Metadata.OfType<IHttpMethodMetadata>()
                .SelectMany(static allowed => allowed.HttpMethods)
        )
        {
            _handlers[(method, path)] = own;
        }

        endpoint.RequestDelegate = RavenRoute.OnServer(http =>
            new QueryParameters(http).Text(Parameter) is { Length: > 0 } tag && !IsSelf(tag)
                ? ForwardAsync(http, path, tag)
                : own(http)
        );
    }

    /// <summary>
    /// Answers a request that another member forwards. That member has checked the caller's rights and sends the
    /// caller's name.
    /// </summary>
    /// <param name="http">The request.</param>
    /// <param name="path">Path of the route.</param>
    public async Task AnswerMemberAsync(HttpContext http, string path)
    {
        _ = MakeRoutes?.Invoke();
        if (!_handlers.TryGetValue((http.Request.Method, path), out var handler))
        {
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status501NotImplemented,
                ErrorResponse.NotSupported,
                $"Node {context.Options.NodeTag} runs a version that does not answer {http.Request.Method} "
                    + $"{path} for other members."
            );
            return;
        }

        http.Request.Path = path;
        if (http.Request.Headers[AskedByHeader].ToString() is { Length: > 0 } name && AccessNames.Problem(name) is null)
        {
            http.Features.Set(new Principal(name, "member", AccessScopes.All, []));
        }

        try
        {
            await handler(http);
        }
        catch (OperationCanceledException)
        {
            http.Abort(); // the other member left, or this node stops
        }
        catch (Exception failure)
        {
            context.Log.LogError(
                LogEvents.RequestFailed,
                failure,
                "{Method} {Path}, passed on by another member, failed",
                http.Request.Method,
                path
            );
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status500InternalServerError,
                ErrorResponse.RavenException,
                $"Node {context.Options.NodeTag} could not answer because of a fault of its own; its log has "
                    + $"the details."
            );
        }
    }

    private bool IsSelf(string tag) => string.Equals(tag, context.Options.NodeTag, StringComparison.Ordinal);

    private async Task ForwardAsync(HttpContext http, string path, string tag)
    {
        if (
            context.Readiness.Node is { Diagnosis: not null }
            && !ReferenceEquals(Principal.Of(http), Principal.Everything)
        )
        {
            // Since its disk failed, this node does not learn which credentials are revoked.
            throw new RefusedException(
                StatusCodes.Status503ServiceUnavailable,
                ErrorResponse.RavenException,
                $"Node {context.Options.NodeTag} stopped working after its disk failed and forwards no requests, "
                    + $"because it does not learn of revoked credentials. Ask {tag} itself."
            );
        }

        var member = Find(tag);
        if (Interlocked.Increment(ref _forwarding) > MaxConcurrent)
        {
            Interlocked.Decrement(ref _forwarding);
            throw new RefusedException(
                StatusCodes.Status429TooManyRequests,
                ErrorResponse.RavenException,
                $"Node {context.Options.NodeTag} forwards {MaxConcurrent} requests to other members already, "
                    + $"which is the limit. Try again in a second, or ask {member.Tag} itself."
            );
        }

        try
        {
            await ForwardAsync(http, path, member);
        }
        finally
        {
            Interlocked.Decrement(ref _forwarding);
        }
    }

    // Sends the path of the route, which the other member knows. The path in the request may differ in case or end with
    // a slash.
    private async Task ForwardAsync(HttpContext http, string path, ClusterViewMember member)
    {
        using var client =
            context.Options.ConnectToMember?.Invoke(member.NodeId)
            ?? throw Unreachable(member, "its address is not known");
        using var timeout = new CancellationTokenSource(AnswerTimeout, context.Time);
        using var timeoutOrClient = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, http.RequestAborted);
        using var request = new HttpRequestMessage(
            HttpMethod.Parse(http.Request.Method),
            new Uri(MemberRequests.ForwardedPrefix + path + QueryWithoutNode(http), UriKind.Relative)
        );
        request.Headers.TryAddWithoutValidation("Accept", http.Request.Headers.Accept.ToString());
        request.Headers.TryAddWithoutValidation(AskedByHeader, Principal.Of(http).Name);
        try
        {
            using var answer = await client.SendAsync(
                request,
                HttpCompletionOption.ResponseHeadersRead,
                timeoutOrClient.Token
            );
            CopyHead(answer, http.Response);
            timeout.CancelAfter(Timeout.InfiniteTimeSpan);
            if (!HttpMethods.IsHead(http.Request.Method))
            {
                await CopyBodyAsync(answer.Content, http, timeout, timeoutOrClient.Token);
            }
        }
        catch (Exception failure)
            when (failure is HttpRequestException or IOException
                || (failure is OperationCanceledException && timeout.IsCancellationRequested)
            )
        {
            if (http.Response.HasStarted)
            {
                http.Abort(); // half an answer must not look complete
                return;
            }

            // The head of the other member's answer may be copied already: its file name and caching are not those of
            // the refusal.
            http.Response.Headers.ContentDisposition = StringValues.Empty;
            http.Response.Headers.CacheControl = StringValues.Empty;
            http.Response.Headers.RetryAfter = StringValues.Empty;
            throw Unreachable(
                member,
                failure is OperationCanceledException
                    ? "it did not answer in time"
                    : $"it does not answer: {failure.InnerException?.Message ?? failure.Message}"
            );
        }
    }

    private ClusterViewMember Find(string tag)
    {
        var members = context.Readiness.Node?.ReadStatistics()?.Consensus?.Members ?? [];
        var tags = members.Select(static member => member.Member.Tag).Order(StringComparer.Ordinal);
        return members.FirstOrDefault(member => string.Equals(member.Member.Tag, tag, StringComparison.Ordinal))?.Member
            ?? throw RefusedException.BadRequest(
                members.Count == 0
                    ? $"This node, {context.Options.NodeTag}, does not know the other members now: "
                        + $"{context.Readiness.Reason ?? "it takes no part in a cluster."}"
                    : $"No member has the letter '{tag}'; the members are {string.Join(", ", tags)}."
            );
    }

    private RefusedException Unreachable(ClusterViewMember member, string reason) =>
        new(
            StatusCodes.Status502BadGateway,
            ErrorResponse.RavenException,
            $"Node {context.Options.NodeTag} could not ask "
                + $"{(member.Name.Length > 0 ? $"{member.Name} ({member.Tag})" : member.Tag)}: {reason}. What it "
                + $"reported before is in /dashboard/history and /dashboard/slow."
        );

    private static string QueryWithoutNode(HttpContext http)
    {
        var query = new System.Text.StringBuilder();
        foreach (
            string pair in (http.Request.QueryString.Value ?? string.Empty)
                .TrimStart('?')
                .Split('&', StringSplitOptions.RemoveEmptyEntries)
        )
        {
            if (!pair.StartsWith(Parameter + "=", StringComparison.OrdinalIgnoreCase))
            {
                query.Append(query.Length == 0 ? '?' : '&').Append(pair);
            }
        }

        return query.ToString();
    }

    private static void CopyHead(HttpResponseMessage answer, HttpResponse response)
    {
        response.StatusCode = (int)answer.StatusCode;
        HttpContentHeaders content = answer.Content.Headers;
        response.ContentType = content.ContentType?.ToString();
        response.ContentLength = content.ContentLength;
        if (content.TryGetValues("Content-Disposition", out var disposition))
        {
            response.Headers.ContentDisposition = new StringValues([.. disposition]);
        }

        if (answer.Headers.TryGetValues("Cache-Control", out var caching))
        {
            response.Headers.CacheControl = new StringValues([.. caching]);
        }

        if (answer.Headers.TryGetValues("Retry-After", out var pause))
        {
            response.Headers.RetryAfter = new StringValues([.. pause]);
        }
    }

    private static async Task CopyBodyAsync(
        HttpContent content,
        HttpContext http,
        CancellationTokenSource timeout,
        CancellationToken cancellationToken
    )
    {
        await using var from = await content.ReadAsStreamAsync(cancellationToken);
        byte[] piece = new byte[PieceBytes];
        while (true)
        {
            timeout.CancelAfter(NextPartTimeout);
            int read = await from.ReadAsync(piece, cancellationToken);
            timeout.CancelAfter(Timeout.InfiniteTimeSpan);
            if (read == 0)
            {
                return;
            }

            await http.Response.Body.WriteAsync(piece.AsMemory(0, read), http.RequestAborted);
        }
    }
}
