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
        LargeRequests.Lease? room = null;
        try
        {
            QueryRequest request;
            EntityTag tag;
            using (
                var body = await RequestBody.ReadAsync(
                    http,
                    context.Options.QueryBytesLimit,
                    context.LargeRequests,
                    BodyUse.Objects
                )
            )
            {
                room = body.Room;
                request = QueryBodyJson.Read(body.Span);
                tag = TagOf(database, body.Span);
            }

            if (request.HeldBytes > LargeRequests.FreeBytes)
            {
                room ??= context.LargeRequests.Begin(http);
                if (!room.TryGrow(request.HeldBytes))
                {
                    // What is held is given back first: otherwise two requests could each wait for what the other
                    // holds.
                    room.Dispose();
                    await room.GrowAsync(request.HeldBytes);
                }
            }

            var plan = PlanOf(request, database, context);
            tag.Add(plan.DefinitionNumber);
            return new QueryBody(plan, IsShuffledAnew(plan.Query) ? null : tag.ToString(), room);
        }
        catch
        {
            // Its deadline would cut the connection later, which may serve another request by then.
            room?.Dispose();
            throw;
        }
    }

    public void Dispose()
    {
        plan.Dispose();
        room?.Dispose();
    }

    private static QueryPlan PlanOf(QueryRequest request, Database database, ServerContext context)
    {
        try
        {
            return context.Queries.Plan(database, request);
        }
        catch (QueryException error)
        {
            throw QueryRefusal.Of(error, request.Text);
        }
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
