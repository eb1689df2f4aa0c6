using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Server.Alerts;
using Rookery.Server.Raven;

namespace Rookery.Server.Observation;

/// <summary>
/// Answers other members, on the port for members, which says who may ask there: <c>GET
/// /observe/samples?since=&amp;slowSince=&amp;show=</c> with what this node is and what it sampled after the sample of
/// that time, when there is something new, or after a while; <c>GET
/// /observe/kept?node=TAG&amp;since=&amp;slowSince=</c> with what it keeps of a member; <c>/observe/on-any/…</c> as the
/// route behind it, of those marked <see cref="OnAnyMember"/>.
/// </summary>
internal sealed class MemberQuestions(ServerContext context)
{
    /// <summary>What paths begin with.</summary>
    public const string Prefix = "/observe/";

    /// <summary>Samples of the node that is asked.</summary>
    public const string SamplesPath = Prefix + "samples";

    /// <summary>What the node that is asked keeps of another.</summary>
    public const string KeptPath = Prefix + "kept";

    /// <summary>Before the path of a route that is passed on.</summary>
    public const string PassedOnPrefix = Prefix + "on-any";

    /// <summary>After so long there is an answer in any case: who asks sees that this node lives.</summary>
    public static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(20);

    // Two hours: a day is told in some answers, none of which takes long to make or much memory to read.
    private const int MostRows = 720;

    /// <summary>Answers a request whose path begins with <see cref="Prefix"/>.</summary>
    public Task AnswerAsync(HttpContext http) =>
        http.Request.Path.Value switch
        {
            SamplesPath when HttpMethods.IsGet(http.Request.Method) => RavenRoute.OnServer(AnswerSamplesAsync)(http),
            KeptPath when HttpMethods.IsGet(http.Request.Method) => RavenRoute.OnServer(AnswerKeptAsync)(http),
            { } path when path.StartsWith(PassedOnPrefix + "/", StringComparison.Ordinal) =>
                context.PassedOn.AnswerMemberAsync(http, path[PassedOnPrefix.Length..]),
            _ => ErrorAnswer.WriteAsync(
                http,
                StatusCodes.Status404NotFound,
                ErrorAnswer.RavenException,
                "This version of a member does not answer that."
            ),
        };

    private async Task AnswerSamplesAsync(HttpContext http)
    {
        var (since, slowSince, isShown) = ReadQuestion(http);
        var observation = context.Observation;
        var history = observation.Self.History;
        if (!isShown && since != 0 && since == history.NewestUnixMilliseconds)
        {
            await WaitForSampleAsync(observation.NextSample, http.RequestAborted);
        }

        var sample = observation.Sampler.TakeToShow();
        var cluster = context.Readiness.Node?.ReadStatistics()?.Consensus;
        string tag = observation.Self.Tag;
        await JsonAnswer.SendAsync(
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
                    ClusterSight.Of(cluster).WriteTo(json);
                }

                json.WritePropertyName("Alerts"u8);
                ObservationJson.WriteAlerts(json, context.ActiveAlerts().Select(alert => new MemberAlert(tag, alert)));
                WriteMemory(json, history, since, SlowSince(slowSince));
            }
        );
    }

    private Task AnswerKeptAsync(HttpContext http)
    {
        var (since, slowSince, _) = ReadQuestion(http);
        string tag = new QueryParameters(http).RequiredText("node");
        var kept = context.Observation.Find(tag);
        return JsonAnswer.SendAsync(
            http,
            json => WriteMemory(json, kept?.History, since, kept?.Slow.Since(slowSince) ?? [])
        );
    }

    /// <summary>
    /// Who knows of one in what is the future here knows it from before the clock was set back, and is told of all
    /// until now.
    /// </summary>
    private IEnumerable<SlowEvent> SlowSince(long unixMicroseconds)
    {
        // To the microsecond, as events are: by the millisecond, what ended in this one would be left out.
        long now = (context.Time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;
        var happened =
            unixMicroseconds > now ? context.Io.SlowEventsSince(0, now) : context.Io.SlowEventsSince(unixMicroseconds);
        return happened.Select(static one => SlowEvent.Of(one));
    }

    private static (long Since, long SlowSince, bool IsShown) ReadQuestion(HttpContext http)
    {
        var parameters = new QueryParameters(http);
        return (parameters.Number("since", 0), parameters.Number("slowSince", 0), parameters.Flag("show"));
    }

    private static void WriteMemory(
        Utf8JsonWriter json,
        SampleHistory? history,
        long after,
        IEnumerable<SlowEvent> slow
    )
    {
        json.WritePropertyName("History"u8);
        int count = ObservationJson.WriteHistory(json, (history?.After(after) ?? []).Take(MostRows));
        json.WriteBoolean("HasMore"u8, count == MostRows);
        json.WritePropertyName("Slow"u8);
        ObservationJson.WriteSlow(json, slow);
    }

    private async Task WaitForSampleAsync(Task next, CancellationToken left)
    {
        using var ends = CancellationTokenSource.CreateLinkedTokenSource(left, context.Stopping);
        try
        {
            await next.WaitAsync(LongestWait, context.Time, ends.Token);
        }
        catch (TimeoutException)
        {
            // Nothing new, which is a word too.
        }
        catch (OperationCanceledException) when (!left.IsCancellationRequested)
        {
            // This node stops; it says what it is until then.
        }
    }
}
