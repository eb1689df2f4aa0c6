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
/// that the client can check that it received all of them.
/// </summary>
internal static class ExportRoute
{
    /// <summary>Header with the number of documents, which is the number of lines.</summary>
    public const string CountHeader = "Rookery-Documents";

    /// <summary>Header with the number of counters whose values are not in the export.</summary>
    public const string LeftOutCountersHeader = "Rookery-Left-Out-Counters";

    /// <summary>Header with the number of attachments whose contents are not in the export.</summary>
    public const string LeftOutAttachmentsHeader = "Rookery-Left-Out-Attachments";

    /// <summary>Header with the number of revisions, which the export leaves out.</summary>
    public const string LeftOutRevisionsHeader = "Rookery-Left-Out-Revisions";

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
            http.Response.Headers[CountHeader] = statistics.Documents.ToString(CultureInfo.InvariantCulture);
            http.Response.Headers[LeftOutCountersHeader] = statistics.DocumentCounters.ToString(
                CultureInfo.InvariantCulture
            );
            http.Response.Headers[LeftOutAttachmentsHeader] = statistics.Attachments.Attachments.ToString(
                CultureInfo.InvariantCulture
            );
            http.Response.Headers[LeftOutRevisionsHeader] = statistics.Revisions.ToString(CultureInfo.InvariantCulture);
            await WriteAsync(answer, reader, new RequestTimeSlices(context, http));
        }

        // The snapshot is disposed before this, so that a slow client does not hold it while it reads the last part.
        await answer.SendAsync();
    }

    private static async Task WriteAsync(DocumentResponse answer, AnswerReader reader, RequestTimeSlices slices)
    {
        using var export = new NdjsonExport(reader.Current);
        while (export.MoveNext())
        {
            await slices.YieldWhenDueAsync();
            if (await answer.TryReserveAsync(export.Length, StepBack))
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
