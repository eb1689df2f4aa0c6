using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Server.Alerts;
using Rookery.Server.Raven;

namespace Rookery.Server.Observation;

/// <summary>
/// Answers other members on the port for members, which authenticates them. <c>GET
/// /observe/samples?since=&amp;slowSince=&amp;show=</c> returns this node's state and its samples after <c>since</c>.
/// Unless <c>show</c> is true, it first waits for a new sample, for <see cref="MaxWait"/> at most. <c>GET
/// /observe/kept?node=TAG&amp;since=&amp;slowSince=</c> returns the samples and slow events of a member that this node
/// keeps. <c>GET /observe/tcp</c> returns the port of its TCP protocol. <c>/observe/on-any/…</c> runs the route whose
/// path follows, if the route is marked <see cref="OnAnyMember"/>.
/// </summary>
internal sealed class MemberRequests(ServerContext context)
{
    /// <summary>Prefix of all paths.</summary>
    public const string Prefix = "/observe/";

    /// <summary>Path for the samples of this node.</summary>
    public const string SamplesPath = Prefix + "samples";

    /// <summary>Path for the samples of another member that this node keeps.</summary>
    public const string KeptPath = Prefix + "kept";

    /// <summary>Path for the port of this node's TCP protocol.</summary>
    public const string TcpPath = Prefix + "tcp";

    /// <summary>Prefix before the path of a forwarded route.</summary>
    public const string ForwardedPrefix = Prefix + "on-any";

    /// <summary>Longest wait for a new sample. The answer without one shows that this node still runs.</summary>
    public static readonly TimeSpan MaxWait = TimeSpan.FromSeconds(20);

    // Samples of two hours in one answer, so that no answer takes much time or memory; a day takes several answers.
    private const int MaxRows = 720;

    /// <summary>Answers a request whose path begins with <see cref="Prefix"/>.</summary>
    public Task AnswerAsync(HttpContext http) =>
        http.Request.Path.Value switch
        {
            SamplesPath when HttpMethods.IsGet(http.Request.Method) => RavenRoute.OnServer(AnswerSamplesAsync)(http),
            KeptPath when HttpMethods.IsGet(http.Request.Method) => RavenRoute.OnServer(AnswerKeptAsync)(http),
            TcpPath when HttpMethods.IsGet(http.Request.Method) => RavenRoute.OnServer(
                new Raven.Subscriptions.TcpInfoRoutes(context).AnswerMemberAsync
            )(http),
            { } path when path.StartsWith(ForwardedPrefix + "/", StringComparison.Ordinal) =>
                context.Forwarding.AnswerMemberAsync(http, path[ForwardedPrefix.Length..]),
            { } path
                when context.Protocols.FirstOrDefault(protocol =>
                    string.Equals(path, protocol.MemberPath, StringComparison.Ordinal)
                )
                    is { } protocol => RavenRoute.OnServer(protocol.AnswerMemberAsync)(http),
            _ => ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status404NotFound,
                ErrorResponse.RavenException,
                "This member has no such path. It may run an older version of Rookery."
            ),
        };

    private async Task AnswerSamplesAsync(HttpContext http)
    {
        var (since, slowSince, isShown) = ReadRequest(http);
        var observation = context.Observation;
        var history = observation.Self.History;
        if (!isShown && since != 0 && since == history.NewestUnixMilliseconds)
        {
            await WaitForSampleAsync(observation.NextSample, http.RequestAborted);
        }

        var sample = observation.Sampler.TakeToShow();
        var cluster = context.Readiness.Node?.ReadStatistics()?.Consensus;
        string tag = observation.Self.Tag;
        await JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteString("Tag"u8, tag);
                json.WritePropertyName("Sample"u8);
                sample.WriteTo(json);
                json.WritePropertyName("Sight"u8);
                if (cluster is null)
                {
                    json.WriteNullValue();
                }
                else
                {
                    ClusterReport.Of(cluster).WriteTo(json);
                }

                json.WritePropertyName("Alerts"u8);
                ObservationJson.WriteAlerts(json, context.ActiveAlerts().Select(alert => new MemberAlert(tag, alert)));
                WriteSamples(json, history, since, SlowSince(slowSince));
            }
        );
    }

    private Task AnswerKeptAsync(HttpContext http)
    {
        var (since, slowSince, _) = ReadRequest(http);
        string tag = new QueryParameters(http).RequiredText("node");
        var observed = context.Observation.Find(tag);
        return JsonResponse.SendAsync(
            http,
            json => WriteSamples(json, observed?.History, since, observed?.Slow.Since(slowSince) ?? [])
        );
    }

    /// <summary>
    /// Returns this node's slow events after a time. If that time is in the future, this node's clock was set back:
    /// then returns all events.
    /// </summary>
    private IEnumerable<SlowEvent> SlowSince(long unixMicroseconds)
    {
        // Compared in microseconds, like the events: in milliseconds, events of the current millisecond would be
        // missing.
        long now = (context.Time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;
        var happened =
            unixMicroseconds > now ? context.Io.SlowEventsSince(0, now) : context.Io.SlowEventsSince(unixMicroseconds);
        return happened.Select(static slow => SlowEvent.Of(slow));
    }

    private static (long Since, long SlowSince, bool IsShown) ReadRequest(HttpContext http)
    {
        var parameters = new QueryParameters(http);
        return (
            parameters.Number("since", defaultValue: 0),
            parameters.Number("slowSince", defaultValue: 0),
            parameters.Flag("show")
        );
    }

    private static void WriteSamples(
        Utf8JsonWriter json,
        SampleHistory? history,
        long after,
        IEnumerable<SlowEvent> slow
    )
    {
        json.WritePropertyName("History"u8);
        int count = ObservationJson.WriteHistory(json, (history?.After(after) ?? []).Take(MaxRows));
        json.WriteBoolean("HasMore"u8, count == MaxRows);
        json.WritePropertyName("Slow"u8);
        ObservationJson.WriteSlow(json, slow);
    }

    private async Task WaitForSampleAsync(Task next, CancellationToken disconnected)
    {
        using var endOfWait = CancellationTokenSource.CreateLinkedTokenSource(disconnected, context.Stopping);
        try
        {
            await next.WaitAsync(MaxWait, context.Time, endOfWait.Token);
        }
        catch (TimeoutException)
        {
            // No new sample came in time.
        }
        catch (OperationCanceledException) when (!disconnected.IsCancellationRequested)
        {
            // This node stops, so it answers without waiting longer.
        }
    }
}
