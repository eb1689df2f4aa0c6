using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;

namespace Rookery.Server.Raven.Documents;

/// <summary>GET docs without ids: the documents whose ids have a prefix, or all documents, newest first.</summary>
internal static class ListDocuments
{
    public static async Task AnswerAsync(HttpContext http, Database database, ServerContext context)
    {
        bool metadataOnly = new QueryParameters(http).Flag("metadataOnly");
        var slices = new RequestTimeSlices(context, http);
        using var answer = new DocumentResponse(http, context.LargeRequests);
        answer.Write("{\"Results\":["u8);
        using (var walk = PrefixWalk.Open(http, database, answer, slices))
        {
            await WriteAsync(answer, walk, database, metadataOnly, slices);
        }

        // The snapshot is disposed before this, so that a slow client does not hold it while it reads the last part.
        answer.Write("],\"Includes\":{}}"u8);
        await answer.SendAsync();
    }

    private static async Task WriteAsync(
        DocumentResponse answer,
        PrefixWalk walk,
        Database database,
        bool metadataOnly,
        RequestTimeSlices slices
    )
    {
        bool isFirst = true;
        while (await walk.MoveNextAsync())
        {
            await slices.YieldWhenDueAsync();
            if (!metadataOnly && !await answer.TryReserveAsync(walk.Length, walk.StepBack))
            {
                continue;
            }

            answer.Write(isFirst ? ""u8 : ","u8);
            isFirst = false;
            walk.Write(answer.Buffer, database, metadataOnly);
            await answer.SendWhenDueAsync(walk.Pause);
        }
    }
}
