using Microsoft.AspNetCore.Http;
using Rookery.Documents;

namespace Rookery.Server.Raven.Documents;

/// <summary>GET docs without ids: documents by the beginning of their ids, or all, newest first.</summary>
internal static class ListDocuments
{
    public static async Task AnswerAsync(HttpContext http, Database database)
    {
        bool metadataOnly = new QueryParameters(http).Flag("metadataOnly");
        using var walk = PrefixWalk.Open(http, database);
        using var answer = AnswerBuffer.Rent();
        answer.Write("{\"Results\":["u8);
        bool isFirst = true;
        while (walk.MoveNext())
        {
            answer.Write(isFirst ? ""u8 : ","u8);
            isFirst = false;
            DocumentJson.Write(answer, walk.View, walk.Etag, database, metadataOnly);
            if (answer.IsPartDue)
            {
                await answer.SendPartAsync(http, walk.Pause);
            }
        }

        answer.Write("],\"Includes\":{}}"u8);
        await answer.SendAsync(http);
    }
}
