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
        using var body = await QueryBody.ReadAsync(http, database, context);
        if (body.Plan.Query.Includes.Count > 0 || body.Plan.HasTimings)
        {
            string part = body.Plan.Query.Includes.Any(static include => include.Kind != IncludeKind.Timings)
                ? "'include' in"
                : "'include timings()' or 'IncludeTimings' of";
            throw RefusedException.NotSupported(
                $"{part} a streamed query is not supported by this version: run the query in pages instead."
            );
        }

        try
        {
            await AnswerAsync(http, database, body, isLines);
        }
        catch (QueryException error)
        {
            throw QueryRefusal.Of(error, body.Plan.Query.Text);
        }
        catch (IndexDamagedException damaged)
        {
            throw IndexCommand.Damaged(damaged);
        }
    }

    private async Task AnswerAsync(HttpContext http, Database database, QueryBody body, bool isLines)
    {
        string type = isLines ? StreamFormats.JsonLinesType : StreamFormats.JsonType;
        using var output = new DocumentAnswer(http, context.LargeRequests, type, body.Room);
        using (var answer = await context.Queries.ExecuteAsync(database, body.Plan, output))
        {
            // The statistics with the total are sent before the first result.
            long total = await answer.CountAheadAsync(correctsTotal: true);
            await WriteAsync(output, answer, total, isLines, new RequestTimeSlices(context, http));
        }

        // The snapshot is disposed before this, so that a slow client does not hold it while it reads the last part.
        await output.SendAsync();
    }

    private async Task WriteAsync(
        DocumentAnswer output,
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
