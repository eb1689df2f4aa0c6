using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.Queries;

namespace Rookery.Server.Raven.Streams;

/// <summary>POST streams/queries: all results of a query that needs no index, at the client's pace, statistics first.</summary>
internal sealed class StreamQuery(ServerContext context)
{
    public async Task HandleAsync(HttpContext http, Database database)
    {
        bool isLines = StreamFormats.Read(http) == StreamFormat.JsonLines;
        string type = isLines ? StreamFormats.JsonLinesType : StreamFormats.JsonType;
        QueryRequest request;
        using (var body = await RequestBody.ReadAsync(http, context.Options.QueryBytesLimit, context.LargeRequests, BodyUse.Objects))
        {
            request = QueryRequest.Read(body.Span);
        }

        if (request.Query.Includes.Count > 0)
        {
            throw RefusedException.NotSupported("'include' in a streamed query is not supported by this version: run the query in pages instead.");
        }

        using var answer = new DocumentAnswer(http, context.LargeRequests, type);
        answer.Write(Encoding.UTF8.GetBytes(Opening(database, request.Query, isLines)));
        using var walk = new QueryWalk(database, request.Query);
        bool isFirst = true;
        while (walk.MoveNext())
        {
            if (!await answer.HasRoomAsync(walk.Length, walk.StepBack))
            {
                continue;
            }

            answer.Write(isLines ? "{\"Item\":"u8 : isFirst ? ""u8 : ","u8);
            isFirst = false;
            walk.Write(answer.Buffer, database);
            answer.Write(isLines ? "}\n"u8 : ""u8);
            await answer.SendWhenDueAsync(walk.Pause);
        }

        answer.Write(isLines ? ""u8 : "]}"u8);
        await answer.SendAsync();
    }

    private string Opening(Database database, IdQuery query, bool isLines)
    {
        using var counting = new QueryWalk(database, query);
        string statistics = string.Create(
            CultureInfo.InvariantCulture,
            $"\"ResultEtag\":{counting.Reader.ReadStatistics().LastEtag},\"IsStale\":false,\"IndexName\":\"{JsonEncodedText.Encode(RunQuery.IndexName(query))}\",\"TotalResults\":{counting.CountTotal()},\"IndexTimestamp\":\"{DocumentJson.Date(context.Time.GetUtcNow().UtcTicks)}\"");
        return isLines ? $"{{\"Stats\":{{{statistics}}}}}\n" : $"{{{statistics},\"Results\":[";
    }
}
