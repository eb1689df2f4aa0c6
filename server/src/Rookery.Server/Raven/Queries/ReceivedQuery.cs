using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;

namespace Rookery.Server.Raven.Queries;

/// <summary>A query as it came, and the room that it takes until it is answered.</summary>
/// <param name="request">What is asked.</param>
/// <param name="tag">The ETag of its answer, unless that is stale; null when it differs each time.</param>
/// <param name="room">Room for what was read, which grows for the answer; null when that is little.</param>
internal sealed class ReceivedQuery(QueryRequest request, string? tag, LargeRequests.Lease? room) : IDisposable
{
    public QueryRequest Request => request;

    public string? Tag => tag;

    public LargeRequests.Lease? Room => room;

    /// <summary>Receives and reads a query.</summary>
    /// <exception cref="RefusedException">It is none, not supported, or there is no room for it.</exception>
    public static async ValueTask<ReceivedQuery> ReadAsync(HttpContext http, Database database, ServerContext context)
    {
        QueryEnvelope envelope;
        EntityTag tag;
        LargeRequests.Lease? room;
        using (
            var body = await RequestBody.ReadAsync(
                http,
                context.Options.QueryBytesLimit,
                context.LargeRequests,
                BodyUse.Objects
            )
        )
        {
            envelope = QueryEnvelope.Read(body.Span);
            tag = TagOf(database, body.Span);
            room = body.Room;
        }

        if (envelope.HeldBytes > LargeRequests.FreeBytes)
        {
            room ??= context.LargeRequests.Begin(http);
            if (!room.TryGrow(envelope.HeldBytes))
            {
                // What is held is given back first: two that wait for more than each other's would wait for ever.
                room.Dispose();
                await room.GrowAsync(envelope.HeldBytes);
            }
        }

        try
        {
            var request = QueryRequest.Read(envelope, database, new IndexedQueries(context.Indexes));
            // by which definition an index answers changes while no document does
            tag.Add(request.Named?.Rows?.Number ?? 0);
            return new ReceivedQuery(request, IsShuffledAnew(request.Query) ? null : tag.ToString(), room);
        }
        catch (RefusedException)
        {
            room?.Dispose();
            throw;
        }
    }

    public void Dispose()
    {
        request.Dispose();
        room?.Dispose();
    }

    private static bool IsShuffledAnew(Query query) =>
        query.OrderBy.Count > 0 && query.OrderBy.Any(static order => order is { Kind: OrderKind.Random, Seed: null });

    /// <summary>
    /// Nothing was applied to the database since, and the query is the same: so is the answer, because only those have
    /// a tag that are not stale.
    /// </summary>
    private static EntityTag TagOf(Database database, ReadOnlySpan<byte> query)
    {
        var tag = new EntityTag(database);
        tag.Add(database.LastEtag);
        tag.Add(query);
        return tag;
    }
}
