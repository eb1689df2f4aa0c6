using System.Globalization;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Revisions;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven.Revisions;

/// <summary>
/// GET revisions/bin: the revisions that stand for the deletions of documents, newest first. Documents that exist again
/// are not among them.
/// </summary>
internal sealed class GetDeletedDocuments(ServerContext context)
{
    private const int DefaultPageSize = 25;

    public async Task HandleAsync(HttpContext http, Database database)
    {
        var parameters = new QueryParameters(http);
        if (parameters.Number("etag", defaultValue: 0) != 0)
        {
            throw RefusedException.NotSupported(
                "The parameter 'etag' of revisions/bin must be 0, for all deletions. Page by 'start' and 'pageSize'."
            );
        }

        long toSkip = parameters.Number("start", defaultValue: 0);
        long left = ReadPageSize(http);
        var slices = new RequestTimeSlices(context, http);
        using var answer = new DocumentResponse(http, context.LargeRequests);
        using (var reader = new AnswerReader(database, answer))
        {
            using var revisions = new RevisionReader(reader.Current);
            answer.Write("{\"Results\":["u8);
            bool isFirst = true;
            long before = long.MaxValue;
            while (left > 0 && revisions.TryMoveToDeletion(ref before))
            {
                slices.CountRead();
                await slices.YieldWhenDueAsync();
                if (toSkip-- > 0)
                {
                    continue;
                }

                await GetRevisions.WriteAsync(answer, reader, revisions, metadataOnly: true, isFirst, slices);
                isFirst = false;
                left--;
            }

            answer.Write("]}"u8);
        }

        await answer.SendAsync();
    }

    // The Node client sends pageSize=undefined or pageSize=null if it was given no page size.
    private static long ReadPageSize(HttpContext http) =>
        new QueryParameters(http).Text("pageSize") switch
        {
            null or "" or "undefined" or "null" => DefaultPageSize,
            var text when long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long size) => size,
            var text => throw RefusedException.BadRequest(
                $"The parameter 'pageSize' must be a whole number from 0, not '{text}'."
            ),
        };
}
