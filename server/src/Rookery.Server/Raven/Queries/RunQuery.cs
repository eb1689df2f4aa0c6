using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven.Queries;

/// <summary>POST queries: those that need no index. They are never stale.</summary>
internal sealed class RunQuery(ServerContext context)
{
    public async Task HandleAsync(HttpContext http, Database database)
    {
        long begun = context.Time.GetTimestamp();
        bool metadataOnly = new QueryParameters(http).Flag("metadataOnly");
        if (new QueryParameters(http).Text("debug") is { Length: > 0 } debug)
        {
            throw RefusedException.NotSupported($"debug={debug} of queries is not supported by this version.");
        }

        QueryRequest request;
        string tag;
        using (var body = await RequestBody.ReadAsync(http, context.Options.QueryBytesLimit, context.LargeRequests, BodyUse.Objects))
        {
            request = QueryRequest.Read(body.Span);
            tag = TagOf(database, body.Span);
        }

        if (!EntityTag.Set(http, tag))
        {
            await AnswerAsync(http, database, request, metadataOnly, begun);
        }
    }

    private async Task AnswerAsync(HttpContext http, Database database, QueryRequest request, bool metadataOnly, long begun)
    {
        using var walk = new QueryWalk(database, request.Query);
        using var answer = new DocumentAnswer(http, context.LargeRequests);
        var includes = new IncludePaths(request.Query.Includes);
        answer.Write("{\"Results\":["u8);
        bool isFirst = true;
        while (walk.MoveNext())
        {
            if (!await answer.HasRoomAsync(includes.BytesFor(walk.Length), walk.StepBack))
            {
                continue;
            }

            answer.Write(isFirst ? ""u8 : ","u8);
            isFirst = false;
            walk.Write(answer.Buffer, database, metadataOnly);
            if (!includes.IsEmpty)
            {
                includes.Collect(walk.View);
            }

            await answer.SendWhenDueAsync(walk.Pause);
        }

        long total = walk.CountTotal();
        answer.Write("],\"Includes\":{"u8);
        isFirst = true;
        var tag = new EntityTag(database);
        foreach (string id in includes.Ids)
        {
            while (!IncludedDocuments.TryWrite(answer, walk.Reader, database, id, ref isFirst, ref tag, out long neededBytes))
            {
                walk.Pause();
                await answer.WaitForRoomAsync(neededBytes);
            }

            await answer.SendWhenDueAsync(walk.Pause);
        }

        WriteStatistics(answer.Buffer, walk.Reader, request.Query, total, (long)context.Time.GetElapsedTime(begun).TotalMilliseconds);
        await answer.SendAsync();
    }

    /// <summary>The name RavenDB gives to a query without an index.</summary>
    public static string IndexName(IdQuery query) => query.Collection is { } collection ? "collection/" + collection : "AllDocs";

    private void WriteStatistics(AnswerBuffer answer, in DatabaseReader reader, IdQuery query, long total, long milliseconds)
    {
        string now = DocumentJson.Date(context.Time.GetUtcNow().UtcTicks);
        string includedPaths = query.Includes.Count == 0
            ? "null"
            : "[" + string.Join(',', query.Includes.Select(path => $"\"{JsonEncodedText.Encode(path)}\"")) + "]";
        string rest = string.Create(
            CultureInfo.InvariantCulture,
            $"}},\"TotalResults\":{total},\"LongTotalResults\":{total},\"SkippedResults\":0,\"DurationInMs\":{milliseconds},\"IndexName\":\"{JsonEncodedText.Encode(IndexName(query))}\",\"IndexTimestamp\":\"{now}\",\"LastQueryTime\":\"{now}\",\"IsStale\":false,\"ResultEtag\":{reader.ReadStatistics().LastEtag},\"NodeTag\":\"{context.Node.Consensus.NodeTag}\",\"IncludedPaths\":{includedPaths}}}");
        answer.Write(Encoding.UTF8.GetBytes(rest));
    }

    /// <summary>Nothing was applied to the database since, and the query is the same: so is the answer.</summary>
    private static string TagOf(Database database, ReadOnlySpan<byte> query)
    {
        using var reader = database.OpenReader();
        var tag = new EntityTag(database);
        tag.Add(reader.ReadStatistics().LastEtag);
        tag.Add(query);
        return tag.ToString();
    }
}
