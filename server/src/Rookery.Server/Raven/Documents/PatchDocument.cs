using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Json;
using Rookery.Server.Access;
using Rookery.Server.Raven.Batches;

namespace Rookery.Server.Raven.Documents;

/// <summary>
/// PATCH docs: a script in RavenDB's envelope or, by the content type, a merge patch (RFC 7396) or a JSON Patch (RFC
/// 6902). PATCH json-patch: a JSON Patch in RavenDB's envelope.
/// </summary>
internal sealed class PatchDocument(ServerContext context)
{
    private const string MergePatchType = "application/merge-patch+json";
    private const string JsonPatchType = "application/json-patch+json";

    private enum Form
    {
        Script,
        Merge,
        JsonPatch,
        JsonPatchEnvelope,
    }

    public Task HandleAsync(HttpContext http, Database database)
    {
        var parameters = new QueryParameters(http);
        if (parameters.Flag("test") || parameters.Flag("debug"))
        {
            throw RefusedException.NotSupported(
                "The parameters 'test' and 'debug' of PATCH docs are not supported by this version; the "
                    + "document was not changed."
            );
        }

        return PatchAsync(
            http,
            database,
            IsOfType(http, MergePatchType) ? Form.Merge
                : IsOfType(http, JsonPatchType) ? Form.JsonPatch
                : Form.Script
        );
    }

    public Task HandleJsonPatchAsync(HttpContext http, Database database) =>
        PatchAsync(http, database, Form.JsonPatchEnvelope);

    private async Task PatchAsync(HttpContext http, Database database, Form form)
    {
        bool mayRead = ReadRight.IsHeld(http, database);
        if (!mayRead && form != Form.Merge)
        {
            throw ReadRight.MissingForScript(
                http,
                database,
                $"A merge patch (Content-Type: {MergePatchType}) needs write only."
            );
        }

        ParsedBatch batch;
        LargeRequests.Lease? lease;
        using (
            var body = await RequestBody.ReadAsync(
                http,
                context.Options.DocumentBytesLimit,
                context.LargeRequests,
                BodyUse.Write
            )
        )
        {
            batch = Parse(http, database, body.Span, form, mayRead);
            lease = body.Lease;
        }

        await PatchRoom.TakeAsync(http, context, database, batch, lease);
        var outcome = await HttpProposal.ProposeAsync(context, http, batch.Command);
        if (outcome.Rejection is { } rejection)
        {
            await RavenErrors.WriteAsync(http, rejection);
            return;
        }

        IdempotencyHeader.WriteHorizon(http, database);
        var result = outcome[0];
        if (result.Status == OperationStatus.NotFound)
        {
            await EmptyResponse.AnswerNotFound(http);
            return;
        }

        await AnswerAsync(http, database, result, mayRead);
    }

    private static async Task AnswerAsync(HttpContext http, Database database, OperationResult result, bool mayRead)
    {
        using var answer = ResponseBuffer.Rent();
        using (var json = new Utf8JsonWriter(answer))
        {
            json.WriteStartObject();
            if (mayRead)
            {
                json.WriteString("Status"u8, PatchResult.StatusName(result.Status));
                PatchResult.WriteMembers(json, result, database);
            }
            else
            {
                // "NotModified" would reveal to a caller without the scope "read" that the document already had these
                // values. "Skipped" reveals no more than the conflict with which the patch would end if it did not
                // skip.
                json.WriteString(
                    "Status"u8,
                    PatchResult.StatusName(
                        result.Status == OperationStatus.Skipped ? OperationStatus.Skipped : OperationStatus.Patched
                    )
                );
            }

            json.WriteEndObject();
        }

        await answer.SendAsync(http);
    }

    private static bool IsOfType(HttpContext http, string type) =>
        http.Request.ContentType?.StartsWith(type, StringComparison.OrdinalIgnoreCase) == true;

    private ParsedBatch Parse(HttpContext http, Database database, ReadOnlySpan<byte> body, Form form, bool mayRead)
    {
        var parameters = new QueryParameters(http);
        if (!parameters.TryGetEscaped("id", out var escaped))
        {
            throw RefusedException.BadRequest("The parameter 'id' is missing in the query string.");
        }

        Span<byte> id = stackalloc byte[DocumentId.MaxBytes];
        id = id[..DocumentIdParameter.Read(escaped, id)];
        Span<byte> vector = stackalloc byte[ExpectedChangeVector.MaxBytes];
        var expected = IfMatch.Read(http, vector);
        var key = IdempotencyHeader.Read(http);
        bool skipOnMismatch = parameters.Flag("skipPatchIfChangeVectorMismatch");
        ParsedBatch batch;
        InputError error;
        bool isParsed = form switch
        {
            Form.Merge => BatchRequestParser.TryParseMergePatch(
                body,
                id,
                expected,
                skipOnMismatch,
                createIfMissing: false,
                mayRead,
                database.Number,
                key,
                out batch,
                out error
            ),
            _ => BatchRequestParser.TryParsePatch(
                body,
                id,
                expected,
                skipOnMismatch,
                database.Number,
                key,
                out batch,
                out error,
                context.Node.FormatLevel.Level,
                form switch
                {
                    Form.JsonPatch => PatchForm.JsonPatch,
                    Form.JsonPatchEnvelope => PatchForm.JsonPatchEnvelope,
                    _ => PatchForm.Script,
                }
            ),
        };
        return isParsed ? batch : throw RavenErrors.Refuse(error);
    }
}
