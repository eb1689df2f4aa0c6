using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Documents;
using Rookery.Server.Raven;

namespace Rookery.Server;

/// <summary>
/// GET /databases/{database}/changes/stream?since=ETAG: Server-Sent Events of every change after an etag, and then of those to come. Each event carries its etag as
/// its id, so that a browser that connects again (Last-Event-ID) misses nothing. A document that changed twice since is told once, as it is now.
/// </summary>
internal static class ChangesStreamRoute
{
    private const string ContentType = "text/event-stream; charset=utf-8";
    private static readonly TimeSpan SignOfLife = TimeSpan.FromSeconds(15);

    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes.MapGet("/databases/{database}/changes/stream", RavenRoute.OnFreshDatabase(context, (http, database) => AnswerAsync(http, context, database)));

    private static async Task AnswerAsync(HttpContext http, ServerContext context, Database database)
    {
        if (!TryReadSince(http, out long? since))
        {
            throw RefusedException.BadRequest("'since' must be an etag: a whole number.");
        }

        // Subscribed before the first read, so that nothing falls between both. What it brings is only a sign to read on: the etag says from where.
        using var subscription = database.Subscribe();
        using var stopping = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.Stopping);
        http.Response.Headers.CacheControl = "no-store";
        using var answer = AnswerBuffer.Rent();
        long etag = Begin(answer, database, since);
        while (true)
        {
            etag = await SendChangesAsync(http, answer, database, etag);
            if (!await WaitAsync(subscription, answer, context.Time, stopping.Token))
            {
                return;
            }
        }
    }

    private static bool TryReadSince(HttpContext http, out long? since)
    {
        string? text = http.Request.Headers["Last-Event-ID"].FirstOrDefault() ?? http.Request.Query["since"];
        since = null;
        if (string.IsNullOrEmpty(text))
        {
            return true;
        }

        bool isEtag = long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long etag);
        since = etag;
        return isEtag;
    }

    // Deletions at or below the horizon are forgotten: whoever comes from before it cannot be told of them, and must hear that.
    private static long Begin(AnswerBuffer answer, Database database, long? since)
    {
        using var reader = database.OpenReader();
        var statistics = reader.ReadStatistics();
        long etag = since ?? statistics.LastEtag;
        if (etag > 0 && etag < statistics.TombstoneHorizon)
        {
            answer.Write("event: reset\ndata: {}\n\n"u8);
            return 0;
        }

        answer.Write(": changes\n\n"u8);
        return etag;
    }

    private static async Task<long> SendChangesAsync(HttpContext http, AnswerBuffer answer, Database database, long after)
    {
        long etag = after;
        using var changes = Open(database, after);
        while (changes.MoveNext())
        {
            etag = changes.Etag;
            WriteEvent(answer, database, changes);
            if (answer.IsPartDue)
            {
                await answer.SendPartAsync(http, changes.Pause, ContentType);
            }
        }

        if (answer.Length > 0)
        {
            await answer.SendPartAsync(http, changes.Pause, ContentType);
        }

        return etag;
    }

    private static ChangeCursor Open(Database database, long after)
    {
        using var reader = database.OpenReader();
        return reader.Changes(after);
    }

    private static void WriteEvent(AnswerBuffer answer, Database database, ChangeCursor change)
    {
        if (change is { IsTombstone: true, Tombstone.Moved: true })
        {
            // The document itself follows with the same etag.
            return;
        }

        answer.Write(change.IsTombstone ? "event: delete\nid: "u8 : "event: put\nid: "u8);
        WriteNumber(answer, change.Etag);
        answer.Write("\ndata: "u8);
        using (var json = new Utf8JsonWriter(answer))
        {
            json.WriteStartObject();
            if (change.IsTombstone)
            {
                json.WriteString("Id"u8, change.Tombstone.Id);
                json.WriteString("Collection"u8, change.Tombstone.Collection);
            }
            else
            {
                var view = change.View;
                json.WriteString("Id"u8, view.Id);
                json.WriteString("Collection"u8, view.Collection.IsEmpty ? "@empty"u8 : view.Collection);
            }

            json.WriteNumber("Etag"u8, change.Etag);
            json.WriteString("ChangeVector"u8, database.ChangeVectorOf(change.Etag));
            json.WriteEndObject();
        }

        answer.Write("\n\n"u8);
    }

    private static void WriteNumber(AnswerBuffer answer, long number)
    {
        number.TryFormat(answer.GetSpan(20), out int written, provider: CultureInfo.InvariantCulture);
        answer.Advance(written);
    }

    /// <summary>Waits for a change; after a while without one leaves a comment, so that proxies and clients see that the feed lives.</summary>
    private static async Task<bool> WaitAsync(ChangeSubscription<DocumentChange> subscription, AnswerBuffer answer, TimeProvider time, CancellationToken stopping)
    {
        using var quiet = new CancellationTokenSource(SignOfLife, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(stopping, quiet.Token);
        try
        {
            if (!await subscription.WaitAsync(either.Token))
            {
                return false;
            }

            while (subscription.TryRead(out _))
            {
                // Each is read from the tables by its etag.
            }
        }
        catch (OperationCanceledException) when (!stopping.IsCancellationRequested)
        {
            answer.Write(": quiet\n\n"u8);
        }

        return true;
    }
}
