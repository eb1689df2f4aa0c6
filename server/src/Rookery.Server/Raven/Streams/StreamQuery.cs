using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Queries.Answering;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.Indexes;
using Rookery.Server.Raven.Queries;

namespace Rookery.Server.Raven.Streams;

/// <summary>
/// POST streams/queries: the statistics and then all results of a query, sent as fast as the client reads.
/// </summary>
internal sealed class StreamQuery(ServerContext context)
{
    public async Task HandleAsync(HttpContext http, Database database)
    {
        bool isLines = StreamFormats.Read(http) == StreamFormat.JsonLines;
        using var planned = await PlannedQuery.ReadAsync(http, database, context);
        if (planned.Plan.Query.Includes.Count > 0 || planned.Plan.HasScriptedIncludes || planned.Plan.HasTimings)
        {
            string part =
                planned.Plan.HasScriptedIncludes ? "A script that includes something in"
                : planned.Plan.Query.Includes.Any(static include => include.Kind != IncludeKind.Timings)
                    ? "'include' in"
                : "'include timings()' or 'IncludeTimings' of";
            throw RefusedException.NotSupported(
                $"{part} a streamed query is not supported by this version: run the query in pages instead."
            );
        }

        try
        {
            await AnswerAsync(http, database, planned, isLines);
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

    private async Task AnswerAsync(HttpContext http, Database database, PlannedQuery planned, bool isLines)
    {
        string type = isLines ? StreamFormats.JsonLinesType : StreamFormats.JsonType;
        using var output = new DocumentResponse(http, context.LargeRequests, type, planned.Lease);
        using (var answer = await context.Queries.ExecuteAsync(database, planned.Plan, output))
        {
            // The statistics with the total are sent before the first result.
            long total = await answer.CountAheadAsync(correctsTotal: true);
            await WriteAsync(output, answer, total, isLines, new RequestTimeSlices(context, http));
        }

        // The snapshot is disposed before this, so that a slow client does not hold it while it reads the last part.
        await output.SendAsync();
    }

    private async Task WriteAsync(
        DocumentResponse output,
        QueryAnswer answer,
        long total,
        bool isLines,
        RequestTimeSlices slices
    )
    {
        var results = answer.Results;
        output.Write(Encoding.UTF8.GetBytes(Opening(answer, total, isLines)));
        bool isFirst = true;
        while (await results.MoveNextAsync())
        {
            await slices.YieldWhenDueAsync();
            if (isLines)
            {
                output.Write("{\"Item\":"u8);
            }
            else if (!isFirst)
            {
                output.Write(","u8);
            }

            isFirst = false;
            results.Write(output.Buffer);
            if (isLines)
            {
                output.Write("}\n"u8);
            }
            await output.SendWhenDueAsync(results.Pause);
        }

        output.Write(isLines ? ""u8 : "]}"u8);
    }

    private string Opening(QueryAnswer answer, long total, bool isLines)
    {
        string statistics = string.Create(
            CultureInfo.InvariantCulture,
            $"\"ResultEtag\":{answer.ResultEtag},\"IsStale\":{(answer.IsStale ? "true" : "false")}"
                + $",\"IndexName\":\"{JsonEncodedText.Encode(answer.IndexName)}\",\"TotalResults\":{total}"
                + $",\"IndexTimestamp\":\"{DocumentJson.Date((answer.Timestamp ?? context.Time.GetUtcNow()).UtcTicks)}"
                + $"\""
        );
        return isLines ? $"{{\"Stats\":{{{statistics}}}}}\n" : $"{{{statistics},\"Results\":[";
    }
}
