using System.Globalization;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Documents.Databases;
using Rookery.Queries.Answering;
using Rookery.Server.Access;
using Rookery.Server.Raven;

namespace Rookery.Server.Transfer;

/// <summary>
/// GET /databases/{database}/export: all documents of one snapshot, one on each line. A header has their number, so
/// that the client can check that it received all of them. Documents that have expired are absent, and not counted.
/// </summary>
internal static class ExportRoute
{
    private const string ContentType = "application/x-ndjson; charset=utf-8";

    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes
            .MapGet(
                "/databases/{database}/export",
                RavenRoute.OnDatabaseRead(context, (http, database) => AnswerAsync(http, database, context))
            )
            .For(RouteScope.Read)
            .Taking(RavenParameters.Read);

    private static async Task AnswerAsync(HttpContext http, Database database, ServerContext context)
    {
        using var answer = new DocumentResponse(http, context.LargeRequests, ContentType);
        using (var reader = new AnswerReader(database, answer))
        {
            var statistics = reader.Current.ReadStatistics();
            var slices = new RequestTimeSlices(context, http);
            Announce(ExportHeaders.Count, await CountAsync(reader, slices));
            Announce(ExportHeaders.LeftOutCounters, statistics.DocumentCounters);
            Announce(ExportHeaders.LeftOutAttachments, statistics.Attachments.Attachments);
            Announce(ExportHeaders.LeftOutRevisions, statistics.Revisions);
            Announce(ExportHeaders.LeftOutCompareExchange, reader.Current.CountCompareExchangeOfUsers());
            Announce(ExportHeaders.LeftOutIdentities, statistics.Identities);
            Announce(ExportHeaders.LeftOutIndexes, ExportHeaders.CountDefinedIndexes(reader.Current));
            await WriteAsync(answer, reader, slices);
        }

        // The snapshot is disposed before this, so that a slow client does not hold it while it reads the last part.
        await answer.SendAsync();

        void Announce(string header, long count) =>
            http.Response.Headers[header] = count.ToString(CultureInfo.InvariantCulture);
    }

    private static async Task<long> CountAsync(AnswerReader reader, RequestTimeSlices slices)
    {
        using var present = new PresentCount(collection: null);
        while (!present.Continue(reader.Current, () => slices.IsSliceOver))
        {
            await slices.YieldAsync();
        }

        return present.Value;
    }

    private static async Task WriteAsync(DocumentResponse answer, AnswerReader reader, RequestTimeSlices slices)
    {
        using var export = new NdjsonExport(reader.Current);
        while (export.MoveNext(out bool isPresent))
        {
            await slices.YieldWhenDueAsync();
            if (isPresent && await answer.TryReserveAsync(export.Length, StepBack))
            {
                export.Write(answer.Buffer);
                await answer.SendWhenDueAsync(Pause);
            }
        }

        void StepBack()
        {
            export.StepBack();
            reader.Pause();
        }

        void Pause()
        {
            export.Pause();
            reader.Pause();
        }
    }
}
