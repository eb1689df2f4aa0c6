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
/// <param name="textTag">Tag of the query's text, from which the answer's tag is made.</param>
/// <param name="etag">The database's last etag, from before the planning.</param>
/// <param name="lease">The memory that the body holds; the response extends this lease. Null if the body is
/// small.</param>
internal sealed class PlannedQuery(QueryPlan plan, EntityTag textTag, long etag, LargeRequests.Lease? lease)
    : IDisposable
{
    public QueryPlan Plan => plan;

    /// <summary>The database's last etag, from before the planning.</summary>
    public long Etag => etag;

    /// <summary>Tag (HTTP ETag) of a non-stale answer at <see cref="Etag"/>; null if its order is random.</summary>
    public string? Tag => TagAt(etag);

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
            EntityTag tag;
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
                tag = TagOf(database, requestBody.Span);
            }

            if (request.HeldBytes > LargeRequests.BytesWithoutLease)
            {
                lease ??= context.LargeRequests.Begin(http);
                if (!lease.TryGrow(request.HeldBytes))
                {
                    // Release the memory before waiting for more. Otherwise two requests could each wait for the memory
                    // of the other.
                    lease.ReleaseAll();
                    await lease.GrowAsync(request.HeldBytes);
                }
            }

            if (ReadsCompareExchange(request.Text))
            {
                if (!GetCompareExchange.IsLocal(http))
                {
                    await CompareExchangeExpiry.EndDueValuesAsync(database, context.Node.Consensus);
                }

                // Values expire by the log's time. An entry of any database advances that time, but does not change
                // this database's last etag.
                using var reader = database.OpenReader();
                tag.Add(reader.ReadNextCompareExchangeExpiry());
            }

            var plan = PlanOf(request, database, context);
            return new PlannedQuery(plan, tag, etag, lease);
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
    /// Returns the tag of a non-stale answer that is computed from one state of the database; null if the order of the
    /// answer is random.
    /// </summary>
    /// <param name="lastEtag">The database's last etag in that state.</param>
    public string? TagAt(long lastEtag) => TagOf(textTag, plan, lastEtag);

    /// <summary>Returns the tag of a query's text, from which <see cref="TagOf(EntityTag, QueryPlan, long)"/> makes
    /// the tags of its answers.</summary>
    public static EntityTag TagOf(Database database, ReadOnlySpan<byte> query)
    {
        var tag = new EntityTag(database);
        tag.Add(query);
        return tag;
    }

    /// <summary>
    /// Returns the tag of the answer to a planned query; null if its order is random. Equal tags mean equal answers: a
    /// stale answer, which may differ at the same etag, is sent without a tag.
    /// </summary>
    /// <param name="textTag">Tag of the query's text.</param>
    /// <param name="plan">The plan.</param>
    /// <param name="lastEtag">The database's last etag, read before the answer's snapshot was opened, or in it.</param>
    public static string? TagOf(EntityTag textTag, QueryPlan plan, long lastEtag)
    {
        textTag.Add(plan.DefinitionNumber);
        textTag.Add(lastEtag);
        return HasRandomOrder(plan.Query) ? null : textTag.ToString();
    }

    /// <summary>Returns whether the text of a query may read compare-exchange values.</summary>
    public static bool ReadsCompareExchange(string text) =>
        text.Contains("cmpxchg", StringComparison.OrdinalIgnoreCase);

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

    private static bool HasRandomOrder(Query query) =>
        query.OrderBy.Count > 0 && query.OrderBy.Any(static order => order is { Kind: OrderKind.Random, Seed: null });
}
