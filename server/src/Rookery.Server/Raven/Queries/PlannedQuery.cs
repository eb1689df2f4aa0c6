using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Queries.Answering;
using Rookery.Queries.Language;
using Rookery.Server.Raven.CompareExchange;

namespace Rookery.Server.Raven.Queries;

/// <summary>
/// The planned query of a request, and the memory that the request holds until it is answered.
/// </summary>
/// <param name="plan">Plan of the query.</param>
/// <param name="tags">Makes the tags of the answer.</param>
/// <param name="etag">The database's last etag, from before the planning.</param>
/// <param name="tag">Tag of a non-stale answer at that etag; null if its order is random.</param>
/// <param name="lease">The memory that the body holds; the response extends this lease. Null if the body is
/// small.</param>
internal sealed class PlannedQuery(QueryPlan plan, QueryTags tags, long etag, string? tag, LargeRequests.Lease? lease)
    : IDisposable
{
    public QueryPlan Plan => plan;

    /// <summary>The database's last etag, from before the planning.</summary>
    public long Etag => etag;

    /// <summary>Tag (HTTP ETag) of a non-stale answer at <see cref="Etag"/>; null if its order is random.</summary>
    public string? Tag => tag;

    public LargeRequests.Lease? Lease => lease;

    /// <summary>Receives, parses and plans a query.</summary>
    /// <exception cref="RefusedException">The query is invalid or not supported, or there is no memory
    /// for it.</exception>
    public static async ValueTask<PlannedQuery> ReadAsync(HttpContext http, Database database, ServerContext context)
    {
        LargeRequests.Lease? lease = null;
        try
        {
            QueryRequest request;
            QueryTags tags;
            long etag = database.LastEtag;
            using (
                var requestBody = await RequestBody.ReadAsync(
                    http,
                    context.Options.QueryBytesLimit,
                    context.LargeRequests,
                    BodyUse.Objects
                )
            )
            {
                lease = requestBody.Lease;
                request = QueryBodyJson.Read(requestBody.Span);
                tags = new QueryTags(database, requestBody.Span, request.Text);
            }

            if (request.HeldBytes > LargeRequests.BytesWithoutLease)
            {
                lease ??= context.LargeRequests.Begin(http);
                long bytes = lease.OuterBytes + request.HeldBytes;
                if (!lease.TryGrow(bytes))
                {
                    // Release the memory before waiting for more. Otherwise two requests could each wait for the memory
                    // of the other.
                    lease.ReleaseAll();
                    await lease.GrowAsync(bytes);
                }
            }

            if (tags.ReadsCompareExchange && !GetCompareExchange.IsLocal(http))
            {
                await CompareExchangeExpiry.EndDueValuesAsync(database, context.Node.Consensus);
            }

            var expiries = tags.ReadExpiries(database);
            var plan = PlanOf(request, database, context);
            return new PlannedQuery(plan, tags, etag, tags.TagOf(plan, etag, expiries), lease);
        }
        catch
        {
            // Release the memory. Otherwise the lease's deadline would close the connection later, when it may serve
            // another request.
            lease?.Dispose();
            throw;
        }
    }

    public void Dispose()
    {
        plan.Dispose();
        lease?.Dispose();
    }

    /// <summary>
    /// Returns the tag of a non-stale answer that is computed from a snapshot newer than the plan. Null if the order of
    /// the answer is random, or if the plan contains stored data: the data may have changed since, so the same query,
    /// planned in that snapshot, may have another answer.
    /// </summary>
    public string? TagIn(in DatabaseReader snapshot) =>
        plan.ContainsStoredData
            ? null
            : tags.TagOf(plan, snapshot.ReadStatistics().LastEtag, tags.ReadExpiries(snapshot));

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
}
