using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven.Streams;

/// <summary>GET streams/docs: all documents with an id prefix, sent as fast as the client reads.</summary>
internal sealed class StreamDocuments(ServerContext context)
{
    public async Task HandleAsync(HttpContext http, Database database)
    {
        var format = StreamFormats.Read(http);
        bool isLines = format == StreamFormat.JsonLines;
        string type = isLines ? StreamFormats.JsonLinesType : StreamFormats.JsonType;
        var slices = new RequestTimeSlices(context, http);
        using var answer = new DocumentResponse(http, context.LargeRequests, type);
        answer.Write(isLines ? ""u8 : "{\"Results\":["u8);
        using (var walk = PrefixWalk.Open(http, database, answer, slices))
        {
            await WriteAsync(answer, walk, database, isLines, slices);
        }

        // The snapshot is disposed before this, so that a slow client does not hold it while it reads the last part.
        answer.Write(isLines ? ""u8 : "]}"u8);
        await answer.SendAsync();
    }

    private static async Task WriteAsync(
        DocumentResponse answer,
        PrefixWalk walk,
        Database database,
        bool isLines,
        RequestTimeSlices slices
    )
    {
        bool isFirst = true;
        while (await walk.MoveNextAsync())
        {
            await slices.YieldWhenDueAsync();
            if (!await answer.TryReserveAsync(walk.Length, walk.StepBack))
            {
                continue;
            }

            answer.Write(isLines || isFirst ? ""u8 : ","u8);
            isFirst = false;
            walk.Write(answer.Buffer, database);
            answer.Write(isLines ? "\n"u8 : ""u8);
            await answer.SendWhenDueAsync(walk.Pause);
        }
    }
}
