using Microsoft.AspNetCore.Http;
using Rookery.Documents;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven.Streams;

/// <summary>GET streams/docs: documents by the beginning of their ids, of any number, at the client's pace.</summary>
internal static class StreamDocuments
{
    public static async Task HandleAsync(HttpContext http, Database database)
    {
        var format = StreamFormats.Read(http);
        bool isLines = format == StreamFormat.JsonLines;
        string type = isLines ? StreamFormats.JsonLinesType : StreamFormats.JsonType;
        using var walk = PrefixWalk.Open(http, database);
        using var answer = AnswerBuffer.Rent();
        answer.Write(isLines ? ""u8 : "{\"Results\":["u8);
        bool isFirst = true;
        while (walk.MoveNext())
        {
            answer.Write(isLines || isFirst ? ""u8 : ","u8);
            isFirst = false;
            DocumentJson.Write(answer, walk.View, walk.Etag, database);
            answer.Write(isLines ? "\n"u8 : ""u8);
            if (answer.IsPartDue)
            {
                await answer.SendPartAsync(http, walk.Pause, type);
            }
        }

        answer.Write(isLines ? ""u8 : "]}"u8);
        await answer.SendAsync(http, type);
    }
}
