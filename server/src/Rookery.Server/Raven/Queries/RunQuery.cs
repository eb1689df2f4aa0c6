using System.Buffers.Text;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Json;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.Indexes;

namespace Rookery.Server.Raven.Queries;

/// <summary>
/// POST queries. What an index answers says whether it is stale; what comes from the documents themselves never is.
/// </summary>
internal sealed class RunQuery(ServerContext context)
{
    private const int LongestNumber = 20;

    private readonly QueryBasisChooser _chooser = new(context);

    public async Task HandleAsync(HttpContext http, Database database)
    {
        long begun = context.Time.GetTimestamp();
        bool metadataOnly = new QueryParameters(http).Flag("metadataOnly");
        string debug = new QueryParameters(http).Text("debug") ?? "";
        if (debug is not ("" or "explain"))
        {
            throw RefusedException.NotSupported($"debug={debug} of queries is not supported by this version.");
        }

        using var received = await ReceivedQuery.ReadAsync(http, database, context);
        if (metadataOnly && received.Request.Plan is { HasMetadata: false })
        {
            throw RefusedException.NotSupported(
                "'metadataOnly' of a query whose results are no whole documents is not supported by this version: "
                    + "leave it out, or ask without 'select', 'group by' and a reduce."
            );
        }

        try
        {
            if (debug is "explain")
            {
                await ExplainAsync(http, database, received.Request);
            }
            else if (received.Tag is not { } tag || !EntityTag.Set(http, tag))
            {
                await AnswerAsync(
                    http,
                    database,
                    received,
                    metadataOnly,
                    new QueryTimings(context.Time, begun, received.Request.HasTimings)
                );
            }
        }
        catch (QueryException error)
        {
            throw QueryRefusal.Of(error, received.Request.Query.Text);
        }
        catch (IndexDamagedException damaged)
        {
            throw IndexCommand.Damaged(damaged);
        }
    }

    private Task ExplainAsync(HttpContext http, Database database, QueryRequest request)
    {
        var route = _chooser.Explain(database, request);
        long? postings = null;
        if (route is { IsBuilt: true, IndexName: { } name })
        {
            var turns = new QueryTurns(context.Time, request.WorkLimit, http, context.LongSearches, context.Stopping);
            using var search = turns.BeginSearch();
            using var groups = request.Plan!.IsGrouped
                ? new GroupedQueries(context.Indexes).TryAnswer(
                    database,
                    name,
                    request.Plan,
                    context.QueryMemory,
                    turns
                )
                : null;
            using var found = request.Plan.IsGrouped
                ? null
                : new IndexedQueries(context.Indexes).TryAnswer(
                    database,
                    name,
                    request.Plan,
                    context.QueryMemory,
                    turns
                );
            postings = groups?.PostingsRead ?? found?.PostingsRead;
        }

        return JsonAnswer.SendAsync(
            http,
            json =>
            {
                json.WriteString("IndexName"u8, route.IndexName ?? request.IndexName);
                json.WriteStartArray("Results"u8);
                foreach (var reason in route.Reasons)
                {
                    json.WriteStartObject();
                    json.WriteString("Index"u8, reason.Index);
                    json.WriteString("Reason"u8, reason.Text);
                    json.WriteBoolean("IsChosen"u8, reason.IsChosen);
                    json.WriteEndObject();
                }

                json.WriteEndArray();
                if (postings is { } read)
                {
                    json.WriteNumber("PostingsRead"u8, read);
                }
            }
        );
    }

    private async Task AnswerAsync(
        HttpContext http,
        Database database,
        ReceivedQuery received,
        bool metadataOnly,
        QueryTimings timings
    )
    {
        var request = received.Request;
        timings.End("Parser");
        using var answer = new DocumentAnswer(http, context.LargeRequests, room: received.Room);
        using (var reader = new AnswerReader(database, http))
        {
            (request, var basis, var opened) = await _chooser.OpenAsync(
                http,
                reader,
                request,
                answer,
                metadataOnly,
                () => timings.End("Index")
            );
            using var results = opened;
            if (basis.IsStale)
            {
                http.Response.Headers.ETag = default; // what it says depends on more than the documents
            }

            timings.End("Query");
            var notesTurns = request.Plan is { HasNotes: true }
                ? new QueryTurns(context.Time, request.WorkLimit, http, stopping: context.Stopping)
                : null;
            using var notes = notesTurns is null
                ? null
                : new QueryNotes(request.Plan!, database, () => reader.Current, context.QueryMemory, notesTurns);
            long total = await WriteAsync(http, answer, reader, request, results, notes, notesTurns, timings);
            WriteStatistics(answer.Buffer, request, basis, total, timings, notes);
        }

        // The moment is not held while a slow client takes the last part.
        await answer.SendAsync();
    }

    /// <summary>Writes the results and what they include.</summary>
    /// <returns>How many results there are, on the page or not.</returns>
    private async Task<long> WriteAsync(
        HttpContext http,
        DocumentAnswer answer,
        AnswerReader reader,
        QueryRequest request,
        IQueryResults results,
        QueryNotes? notes,
        QueryTurns? notesTurns,
        QueryTimings timings
    )
    {
        var turns = new WorkTurns(context, http);
        using var includes = new IncludePaths(request.Includes, context.QueryMemory, turns.Check);
        answer.Write("{\"Results\":["u8);
        bool isFirst = true;
        while (await results.MoveNextAsync())
        {
            await turns.TakeAsync();
            answer.Write(isFirst ? ""u8 : ","u8);
            isFirst = false;
            results.Write(answer.Buffer);
            if (notes is not null)
            {
                notesTurns!.Begin();
                results.Note(notes);
                notesTurns.End();
            }

            if (!includes.IsEmpty)
            {
                results.Collect(includes);
            }

            await SendWhenDueAsync(answer, results, timings);
        }

        long total = await results.CountAsync();
        answer.Write("],\"Includes\":{"u8);
        isFirst = true;
        var tag = new EntityTag(reader.Database);
        foreach (string id in includes.Ids)
        {
            await turns.TakeAsync();
            while (
                !IncludedDocuments.TryWrite(
                    answer,
                    results.Reader,
                    reader.Database,
                    id,
                    ref isFirst,
                    ref tag,
                    out long neededBytes
                )
            )
            {
                results.Pause();
                await answer.WaitForRoomAsync(neededBytes);
            }

            await SendWhenDueAsync(answer, results, timings);
        }

        timings.End("Results");
        return total;
    }

    private static async ValueTask SendWhenDueAsync(DocumentAnswer answer, IQueryResults results, QueryTimings timings)
    {
        if (answer.Buffer.IsPartDue)
        {
            timings.Pause();
            await answer.SendWhenDueAsync(results.Pause);
            timings.Resume();
        }
    }

    private void WriteStatistics(
        AnswerBuffer answer,
        QueryRequest request,
        QueryBasis basis,
        long total,
        QueryTimings timings,
        QueryNotes? notes
    )
    {
        long now = context.Time.GetUtcNow().UtcTicks;
        answer.Write("},\"TotalResults\":"u8);
        WriteNumber(answer, total);
        answer.Write(",\"LongTotalResults\":"u8);
        WriteNumber(answer, total);
        answer.Write(",\"SkippedResults\":0,\"DurationInMs\":"u8);
        WriteNumber(answer, timings.TotalMilliseconds);
        answer.Write(",\"IndexName\":\""u8);
        answer.Write(JsonEncodedText.Encode(basis.IndexName).EncodedUtf8Bytes);
        answer.Write("\",\"IndexTimestamp\":\""u8);
        WriteDate(answer, basis.Timestamp?.UtcTicks ?? now);
        answer.Write("\",\"LastQueryTime\":\""u8);
        WriteDate(answer, now);
        answer.Write(
            basis.IsStale ? "\",\"IsStale\":true,\"ResultEtag\":"u8 : "\",\"IsStale\":false,\"ResultEtag\":"u8
        );
        WriteNumber(answer, basis.ResultEtag);
        answer.Write(",\"NodeTag\":\""u8);
        answer.Write(Encoding.UTF8.GetBytes(context.Node.Consensus.NodeTag));
        answer.Write("\",\"IncludedPaths\":"u8);
        answer.Write(
            request.Includes.Count == 0
                ? "null"u8
                : Encoding.UTF8.GetBytes(
                    "["
                        + string.Join(
                            ',',
                            request.Includes.Select(static path => $"\"{JsonEncodedText.Encode(path)}\"")
                        )
                        + "]"
                )
        );
        answer.Write(request.HasTimings ? Encoding.UTF8.GetBytes(",\"Timings\":" + timings.ToJson()) : default);
        answer.Write(notes is null ? default : notes.ToJson());
        answer.Write("}"u8);
    }

    private static void WriteNumber(AnswerBuffer answer, long number)
    {
        Utf8Formatter.TryFormat(number, answer.GetSpan(LongestNumber), out int written);
        answer.Advance(written);
    }

    private static void WriteDate(AnswerBuffer answer, long utcTicks)
    {
        WireDate.Write(answer.GetSpan(WireDate.Length), utcTicks);
        answer.Advance(WireDate.Length);
    }
}
