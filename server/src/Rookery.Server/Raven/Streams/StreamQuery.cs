using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.Indexes;
using Rookery.Server.Raven.Queries;

namespace Rookery.Server.Raven.Streams;

/// <summary>POST streams/queries: all results of a query, at the client's pace, statistics first.</summary>
internal sealed class StreamQuery(ServerContext context)
{
    private readonly QueryBasisChooser _chooser = new(context);

    public async Task HandleAsync(HttpContext http, Database database)
    {
        bool isLines = StreamFormats.Read(http) == StreamFormat.JsonLines;
        using var received = await ReceivedQuery.ReadAsync(http, database, context);
        if (received.Request.Query.Includes.Count > 0 || received.Request.HasTimings)
        {
            string part = received.Request.Query.Includes.Any(static include => include.Kind != IncludeKind.Timings)
                ? "'include' in"
                : "'include timings()' or 'IncludeTimings' of";
            throw RefusedException.NotSupported(
                $"{part} a streamed query is not supported by this version: run the query in pages instead."
            );
        }

        try
        {
            await AnswerAsync(http, database, received, isLines);
        }
        catch (QueryException error)
        {
            throw QueryRefusal.Of(error, received.Request.Query.Text);
        }
        catch (IndexDamagedException damaged)
        {
            throw IndexCommand.Damaged(damaged);
        }
    }

    private async Task AnswerAsync(HttpContext http, Database database, ReceivedQuery received, bool isLines)
    {
        string type = isLines ? StreamFormats.JsonLinesType : StreamFormats.JsonType;
        using var answer = new DocumentAnswer(http, context.LargeRequests, type, received.Room);
        using (var reader = new AnswerReader(database, http))
        {
            var (_, basis, opened) = await _chooser.OpenAsync(
                http,
                reader,
                received.Request,
                answer,
                metadataOnly: false
            );
            using var results = opened;

            // The total comes before the first result, so that results which are not gathered are met twice.
            if (results.KnownTotal is null)
            {
                long counted = await results.CountAsync();
                await results.RewindAsync();
                await WriteAsync(answer, results, basis, counted, isLines, new WorkTurns(context, http));
            }
            else
            {
                if (reader.Current.ReadStatistics().LastEtag > basis.ResultEtag)
                {
                    await results.SettleAsync();
                }

                await WriteAsync(
                    answer,
                    results,
                    basis,
                    results.KnownTotal.Value,
                    isLines,
                    new WorkTurns(context, http)
                );
            }
        }

        // The moment is not held while a slow client takes the last part.
        await answer.SendAsync();
    }

    private async Task WriteAsync(
        DocumentAnswer answer,
        IQueryResults results,
        QueryBasis basis,
        long total,
        bool isLines,
        WorkTurns turns
    )
    {
        answer.Write(Encoding.UTF8.GetBytes(Opening(basis, total, isLines)));
        bool isFirst = true;
        while (await results.MoveNextAsync())
        {
            await turns.TakeAsync();
            answer.Write(
                isLines ? "{\"Item\":"u8
                : isFirst ? ""u8
                : ","u8
            );
            isFirst = false;
            results.Write(answer.Buffer);
            answer.Write(isLines ? "}\n"u8 : ""u8);
            await answer.SendWhenDueAsync(results.Pause);
        }

        answer.Write(isLines ? ""u8 : "]}"u8);
    }

    private string Opening(QueryBasis basis, long total, bool isLines)
    {
        string statistics = string.Create(
            CultureInfo.InvariantCulture,
            $"\"ResultEtag\":{basis.ResultEtag},\"IsStale\":{(basis.IsStale ? "true" : "false")}"
                + $",\"IndexName\":\"{JsonEncodedText.Encode(basis.IndexName)}\",\"TotalResults\":{total}"
                + $",\"IndexTimestamp\":\"{DocumentJson.Date((basis.Timestamp ?? context.Time.GetUtcNow()).UtcTicks)}"
                + $"\""
        );
        return isLines ? $"{{\"Stats\":{{{statistics}}}}}\n" : $"{{{statistics},\"Results\":[";
    }
}
