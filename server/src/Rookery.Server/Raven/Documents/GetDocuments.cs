using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Nodes;
using Rookery.Queries.Answering;
using Rookery.Server.Raven.CompareExchange;
using Rookery.Server.Raven.Counters;
using Rookery.Server.Raven.Revisions;

namespace Rookery.Server.Raven.Documents;

/// <summary>GET and POST docs: documents by id, with includes.</summary>
internal sealed class GetDocuments(ServerContext context)
{
    // A longer answer is sent in parts and without an ETag, instead of being collected in memory.
    private const int WholeAnswerBytes = 4 << 20;

    private static readonly string[] ListParameters =
    [
        "startsWith",
        "matches",
        "exclude",
        "startAfter",
        "start",
        "pageSize",
    ];

    /// <summary>GET docs: documents by id, or a list. One id without other parameters is the hot path.</summary>
    public Task GetAsync(HttpContext http, Database database)
    {
        ReadOnlySpan<char> id = default;
        int ids = 0;
        bool isPlain = true;
        foreach (var parameter in new QueryParameters(http))
        {
            if (parameter.Is("id"))
            {
                id = parameter.Escaped;
                ids++;
            }
            else
            {
                isPlain = false;
            }
        }

        if (ids == 1 && isPlain)
        {
            return AnswerOneAsync(http, database, id);
        }

        if (ids > 0)
        {
            RefuseListParameters(http);
            return AnswerAsync(http, database, ReadIds(http), lease: null);
        }

        CheckTransactionMode(http);
        return !HasIncludes(http)
            ? ListDocuments.AnswerAsync(http, database, context)
            : throw RefusedException.NotSupported(
                "The parameters 'include', 'cmpxchg', 'counter', 'revisions' and 'revisionsBefore' of GET docs are "
                    + "supported by this version only together with 'id'."
            );
    }

    /// <summary>POST docs: the ids are in the body, for lists that are too long for a URL.</summary>
    public async Task PostAsync(HttpContext http, Database database)
    {
        List<string> ids;
        LargeRequests.Lease? lease;
        using (
            var body = await RequestBody.ReadAsync(
                http,
                context.Options.QueryBytesLimit,
                context.LargeRequests,
                BodyUse.Objects
            )
        )
        {
            ids = ReadIds(body.Span);
            lease = body.Lease;
        }

        await AnswerAsync(http, database, ids, lease);
    }

    private Task AnswerOneAsync(HttpContext http, Database database, ReadOnlySpan<char> escapedId)
    {
        if (escapedId.IsEmpty)
        {
            return EmptyResponse.AnswerNotFound(http);
        }

        Span<byte> buffer = stackalloc byte[DocumentId.MaxBytes];
        var id = buffer[..DocumentIdParameter.Read(escapedId, buffer)];
        var response = ResponseBuffer.Rent();
        var written = WriteOne(http, response, database, id, LargeRequests.BytesWithoutLease, out long neededBytes);
        if (written == OneWritten.Whole)
        {
            return response.SendAndDisposeAsync(http);
        }

        response.Dispose();
        return written == OneWritten.Nothing
            ? Task.CompletedTask
            : AnswerLargeAsync(http, database, id.ToArray(), neededBytes);
    }

    /// <summary>
    /// Answers with a document that needs more memory than the request has. Reads the document again after the wait,
    /// because it may have grown or been deleted.
    /// </summary>
    private async Task AnswerLargeAsync(HttpContext http, Database database, byte[] id, long neededBytes)
    {
        OneWritten written;
        do
        {
            using var lease = context.LargeRequests.Begin(http);
            long bytes = lease.OuterBytes + neededBytes;
            if (!lease.TryGrow(bytes))
            {
                // Release the memory of a multi_get before waiting for more, so that no two wait for each other.
                lease.ReleaseAll();
                await lease.GrowToReadAsync(bytes);
            }

            using var answer = ResponseBuffer.Rent();
            written = WriteOne(http, answer, database, id, neededBytes, out neededBytes);
            if (written == OneWritten.Whole)
            {
                await answer.SendAsync(http);
            }
        } while (written == OneWritten.NoRoom);
    }

    private enum OneWritten
    {
        /// <summary>No body was written: the status is 304 or 404.</summary>
        Nothing,

        /// <summary>The whole answer is in the buffer.</summary>
        Whole,

        /// <summary>The document needs more memory than the request has.</summary>
        NoRoom,
    }

    /// <summary>Writes the answer with one document.</summary>
    private static OneWritten WriteOne(
        HttpContext http,
        ResponseBuffer answer,
        Database database,
        ReadOnlySpan<byte> id,
        long roomBytes,
        out long neededBytes
    )
    {
        neededBytes = 0;
        using var reader = database.OpenReader();
        if (!reader.TryGetDocument(id, out var document))
        {
            EmptyResponse.Set(http, StatusCodes.Status404NotFound);
            return OneWritten.Nothing;
        }

        using (document)
        {
            if (EntityTag.TryAnswerNotModified(http, EntityTag.Of(database, document.Etag)))
            {
                return OneWritten.Nothing;
            }

            neededBytes = document.Length;
            if (neededBytes > roomBytes)
            {
                // Remove the ETag: the next attempt may answer with another version.
                http.Response.Headers.ETag = default;
                return OneWritten.NoRoom;
            }

            WriteOne(answer, document, database);
            return OneWritten.Whole;
        }
    }

    /// <summary>Writes the body of the answer with one document.</summary>
    internal static void WriteOne(ResponseBuffer answer, in Document document, Database database)
    {
        answer.Write("{\"Results\":["u8);
        DocumentJson.Write(answer, document, database);
        answer.Write("],\"Includes\":{}}"u8);
    }

    /// <summary>Answers with documents and what they include.</summary>
    /// <param name="http">The request.</param>
    /// <param name="database">The database.</param>
    /// <param name="ids">The ids of the documents.</param>
    /// <param name="lease">The memory that the ids hold; null for none.</param>
    private async Task AnswerAsync(HttpContext http, Database database, List<string> ids, LargeRequests.Lease? lease)
    {
        CheckTransactionMode(http);
        if (HasCompareExchange(http) && !GetCompareExchange.IsLocal(http))
        {
            await CompareExchangeExpiry.EndDueValuesAsync(database, context.Node.Consensus);
        }

        using var answer = new DocumentResponse(http, context.LargeRequests, lease: lease);
        var tag = new EntityTag(database);
        bool isFound;
        using (var reader = new AnswerReader(database, answer))
        {
            (isFound, tag) = await WriteAsync(http, answer, reader, ids, tag);
        }

        // Dispose the snapshot first, so that a slow client does not hold it while it reads the last part.
        if (!isFound)
        {
            await EmptyResponse.AnswerNotFound(http);
        }
        else if (answer.HasStarted || !EntityTag.TryAnswerNotModified(http, tag.ToString()))
        {
            await answer.SendAsync();
        }
    }

    /// <summary>Writes the requested documents and the documents that they include.</summary>
    /// <returns>False if a single id was requested and no such document exists.</returns>
    private async Task<(bool IsFound, EntityTag Tag)> WriteAsync(
        HttpContext http,
        DocumentResponse answer,
        AnswerReader reader,
        List<string> ids,
        EntityTag tag
    )
    {
        var slices = new RequestTimeSlices(context, http);
        using var includes = new IncludePaths(ReadPaths(http), context.QueryMemory, slices.CheckCancelled);
        using var values = new IncludePaths(ReadPaths(http, "cmpxchg"), context.QueryMemory, slices.CheckCancelled);
        using var revisions = new IncludePaths(
            ReadPaths(http, "revisions"),
            context.QueryMemory,
            slices.CheckCancelled
        );
        long? revisionsBefore = RevisionIncludes.ReadTicks(http);
        bool metadataOnly = new QueryParameters(http).Flag("metadataOnly");
        answer.Write("{\"Results\":["u8);
        int foundCount = 0;
        for (int i = 0; i < ids.Count; i++)
        {
            await slices.YieldWhenDueAsync();
            answer.Write(i == 0 ? ""u8 : ","u8);
            bool isFound;
            while (
                !TryWrite(
                    answer,
                    reader.Current,
                    reader.Database,
                    ids[i],
                    metadataOnly,
                    ref tag,
                    includes,
                    values,
                    revisions,
                    out isFound,
                    out long neededBytes
                )
            )
            {
                reader.Pause();
                await answer.WaitForMemoryAsync(neededBytes);
            }

            foundCount += isFound ? 1 : 0;
            await answer.SendIfLongerAsync(WholeAnswerBytes, reader.Pause);
        }

        if (foundCount == 0 && ids.Count == 1)
        {
            return (false, tag);
        }

        includes.Exclude(ids);
        answer.Write("],\"Includes\":{"u8);
        bool isFirst = true;
        foreach (string id in includes.Ids)
        {
            await slices.YieldWhenDueAsync();
            while (
                !IncludedDocuments.TryWrite(
                    answer,
                    reader.Current,
                    reader.Database,
                    id,
                    ref isFirst,
                    ref tag,
                    out long neededBytes
                )
            )
            {
                reader.Pause();
                await answer.WaitForMemoryAsync(neededBytes);
            }

            await answer.SendIfLongerAsync(WholeAnswerBytes, reader.Pause);
        }

        answer.Write("}"u8);
        if (HasCounters(http))
        {
            tag = await CounterIncludes.WriteAsync(answer, reader, ids, CounterIncludes.ReadNames(http), slices, tag);
        }

        if (!values.IsEmpty)
        {
            tag = await CompareExchangeIncludes.WriteAsync(answer, reader, values.Ids, slices, tag);
        }

        if (!revisions.IsEmpty || revisionsBefore is not null)
        {
            // The revisions may change while the documents do not.
            tag.Add(reader.Current.Sequence);
            await RevisionIncludes.WriteAsync(
                answer,
                reader.Database,
                () => reader.Current,
                reader.Pause,
                revisions.Ids,
                revisionsBefore is null ? [] : ids,
                revisionsBefore is { } before ? [before] : [],
                slices
            );
        }

        answer.Write("}"u8);
        return (true, tag);
    }

    /// <summary>
    /// Writes a document, or null if it does not exist. As in RavenDB, no document has an empty id, which clients send
    /// for references that are not set.
    /// </summary>
    /// <returns>False if the document needs more room than the answer has.</returns>
    private static bool TryWrite(
        DocumentResponse answer,
        in DatabaseReader reader,
        Database database,
        string id,
        bool metadataOnly,
        ref EntityTag tag,
        IncludePaths includes,
        IncludePaths values,
        IncludePaths revisions,
        out bool isFound,
        out long neededBytes
    )
    {
        neededBytes = 0;
        Document document = default;
        isFound = id.Length > 0 && reader.TryGetDocument(DocumentIdParameter.Check(id), out document);
        if (!isFound)
        {
            tag.Add(0);
            answer.Write("null"u8);
            return true;
        }

        using (document)
        {
            neededBytes =
                includes.BytesFor(document.Length)
                + (values.IsEmpty ? 0 : values.BytesFor(document.Length))
                + (revisions.IsEmpty ? 0 : revisions.BytesFor(document.Length));
            if (!answer.TryReserve(neededBytes))
            {
                return false;
            }

            tag.Add(document.Etag);
            if (!includes.IsEmpty)
            {
                includes.Collect(document.View);
            }

            if (!values.IsEmpty)
            {
                values.Collect(document.View);
            }

            if (!revisions.IsEmpty)
            {
                revisions.Collect(document.View);
            }

            DocumentJson.Write(answer.Buffer, document, database, metadataOnly);
            return true;
        }
    }

    // Paging parameters apply to a list, not to documents requested by id.
    private static void RefuseListParameters(HttpContext http)
    {
        var parameters = new QueryParameters(http);
        foreach (string name in ListParameters)
        {
            if (parameters.TryGetEscaped(name, out _))
            {
                throw RefusedException.BadRequest(
                    $"The parameter '{name}' of GET docs has no meaning together with 'id'. Send one of the two."
                );
            }
        }
    }

    private static List<string> ReadIds(HttpContext http)
    {
        var ids = new List<string>();
        foreach (var parameter in new QueryParameters(http))
        {
            if (parameter.Is("id"))
            {
                ids.Add(parameter.Text());
            }
        }

        return ids;
    }

    private static List<string> ReadIds(ReadOnlySpan<byte> body) =>
        JsonBody.Read(
            body,
            static (ref Utf8JsonReader json) =>
            {
                List<string>? ids = null;
                string? unknown = null;
                JsonBody.ForEachMember(
                    ref json,
                    (string name, ref Utf8JsonReader value) =>
                    {
                        if (name is "Ids")
                        {
                            ids = JsonBody.ReadTexts(ref value, "Ids", nullText: "");
                        }
                        else
                        {
                            unknown ??= value.TokenType == JsonTokenType.Null ? null : name;
                            value.Skip();
                        }
                    }
                );
                if (ids is null)
                {
                    throw RefusedException.BadRequest(
                        "The body must be {\"Ids\":[…]}: POST docs reads documents. PUT docs?id=… stores one."
                    );
                }

                if (unknown is null)
                {
                    return ids;
                }

                throw JsonBody.NotSupported(unknown, "the body of POST docs", "Ids");
            }
        );

    // Cluster-wide sessions send their mode with each load. Reads are the same in both modes.
    private static void CheckTransactionMode(HttpContext http)
    {
        if (new QueryParameters(http).Text("txMode") is not (null or "" or "ClusterWide" or "SingleNode"))
        {
            throw RefusedException.BadRequest("The parameter 'txMode' must be ClusterWide or SingleNode.");
        }
    }

    private static bool HasIncludes(HttpContext http) =>
        ReadPaths(http).Count > 0
        || HasCompareExchange(http)
        || HasCounters(http)
        || ReadPaths(http, "revisions").Count > 0
        || RevisionIncludes.ReadTicks(http) is not null;

    private static bool HasCounters(HttpContext http) => ReadPaths(http, "counter").Count > 0;

    private static bool HasCompareExchange(HttpContext http) => ReadPaths(http, "cmpxchg").Count > 0;

    private static List<string> ReadPaths(HttpContext http, string name = "include")
    {
        var paths = new List<string>();
        foreach (var parameter in new QueryParameters(http))
        {
            if (parameter.Is(name))
            {
                paths.Add(parameter.Text());
            }
        }

        return paths;
    }
}
