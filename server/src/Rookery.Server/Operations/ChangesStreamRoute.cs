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
/// GET /databases/{database}/changes/stream?since=POSITION: Server-Sent Events for all changes after a
/// <see cref="ChangesPosition"/>, first past ones, then new ones. The id of an event is its position, so a browser that
/// reconnects with Last-Event-ID misses nothing. A document that changed twice is reported once, in its current state.
/// A client that loses its rights gets an event with the reason.
/// </summary>
internal static class ChangesStreamRoute
{
    private const string ContentType = "text/event-stream; charset=utf-8";
    private const string DatabaseGone =
        "The database was deleted, or replaced by a restored one or by the state of another member: connect "
        + "again, with the last id.";
    private static readonly TimeSpan KeepAliveInterval = TimeSpan.FromSeconds(15);

    private static ReadOnlySpan<byte> Reset => "event: reset\ndata: {}\n\n"u8;

    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes
            .MapGet(
                "/databases/{database}/changes/stream",
                RavenRoute.OnDatabaseRead(context, (http, database) => AnswerAsync(http, context, database))
            )
            .For(RouteScope.Read)
            .Taking(RavenParameters.ChangesStream);

    private static async Task AnswerAsync(HttpContext http, ServerContext context, Database database)
    {
        var since = ReadSince(http);

        // Subscribe before the first read, so that no change is missed in between. A notification only means that there
        // are changes after the current etag, so a queue of one is enough.
        using var subscription = database.Subscribe(capacity: 1);
        using var stopping = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.Stopping);
        http.Response.Headers.CacheControl = "no-store";
        using var answer = ResponseBuffer.Rent();
        var access = new FeedAccess(context, http);
        var slices = new RequestTimeSlices(context, http);
        var reached = Begin(answer, database, since);
        try
        {
            while (true)
            {
                await SendChangesAsync(http, answer, database, access, reached, slices);
                if (access.WhyEndedCached() is { } reason)
                {
                    await EndAsync(http, answer, reason);
                    return;
                }

                answer.Trim();
                if (!await WaitAsync(subscription, answer, context.Time, stopping.Token))
                {
                    stopping.Token.ThrowIfCancellationRequested();
                    await EndAsync(http, answer, DatabaseGone);
                    return;
                }
            }
        }
        catch (DatabaseGoneException gone)
        {
            await EndAsync(http, answer, gone.Message);
        }
    }

    // On a reconnect the header is newer than the parameter, because a browser repeats the URL unchanged.
    private static ChangesPosition? ReadSince(HttpContext http)
    {
        // Some clients send the header without an id until they have one.
        string? text = http.Request.Headers["Last-Event-ID"].FirstOrDefault() is { Length: > 0 } last
            ? last
            : new QueryParameters(http).Text("since");
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
    /// Writes the position where the feed begins, as an id without data. The id sets a browser's Last-Event-ID without
    /// an event, so a client that is disconnected before the first change misses nothing.
    /// </summary>
    private static FeedPosition Begin(ResponseBuffer answer, Database database, ChangesPosition? since)
    {
        using var reader = database.OpenReader();
        var statistics = reader.ReadStatistics();
        if (since is { } position && !position.CanContinueIn(database, statistics))
        {
            answer.Write(Reset);
            return new FeedPosition { Horizon = statistics.TombstoneHorizon };
        }

        long etag = since?.Etag ?? statistics.LastEtag;
        answer.Write(": changes\nid: "u8);
        WritePosition(answer, database, etag);
        answer.Write("\n\n"u8);
        return new FeedPosition { Etag = etag, Horizon = statistics.TombstoneHorizon };
    }

    private static async Task SendChangesAsync(
        HttpContext http,
        ResponseBuffer answer,
        Database database,
        FeedAccess access,
        FeedPosition reached,
        RequestTimeSlices slices
    )
    {
        for (bool isMore = true; isMore && access.WhyEndedCached() is null; )
        {
            await slices.YieldWhenDueAsync();
            isMore = WritePart(answer, database, reached, slices);
            if (answer.Length > 0)
            {
                await answer.SendPartAsync(http, pause: null, ContentType);
            }
        }
    }

    /// <summary>
    /// Writes the next changes. No snapshot is held while they are sent: the next part begins after the last etag that
    /// was sent. If tombstones after that etag were removed meanwhile, the client is told to begin again.
    /// </summary>
    /// <returns>Whether there are more.</returns>
    private static bool WritePart(
        ResponseBuffer answer,
        Database database,
        FeedPosition reached,
        RequestTimeSlices slices
    )
    {
        using var reader = database.OpenReader();
        long horizon = reader.ReadStatistics().TombstoneHorizon;
        if (horizon > reached.Horizon)
        {
            // Documents that the feed reported may have been deleted since, and their tombstones may be removed by now.
            if (reached.Etag > 0 && reached.Etag < horizon)
            {
                answer.Write(Reset);
                reached.Etag = 0;
            }

            reached.Horizon = horizon;
        }

        using var changes = reader.SeekChanges(reached.Etag);
        while (changes.MoveNext())
        {
            slices.CountRead();

            // A document that moved to another collection makes two changes with one etag.
            if (answer.IsPartDue && changes.Etag != reached.Etag)
            {
                return true;
            }

            reached.Etag = changes.Etag;
            WriteEvent(answer, database, changes);
        }

        return false;
    }

    private static void WriteEvent(ResponseBuffer answer, Database database, ChangeCursor change)
    {
        if (change is { IsTombstone: true, Tombstone.Moved: true })
        {
            // The document itself follows, with the same etag.
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

    private static async Task EndAsync(HttpContext http, ResponseBuffer answer, string reason)
    {
        WriteEnd(answer, reason);
        await answer.SendPartAsync(http, pause: null, ContentType);
    }

    private static void WriteEnd(ResponseBuffer answer, string reason)
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

    private static void WritePosition(ResponseBuffer answer, Database database, long etag)
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
    /// Waits for a change. After 15 s without one it writes a comment, so that proxies and clients see that the feed is
    /// alive.
    /// </summary>
    /// <returns>False if the subscription has ended: there are no more changes.</returns>
    private static async Task<bool> WaitAsync(
        ChangeSubscription<DocumentChange> subscription,
        ResponseBuffer answer,
        TimeProvider time,
        CancellationToken stopping
    )
    {
        using var quiet = new CancellationTokenSource(KeepAliveInterval, time);
        using var stoppingOrQuiet = CancellationTokenSource.CreateLinkedTokenSource(stopping, quiet.Token);
        try
        {
            if (!await subscription.WaitAsync(stoppingOrQuiet.Token))
            {
                return false;
            }

            while (subscription.TryRead(out _))
            {
                // Discards the notifications: the changes are read from the tables.
            }
        }
        catch (OperationCanceledException) when (!stopping.IsCancellationRequested)
        {
            answer.Write(": quiet\n\n"u8);
        }

        return true;
    }

    /// <summary>How far a feed was sent.</summary>
    private sealed class FeedPosition
    {
        public long Etag { get; set; }

        /// <summary>Tombstones up to this etag were already removed when the feed began or was last reset.</summary>
        public long Horizon { get; set; }
    }
}
