using System.Globalization;
using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Revisions;
using Rookery.Json;
using Rookery.Queries.Answering;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven.Revisions;

/// <summary>
/// Reads revisions: of a document, newest first, by change vector, by time, and of deleted documents.
/// </summary>
internal sealed class GetRevisions(ServerContext context)
{
    private const int MaxChangeVectors = 1024;

    private static readonly string[] OfDocument = ["id", "before", "start", "pageSize"];
    private static readonly string[] OfList = ["start", "pageSize"];

    /// <summary>GET revisions.</summary>
    public async Task HandleAsync(HttpContext http, Database database)
    {
        var changeVectors = ReadChangeVectors(http);
        var parameters = new QueryParameters(http);
        if (changeVectors.Count > 0)
        {
            RefuseTogether(http, OfDocument, "changeVector");
            await AnswerByChangeVectorsAsync(http, database, changeVectors);
            return;
        }

        byte[] id = DocumentIdParameter.Check(parameters.RequiredText("id"));
        if (parameters.Text("before") is { Length: > 0 } before)
        {
            RefuseTogether(http, OfList, nameof(before));
            await AnswerBeforeAsync(http, database, id, ReadTicks("before", before));
        }
        else
        {
            await AnswerListAsync(http, database, id);
        }
    }

    /// <summary>GET revisions/count.</summary>
    public static async Task CountAsync(HttpContext http, Database database)
    {
        byte[] id = DocumentIdParameter.Check(new QueryParameters(http).RequiredText("id"));
        long count;
        using (var reader = database.OpenReader())
        {
            using var revisions = new RevisionReader(reader);
            revisions.TrySelect(id);
            count = revisions.Count;
        }

        await JsonResponse.SendAsync(http, json => json.WriteNumber("RevisionsCount"u8, count));
    }

    /// <summary>Reads a time as clients write it.</summary>
    /// <exception cref="RefusedException">The text is no time (400).</exception>
    public static long ReadTicks(string name, string text) =>
        WireDate.TryParse(Encoding.UTF8.GetBytes(text), out long ticks)
            ? ticks
            : throw RefusedException.BadRequest(
                $"'{name}' must be a time such as 2026-11-21T09:49:45.2120000Z, not '{text}'."
            );

    /// <summary>
    /// Returns the etag in a change vector of the database's present history; 0 for any other text, which is the change
    /// vector of no revision.
    /// </summary>
    public static long EtagOf(Database database, string changeVector)
    {
        string text = changeVector.Trim('"');
        int dash = text.IndexOf('-', StringComparison.Ordinal);
        return
            text.StartsWith("A:", StringComparison.Ordinal)
            && dash > 2
            && text.AsSpan(dash + 1).SequenceEqual(database.HistoryId)
            && long.TryParse(text.AsSpan(2, dash - 2), NumberStyles.None, CultureInfo.InvariantCulture, out long etag)
            ? etag
            : 0;
    }

    private async Task AnswerListAsync(HttpContext http, Database database, byte[] id)
    {
        long start = new QueryParameters(http).Number("start", defaultValue: 0);
        long left = new QueryParameters(http).Number("pageSize", defaultValue: 25);
        bool metadataOnly = new QueryParameters(http).Flag("metadataOnly");
        var slices = new RequestTimeSlices(context, http);
        using var answer = new DocumentResponse(http, context.LargeRequests);
        using (var reader = new AnswerReader(database, answer))
        {
            using var revisions = new RevisionReader(reader.Current, slices.CheckCancelled);
            bool isFound = revisions.TrySelect(id);
            long total = revisions.Count;
            answer.Write("{\"Results\":["u8);
            if (isFound)
            {
                revisions.Skip(start);
                bool isFirst = true;
                while (left-- > 0 && revisions.MoveNext())
                {
                    await WriteAsync(answer, reader, revisions, metadataOnly, isFirst, slices);
                    isFirst = false;
                }
            }

            answer.Write(Encoding.ASCII.GetBytes(FormattableString.Invariant($"],\"TotalResults\":{total}}}")));
        }

        await answer.SendAsync();
    }

    private async Task AnswerBeforeAsync(HttpContext http, Database database, byte[] id, long ticks)
    {
        bool metadataOnly = new QueryParameters(http).Flag("metadataOnly");
        var slices = new RequestTimeSlices(context, http);
        using var answer = new DocumentResponse(http, context.LargeRequests);
        using (var reader = new AnswerReader(database, answer))
        {
            using var revisions = new RevisionReader(reader.Current, slices.CheckCancelled);
            answer.Write("{\"Results\":["u8);
            if (revisions.TrySelect(id) && revisions.TryFindAt(ticks))
            {
                await WriteAsync(answer, reader, revisions, metadataOnly, isFirst: true, slices);
            }
            else
            {
                answer.Write("null"u8);
            }

            answer.Write("]}"u8);
        }

        await answer.SendAsync();
    }

    private async Task AnswerByChangeVectorsAsync(HttpContext http, Database database, List<string> changeVectors)
    {
        bool metadataOnly = new QueryParameters(http).Flag("metadataOnly");
        var slices = new RequestTimeSlices(context, http);
        bool isFound = false;
        using var answer = new DocumentResponse(http, context.LargeRequests);
        using (var reader = new AnswerReader(database, answer))
        {
            using var revisions = new RevisionReader(reader.Current, slices.CheckCancelled);
            answer.Write("{\"Results\":["u8);
            for (int i = 0; i < changeVectors.Count; i++)
            {
                long etag = EtagOf(database, changeVectors[i]);
                if (etag != 0 && revisions.TryFind(etag))
                {
                    isFound = true;
                    await WriteAsync(answer, reader, revisions, metadataOnly, isFirst: i == 0, slices);
                }
                else
                {
                    answer.Write(i == 0 ? "null"u8 : ",null"u8);
                }
            }

            answer.Write("]}"u8);
        }

        if (!isFound && changeVectors.Count == 1)
        {
            await EmptyResponse.AnswerNotFound(http);
            return;
        }

        await answer.SendAsync();
    }

    /// <summary>Writes the current revision, after memory for it is reserved.</summary>
    internal static async Task WriteAsync(
        DocumentResponse answer,
        AnswerReader reader,
        RevisionReader revisions,
        bool metadataOnly,
        bool isFirst,
        RequestTimeSlices slices
    )
    {
        long neededBytes = RevisionReader.Copies * revisions.Length;
        while (!answer.TryReserve(neededBytes))
        {
            // A request that waits for memory holds no revision. No block of the snapshot is held either.
            revisions.Pause();
            reader.Pause();
            await answer.WaitForMemoryAsync(neededBytes);
            _ = reader.Current;
            revisions.Resume();
        }

        await slices.YieldWhenDueAsync(); // with the memory reserved
        _ = reader.Current;
        answer.Write(isFirst ? ""u8 : ","u8);
        revisions.Write(answer.Buffer, metadataOnly, Encoding.ASCII.GetBytes(reader.Database.HistoryId));
        await answer.SendWhenDueAsync(reader.Pause);
    }

    private static void RefuseTogether(HttpContext http, string[] names, string with)
    {
        foreach (string name in names)
        {
            if (new QueryParameters(http).TryGetEscaped(name, out _))
            {
                throw RefusedException.BadRequest(
                    $"The parameter '{name}' of GET revisions has no meaning together with '{with}'. Send one of the "
                        + "two."
                );
            }
        }
    }

    private static List<string> ReadChangeVectors(HttpContext http)
    {
        var changeVectors = new List<string>();
        foreach (var parameter in new QueryParameters(http))
        {
            if (!parameter.Is("changeVector"))
            {
                continue;
            }

            if (changeVectors.Count == MaxChangeVectors)
            {
                throw RefusedException.BadRequest(
                    $"GET revisions reads at most {MaxChangeVectors} change vectors at once. Send several requests."
                );
            }

            changeVectors.Add(parameter.Text());
        }

        return changeVectors;
    }
}
