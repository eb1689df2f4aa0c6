using Microsoft.AspNetCore.Http;
using Rookery.Documents;

namespace Rookery.Server.Raven.Documents;

/// <summary>GET docs without ids: documents by the beginning of their ids, or all, newest first.</summary>
internal static class ListDocuments
{
    public static async Task AnswerAsync(HttpContext http, Database database, LargeRequests requests)
    {
        bool metadataOnly = new QueryParameters(http).Flag("metadataOnly");
        using var walk = PrefixWalk.Open(http, database);
        using var answer = new DocumentAnswer(http, requests);
        answer.Write("{\"Results\":["u8);
        bool isFirst = true;
        while (walk.MoveNext())
        {
            if (!metadataOnly && !await answer.HasRoomAsync(walk.Length, walk.StepBack))
            {
                continue;
            }

            answer.Write(isFirst ? ""u8 : ","u8);
            isFirst = false;
            walk.Write(answer.Buffer, database, metadataOnly);
            await answer.SendWhenDueAsync(walk.Pause);
        }

        answer.Write("],\"Includes\":{}}"u8);
        await answer.SendAsync();
    }
}
