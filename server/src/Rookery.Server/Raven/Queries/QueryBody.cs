using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Queries.Answering;
using Rookery.Queries.Language;

namespace Rookery.Server.Raven.Queries;

/// <summary>The body of a query's request, read and planned, and the room that it takes until it is answered.</summary>
/// <param name="plan">How it is answered.</param>
/// <param name="tag">The ETag of its answer, unless that is stale; null when it differs each time.</param>
/// <param name="room">Room for what was read, which grows for the answer; null when that is little.</param>
internal sealed class QueryBody(QueryPlan plan, string? tag, LargeRequests.Lease? room) : IDisposable
{
    public QueryPlan Plan => plan;

    public string? Tag => tag;

    public LargeRequests.Lease? Room => room;

    /// <summary>Receives and reads a query.</summary>
    /// <exception cref="RefusedException">It is none, not supported, or there is no room for it.</exception>
    public static async ValueTask<QueryBody> ReadAsync(HttpContext http, Database database, ServerContext context)
    {
        QueryRequest request;
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
            request = QueryBodyJson.Read(body.Span);
            tag = TagOf(database, body.Span);
            room = body.Room;
        }

        if (request.HeldBytes > LargeRequests.FreeBytes)
        {
            room ??= context.LargeRequests.Begin(http);
            if (!room.TryGrow(request.HeldBytes))
            {
                // What is held is given back first: two that wait for more than each other's would wait for ever.
                room.Dispose();
                await room.GrowAsync(request.HeldBytes);
            }
        }

        try
        {
            var plan = context.Queries.Plan(database, request);
            tag.Add(plan.DefinitionNumber);
            return new QueryBody(plan, IsShuffledAnew(plan.Query) ? null : tag.ToString(), room);
        }
        catch (QueryException error)
        {
            room?.Dispose();
            throw QueryRefusal.Of(error, request.Text);
        }
    }

    public void Dispose()
    {
        plan.Dispose();
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
