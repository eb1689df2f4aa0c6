using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Documents.Changes;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Server.Access;
using Rookery.Server.Raven;

namespace Rookery.Server.Operations;

/// <summary>
/// GET /databases/{database}/changes/stream?since=POSITION: Server-Sent Events of every change after a
/// <see cref="ChangesPosition"/>, and then of those to come. Each event carries its position as its id, so that a
/// browser that connects again (Last-Event-ID) misses nothing. A document that changed twice since is told once, as it
/// is now. Whoever may not listen any more is told why.
/// </summary>
internal static class ChangesStreamRoute
{
    private const string ContentType = "text/event-stream; charset=utf-8";
    private const string NoMore =
        "The database was deleted, or replaced by a restored one or by the state of another member: connect "
        + "again, with the last id.";
    private static readonly TimeSpan SignOfLife = TimeSpan.FromSeconds(15);

    private static ReadOnlySpan<byte> Reset => "event: reset\ndata: {}\n\n"u8;

    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes
            .MapGet(
                "/databases/{database}/changes/stream",
                RavenRoute.OnFreshDatabase(context, (http, database) => AnswerAsync(http, context, database))
            )
            .For(RouteScope.Read)
            .Taking(RavenParameters.ChangesStream);

    private static async Task AnswerAsync(HttpContext http, ServerContext context, Database database)
    {
        var since = ReadSince(http);

        // Subscribed before the first read, so that nothing falls between both. What it brings is only a sign to read
        // on: the etag says from where. So one is enough, and a client that stands still piles up none.
        using var subscription = database.Subscribe(capacity: 1);
        using var stopping = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.Stopping);
        http.Response.Headers.CacheControl = "no-store";
        using var answer = AnswerBuffer.Rent();
        var access = new FeedAccess(context, http);
        var turns = new WorkTurns(context, http);
        var place = Begin(answer, database, since);
        try
        {
            while (true)
            {
                await SendChangesAsync(http, answer, database, access, place, turns);
                if (access.WhyEndedLately() is { } reason)
                {
                    await EndAsync(http, answer, reason);
                    return;
                }

                answer.Trim();
                if (!await WaitAsync(subscription, answer, context.Time, stopping.Token))
                {
                    stopping.Token.ThrowIfCancellationRequested();
                    await EndAsync(http, answer, NoMore);
                    return;
                }
            }
        }
        catch (DatabaseGoneException gone)
        {
            await EndAsync(http, answer, gone.Message);
        }
    }

    // The header is what a browser that connects again knows; the parameter stays as the page wrote it.
    private static ChangesPosition? ReadSince(HttpContext http)
    {
        string? text =
            http.Request.Headers["Last-Event-ID"].FirstOrDefault() ?? new QueryParameters(http).Text("since");
        if (string.IsNullOrEmpty(text))
        {
            return null;
        }

        return ChangesPosition.TryParse(text, out var position)
            ? position
            : throw RefusedException.BadRequest(
                "'since' (or Last-Event-ID) must be the id of an event of this feed, or an etag: a whole number."
            );
    }

    /// <summary>
    /// Says from where the feed goes on. The id without data sets a browser's Last-Event-ID and is no event of its own:
    /// whoever is cut off before the first change misses nothing either.
    /// </summary>
    private static FeedPlace Begin(AnswerBuffer answer, Database database, ChangesPosition? since)
    {
        using var reader = database.OpenReader();
        var statistics = reader.ReadStatistics();
        if (since is { } position && !position.IsKnownTo(database, statistics))
        {
            answer.Write(Reset);
            return new FeedPlace { Horizon = statistics.TombstoneHorizon };
        }

        long etag = since?.Etag ?? statistics.LastEtag;
        answer.Write(": changes\nid: "u8);
        WritePosition(answer, database, etag);
        answer.Write("\n\n"u8);
        return new FeedPlace { Etag = etag, Horizon = statistics.TombstoneHorizon };
    }

    private static async Task SendChangesAsync(
        HttpContext http,
        AnswerBuffer answer,
        Database database,
        FeedAccess access,
        FeedPlace place,
        WorkTurns turns
    )
    {
        for (bool isMore = true; isMore && access.WhyEndedLately() is null; )
        {
            await turns.TakeAsync();
            isMore = WritePart(answer, database, place, turns);
            if (answer.Length > 0)
            {
                await answer.SendPartAsync(http, pause: null, ContentType);
            }
        }
    }

    /// <summary>
    /// Writes the next changes. No reader is held while they are sent: the next part is read by the etag, unless
    /// deletions behind it were forgotten meanwhile.
    /// </summary>
    /// <returns>Whether there are more.</returns>
    private static bool WritePart(AnswerBuffer answer, Database database, FeedPlace place, WorkTurns turns)
    {
        using var reader = database.OpenReader();
        long horizon = reader.ReadStatistics().TombstoneHorizon;
        if (horizon > place.Horizon)
        {
            // A walk that began before may have told of a document whose deletion is forgotten now.
            if (place.Etag > 0 && place.Etag < horizon)
            {
                answer.Write(Reset);
                place.Etag = 0;
            }

            place.Horizon = horizon;
        }

        using var changes = reader.Changes(place.Etag);
        while (changes.MoveNext())
        {
            turns.Pass();

            // A document that moved between collections is two changes of one etag.
            if (answer.IsPartDue && changes.Etag != place.Etag)
            {
                return true;
            }

            place.Etag = changes.Etag;
            WriteEvent(answer, database, changes);
        }

        return false;
    }

    private static void WriteEvent(AnswerBuffer answer, Database database, ChangeCursor change)
    {
        if (change is { IsTombstone: true, Tombstone.Moved: true })
        {
            // The document itself follows with the same etag.
            return;
        }

        answer.Write(change.IsTombstone ? "event: delete\nid: "u8 : "event: put\nid: "u8);
        WritePosition(answer, database, change.Etag);
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

    private static async Task EndAsync(HttpContext http, AnswerBuffer answer, string reason)
    {
        WriteEnd(answer, reason);
        await answer.SendPartAsync(http, pause: null, ContentType);
    }

    private static void WriteEnd(AnswerBuffer answer, string reason)
    {
        answer.Write("event: end\ndata: "u8);
        using (var json = new Utf8JsonWriter(answer))
        {
            json.WriteStartObject();
            json.WriteString("Reason"u8, reason);
            json.WriteEndObject();
        }

        answer.Write("\n\n"u8);
    }

    private static void WritePosition(AnswerBuffer answer, Database database, long etag)
    {
        Span<byte> history = stackalloc byte[HistoryId.Length];
        int length = ChangeVector.Write(
            answer.GetSpan(ChangeVector.MaxBytes),
            etag,
            history[..Encoding.ASCII.GetBytes(database.HistoryId, history)]
        );
        answer.Advance(length);
    }

    /// <summary>
    /// Waits for a change; after a while without one leaves a comment, so that proxies and clients see that the feed
    /// lives.
    /// </summary>
    private static async Task<bool> WaitAsync(
        ChangeSubscription<DocumentChange> subscription,
        AnswerBuffer answer,
        TimeProvider time,
        CancellationToken stopping
    )
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

    /// <summary>Up to where a feed was read.</summary>
    private sealed class FeedPlace
    {
        public long Etag { get; set; }

        /// <summary>
        /// Deletions up to this etag were forgotten when the feed last began from nothing, or before it.
        /// </summary>
        public long Horizon { get; set; }
    }
}
