using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Queries.Answering;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Server.Raven.CompareExchange;
using Rookery.Server.Raven.Counters;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.Indexes;
using Rookery.Server.Raven.Revisions;

namespace Rookery.Server.Raven.Queries;

/// <summary>
/// POST queries. The answer reports whether the index that it used is stale; an answer from a scan is never stale.
/// </summary>
internal sealed class RunQuery(ServerContext context)
{
    public async Task HandleAsync(HttpContext http, Database database)
    {
        long start = context.Time.GetTimestamp();
        bool metadataOnly = new QueryParameters(http).Flag("metadataOnly");
        string debug = new QueryParameters(http).Text("debug") ?? "";
        if (debug is not ("" or "explain"))
        {
            throw RefusedException.NotSupported($"debug={debug} of queries is not supported by this version.");
        }

        using var planned = await PlannedQuery.ReadAsync(http, database, context);
        try
        {
            if (debug is "explain")
            {
                await ExplainAsync(http, database, planned);
            }
            else if (planned.Tag is not { } tag || !EntityTag.TryAnswerNotModified(http, tag))
            {
                // There is no tag, or the client's copy of the answer is outdated. Otherwise 304 was answered.
                await AnswerAsync(
                    http,
                    database,
                    planned,
                    metadataOnly,
                    new QueryTimings(context.Time, start, planned.Plan.HasTimings)
                );
            }
        }
        catch (QueryException error)
        {
            throw QueryRefusal.Of(error, planned.Plan.Query.Text);
        }
        catch (IndexDamagedException damaged)
        {
            throw IndexCommand.Damaged(damaged);
        }
    }

    private async Task ExplainAsync(HttpContext http, Database database, PlannedQuery planned)
    {
        var plan = planned.Plan;
        using var output = new DocumentResponse(http, context.LargeRequests, lease: planned.Lease);
        var (choice, postingsRead) = context.Queries.Explain(database, plan, output);
        JsonResponse.Write(
            output.Buffer,
            json =>
            {
                json.WriteString("IndexName"u8, choice.IndexName ?? plan.IndexName);
                json.WriteStartArray("Results"u8);
                foreach (var reason in choice.Reasons)
                {
                    json.WriteStartObject();
                    // As in RavenDB, a query that reads documents directly has a name instead of an index.
                    json.WriteString("Index"u8, reason.Index ?? (plan.Compiled is null ? plan.IndexName : null));
                    json.WriteString("Reason"u8, reason.Text);
                    json.WriteBoolean("IsChosen"u8, reason.IsChosen);
                    json.WriteEndObject();
                }

                json.WriteEndArray();
                if (postingsRead is { } read)
                {
                    json.WriteNumber("PostingsRead"u8, read);
                }
            }
        );
        await output.SendAsync();
    }

    private async Task AnswerAsync(
        HttpContext http,
        Database database,
        PlannedQuery planned,
        bool metadataOnly,
        QueryTimings timings
    )
    {
        timings.EndPart("Parser");
        using var output = new DocumentResponse(http, context.LargeRequests, lease: planned.Lease);
        using (
            var answer = await context.Queries.ExecuteAsync(
                database,
                planned.Plan,
                output,
                metadataOnly,
                onBasisChosen: () => timings.EndPart("Index")
            )
        )
        {
            if (answer.IsStale)
            {
                // Removes the ETag that TryAnswerNotModified set: a stale answer depends on more than the documents.
                http.Response.Headers.ETag = default;
            }
            else if (database.LastEtag != planned.Etag)
            {
                // The last etag has risen, for instance because this query defined its index. If the same query came
                // again now, its tag would be made from the higher etag and would never equal the tag that is set.
                http.Response.Headers.ETag = planned.TagIn(answer.Results.Reader);
            }

            timings.EndPart("Query");
            long total = await WriteResultsAsync(http, output, database, answer, timings);
            QueryEnvelope.End(
                output.Buffer,
                answer,
                total,
                timings.TotalMilliseconds,
                context,
                answer.Plan.HasTimings ? timings.ToJson() : null
            );
        }

        // The snapshot is disposed before this, so that a slow client does not hold it while it reads the last part.
        await output.SendAsync();
    }

    /// <summary>Writes the results and the documents that they include.</summary>
    /// <returns>The total number of results, on this page or not.</returns>
    private async Task<long> WriteResultsAsync(
        HttpContext http,
        DocumentResponse output,
        Database database,
        QueryAnswer answer,
        QueryTimings timings
    )
    {
        var results = answer.Results;
        var slices = new RequestTimeSlices(context, http);
        using var includes = new IncludePaths(answer.Plan.Includes, context.QueryMemory, slices.CheckCancelled);
        using var includedValues = new IncludePaths(
            answer.Plan.IncludedValues,
            context.QueryMemory,
            slices.CheckCancelled
        );
        using var includedCounters = new QueryCounterIncludes(
            answer.Plan.IncludedCounters,
            context.QueryMemory,
            slices.CheckCancelled
        );
        using var includedRevisions = new QueryRevisionIncludes(
            answer.Plan.IncludedRevisions,
            context.QueryMemory,
            slices.CheckCancelled
        );
        QueryEnvelope.Begin(output.Buffer);
        bool isFirst = true;
        while (await results.MoveNextAsync())
        {
            await slices.YieldWhenDueAsync();
            QueryEnvelope.WriteResult(output.Buffer, answer, isFirst);
            isFirst = false;
            if (!includes.IsEmpty)
            {
                results.Collect(includes);
            }

            if (!includedValues.IsEmpty)
            {
                results.Collect(includedValues);
            }

            if (answer.Plan.HasScriptedIncludes)
            {
                results.CollectScripted(includes, includedValues);
            }

            includedCounters.Collect(results);
            includedRevisions.Collect(results);

            await SendWhenDueAsync(output, results, timings);
        }

        long total = await results.CountAsync();
        QueryEnvelope.BeginIncludes(output.Buffer);
        isFirst = true;
        var tag = new EntityTag(database);
        foreach (string id in includes.Ids)
        {
            await slices.YieldWhenDueAsync();
            while (
                !IncludedDocuments.TryWrite(
                    output,
                    results.Reader,
                    database,
                    id,
                    ref isFirst,
                    ref tag,
                    out long neededBytes
                )
            )
            {
                results.Pause();
                await output.WaitForMemoryAsync(neededBytes);
            }

            await SendWhenDueAsync(output, results, timings);
        }

        QueryEnvelope.EndIncludes(output.Buffer);
        if (!includedValues.IsEmpty || includedValues.Ids.Count > 0)
        {
            await CompareExchangeIncludes.WriteAsync(output, results, database, includedValues.Ids, slices);
        }

        if (!includedCounters.IsEmpty)
        {
            await includedCounters.WriteAsync(output, results, slices);
        }

        if (!includedRevisions.IsEmpty)
        {
            await includedRevisions.WriteAsync(output, results, database, slices);
        }

        timings.EndPart("Results");
        return total;
    }

    private static async ValueTask SendWhenDueAsync(
        DocumentResponse output,
        IQueryResults results,
        QueryTimings timings
    )
    {
        if (output.Buffer.IsPartDue)
        {
            timings.Pause();
            await output.SendWhenDueAsync(results.Pause);
            timings.Resume();
        }
    }
}
