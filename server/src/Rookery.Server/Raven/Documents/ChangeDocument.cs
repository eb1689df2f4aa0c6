using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;

namespace Rookery.Server.Raven.Documents;

/// <summary>
/// Handles PUT, DELETE and HEAD of one document. If the whole body of a PUT is already buffered, its command is
/// encoded from the buffer before anything is awaited, without a copy of the body.
/// </summary>
internal sealed class ChangeDocument(ServerContext context)
{
    // The number of digits of the longest etag.
    private const int MaxEtagDigits = 19;

    public Task PutAsync(HttpContext http, Database database)
    {
        var reading = RequestBody.ReadAsync(
            http,
            context.Options.DocumentBytesLimit,
            context.LargeRequests,
            BodyUse.Document
        );
        return reading.IsCompletedSuccessfully
            ? ProposePutAsync(http, database, EncodePut(http, database, reading.Result, out string id), id)
            : PutAfterReadAsync(reading, http, database);
    }

    public async Task DeleteAsync(HttpContext http, Database database)
    {
        var outcome = await HttpProposal.ProposeAsync(context, http, EncodeDelete(http, database));
        if (outcome.Rejection is { } rejection)
        {
            await RavenErrors.WriteAsync(http, rejection, clientMayRetry: RepeatableWrite.IsDelete(http));
            return;
        }

        // Reports since when the database stores idempotency keys.
        IdempotencyHeader.WriteHorizon(http, database);
        await EmptyResponse.AnswerNoContent(http);
    }

    /// <summary>Answers HEAD docs: 200 with the document's change vector as ETag, or 404.</summary>
    public static Task HeadAsync(HttpContext http, Database database)
    {
        if (!new QueryParameters(http).TryGetEscaped("id", out var escaped))
        {
            throw RefusedException.BadRequest("The parameter 'id' is missing in the query string.");
        }

        Span<byte> idBuffer = stackalloc byte[DocumentId.MaxBytes];
        var id = idBuffer[..DocumentIdParameter.Read(escaped, idBuffer)];
        using var reader = database.OpenReader();
        if (!reader.TryGetDocument(id, out var document))
        {
            EmptyResponse.Set(http, StatusCodes.Status404NotFound);
        }
        else if (!EntityTag.TryAnswerNotModified(http, EntityTag.Of(database, document.Etag)))
        {
            EmptyResponse.Set(http, StatusCodes.Status200OK);
        }

        document.Dispose();
        return Task.CompletedTask;
    }

    private async Task PutAfterReadAsync(ValueTask<RequestBody> reading, HttpContext http, Database database) =>
        await ProposePutAsync(http, database, EncodePut(http, database, await reading, out string id), id);

    private async Task ProposePutAsync(HttpContext http, Database database, CommandBuffer command, string id)
    {
        var outcome = await HttpProposal.ProposeAsync(context, http, command);
        if (outcome.Rejection is { } rejection)
        {
            await RavenErrors.WriteAsync(http, rejection, clientMayRetry: RepeatableWrite.IsPut(http, id));
            return;
        }

        // Reports since when the database stores idempotency keys.
        IdempotencyHeader.WriteHorizon(http, database);
        var stored = outcome[0]; // a PUT is a batch of one operation
        using var response = ResponseBuffer.Rent();
        WriteStored(response, stored.Id ?? id, stored.Etag, database);
        http.Response.StatusCode = StatusCodes.Status201Created;
        await response.SendAsync(http);
    }

    /// <summary>Writes the body of the response to a PUT.</summary>
    internal static void WriteStored(ResponseBuffer response, string id, long etag, Database database)
    {
        response.Write("{\"Id\":\""u8);
        WriteEscaped(response, id);
        response.Write("\",\"ChangeVector\":\"A:"u8); // A:<etag>-<history id>, as ChangeVector.Write
        WriteEtag(response, etag);
        response.Write("-"u8);
        WriteEscaped(response, database.HistoryId);
        response.Write("\"}"u8);
    }

    private static CommandBuffer EncodePut(
        HttpContext http,
        Database database,
        RequestBody body,
        out string requestedId
    )
    {
        using (body)
        {
            Span<byte> idBuffer = stackalloc byte[DocumentId.MaxBytes];
            new QueryParameters(http).TryGetEscaped("id", out var escaped); // without an id the server generates one
            var id = idBuffer[..DocumentIdParameter.ReadForStore(escaped, idBuffer)];
            Span<byte> expectedBuffer = stackalloc byte[ExpectedChangeVector.MaxBytes];
            var expected = IfMatch.Read(http, expectedBuffer);
            using var parser = DocumentParser.Rent();
            if (!parser.TryParse(body.Span, out var document, out var error))
            {
                throw RavenErrors.Refuse(error);
            }

            requestedId = Encoding.UTF8.GetString(id);
            return CommandEncoder.Put(database.Number, id, expected, document, IdempotencyHeader.Read(http));
        }
    }

    private static CommandBuffer EncodeDelete(HttpContext http, Database database)
    {
        if (!new QueryParameters(http).TryGetEscaped("id", out var escaped))
        {
            throw RefusedException.BadRequest("The parameter 'id' is missing in the query string.");
        }

        Span<byte> idBuffer = stackalloc byte[DocumentId.MaxBytes];
        var id = idBuffer[..DocumentIdParameter.Read(escaped, idBuffer)];
        Span<byte> expectedBuffer = stackalloc byte[ExpectedChangeVector.MaxBytes];
        var expected = IfMatch.Read(http, expectedBuffer);
        return CommandEncoder.Delete(database.Number, id, expected, IdempotencyHeader.Read(http));
    }

    private static void WriteEscaped(ResponseBuffer response, string text) =>
        response.Write(JsonEncodedText.Encode(text).EncodedUtf8Bytes);

    private static void WriteEtag(ResponseBuffer response, long etag)
    {
        etag.TryFormat(response.GetSpan(MaxEtagDigits), out int length, default, CultureInfo.InvariantCulture);
        response.Advance(length);
    }
}
