using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents;
using Rookery.Documents.Ids;

namespace Rookery.Server.Raven.Documents;

/// <summary>GET and POST docs: documents by id, with includes.</summary>
internal sealed class GetDocuments(ServerContext context)
{
    private const int IdsBytesLimit = 4 << 20;

    // Answers beyond this go out in parts and without an ETag, instead of piling up in memory.
    private const int WholeAnswerBytes = 4 << 20;

    // A slow client holds its answer: of documents from this size on, only as many as there is room for.
    private const int LargeBytes = 1 << 20;

    private static readonly string[] Unsupported = ["counter", "timeseries", "timeseriestime", "timeseriescount", "revisions", "revisionsBefore", "cmpxchg"];

    /// <summary>GET docs?id=…: hot when it names one id and includes nothing.</summary>
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
            return AnswerAsync(http, database, ReadIds(http));
        }

        return ReadIncludes(http).IsEmpty
            ? ListDocuments.AnswerAsync(http, database)
            : throw RefusedException.NotSupported("The parameter 'include' of GET docs is supported by this version beside 'id' only.");
    }

    /// <summary>POST docs: the ids are in the body, because they are too long for a URL.</summary>
    public async Task PostAsync(HttpContext http, Database database)
    {
        List<string> ids;
        using (var body = await RequestBody.ReadAsync(http, Math.Min(IdsBytesLimit, context.Options.BatchBytesLimit), context.Bodies))
        {
            ids = ReadIds(body.Span);
        }

        await AnswerAsync(http, database, ids);
    }

    private Task AnswerOneAsync(HttpContext http, Database database, ReadOnlySpan<char> escapedId)
    {
        Span<byte> id = stackalloc byte[DocumentId.MaxBytes];
        id = id[..DocumentIdParameter.Read(escapedId, id)];
        var answer = AnswerBuffer.Rent();
        if (TryWriteOne(http, answer, database, id, out var room))
        {
            return room is not null ? SendLargeAsync(http, answer, room) : answer.SendAndDisposeAsync(http);
        }

        answer.Dispose();
        return Task.CompletedTask;
    }

    private static async Task SendLargeAsync(HttpContext http, AnswerBuffer answer, BodyMemory.Lease room)
    {
        using (room)
        using (answer)
        {
            await answer.SendAsync(http);
        }
    }

    /// <summary>Writes the answer with one document, or sets the status of an answer without a body: 304 or 404.</summary>
    private bool TryWriteOne(HttpContext http, AnswerBuffer answer, Database database, ReadOnlySpan<byte> id, out BodyMemory.Lease? room)
    {
        room = null;
        using var reader = database.OpenReader();
        if (!reader.TryGetDocument(id, out var document))
        {
            Empty.Set(http, StatusCodes.Status404NotFound);
            return false;
        }

        using (document)
        {
            if (EntityTag.Set(http, EntityTag.Of(database, document.Etag)))
            {
                return false;
            }

            room = document.Length > LargeBytes ? context.Bodies.Take(http, document.Length) : null;
            try
            {
                answer.Write("{\"Results\":["u8);
                DocumentJson.Write(answer, document.View, document.Etag, database);
                answer.Write("],\"Includes\":{}}"u8);
                return true;
            }
            catch
            {
                room?.Dispose();
                throw;
            }
        }
    }

    private static async Task AnswerAsync(HttpContext http, Database database, List<string> ids)
    {
        var includes = ReadIncludes(http);
        bool metadataOnly = new QueryParameters(http).Flag("metadataOnly");
        using var reader = new PausableReader(database);
        using var answer = AnswerBuffer.Rent();
        var tag = new EntityTag(database);
        answer.Write("{\"Results\":["u8);
        int found = 0;
        for (int i = 0; i < ids.Count; i++)
        {
            answer.Write(i == 0 ? ""u8 : ","u8);
            found += Write(answer, reader.Current, database, ids[i], metadataOnly, ref tag, includes) ? 1 : 0;
            await SendWhenLargeAsync(http, answer, reader);
        }

        if (found == 0 && ids.Count == 1)
        {
            await Empty.NotFound(http);
            return;
        }

        includes.Exclude(ids);
        answer.Write("],\"Includes\":{"u8);
        await WriteIncludesAsync(http, answer, reader, database, includes, tag);
    }

    private static async Task WriteIncludesAsync(
        HttpContext http, AnswerBuffer answer, PausableReader reader, Database database, IncludePaths includes, EntityTag tag)
    {
        bool isFirst = true;
        foreach (string id in includes.Ids)
        {
            isFirst &= !IncludedDocuments.TryWrite(answer, reader.Current, database, id, isFirst, ref tag);
            await SendWhenLargeAsync(http, answer, reader);
        }

        answer.Write("}}"u8);
        if (http.Response.HasStarted || !EntityTag.Set(http, tag.ToString()))
        {
            await answer.SendAsync(http);
        }
    }

    private static bool Write(
        AnswerBuffer answer, in DatabaseReader reader, Database database, string id, bool metadataOnly, ref EntityTag tag, IncludePaths includes)
    {
        if (!reader.TryGetDocument(DocumentIdParameter.Check(id), out var document))
        {
            tag.Add(0);
            answer.Write("null"u8);
            return false;
        }

        using (document)
        {
            tag.Add(document.Etag);
            includes.Collect(document.View);
            DocumentJson.Write(answer, document.View, document.Etag, database, metadataOnly);
            return true;
        }
    }

    private static Task SendWhenLargeAsync(HttpContext http, AnswerBuffer answer, PausableReader reader) =>
        answer.Length > WholeAnswerBytes ? answer.SendPartAsync(http, reader.Pause) : Task.CompletedTask;

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
        JsonBody.Read(body, static (ref Utf8JsonReader json) =>
        {
            List<string>? ids = null;
            JsonBody.ForEachMember(ref json, (string name, ref Utf8JsonReader value) =>
            {
                if (name is "Ids")
                {
                    ids = JsonBody.ReadTexts(ref value, "Ids");
                }
                else
                {
                    value.Skip();
                }
            });
            return ids ?? throw RefusedException.BadRequest("The body must be {\"Ids\":[…]}: POST docs reads documents. PUT docs?id=… stores one.");
        });

    private static IncludePaths ReadIncludes(HttpContext http)
    {
        var paths = new List<string>();
        foreach (var parameter in new QueryParameters(http))
        {
            if (parameter.Is("include"))
            {
                paths.Add(parameter.Text());
            }

            foreach (string name in Unsupported)
            {
                if (parameter.Is(name))
                {
                    throw RefusedException.NotSupported($"The parameter '{name}' of GET docs is not supported by this version: only documents can be included.");
                }
            }
        }

        return new IncludePaths(paths);
    }
}
