using System.IO.Pipelines;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Server.Access;
using Rookery.Server.Raven.Batches;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven.Attachments;

/// <summary>
/// PUT and DELETE of attachments. The body of a PUT goes to a file while it arrives; the command with its hash is
/// proposed when the file is durable.
/// </summary>
internal sealed class ChangeAttachment(ServerContext context)
{
    private readonly ReceivedContents _received = new(context);

    public async Task PutAsync(HttpContext http, Database database)
    {
        var contents = _received.RequireSupport();
        var attachment = AttachmentParameters.Read(http);
        byte[] contentType = AttachmentParameters.ReadContentType(http);
        CheckExpectation(http);
        // A lagging member may not have applied the put of the document yet.
        if (
            !MissingDocument.Exists(database, attachment.Id)
            && await context.Node.Consensus.ReadBarrierAsync()
            && !MissingDocument.Exists(database, attachment.Id)
        )
        {
            throw MissingDocument.Refuse(Encoding.UTF8.GetString(attachment.Id));
        }

        ReceivedContents.Allow(http);
        var access = new FeedAccess(context, http);
        using var content = await ReceiveAsync(http, contents, database);
        access.RequireForBody();
        var command = Encode(http, database, attachment, contentType, content);
        await PatchRoom.TakeAsync(http, context, database, new ParsedBatch(command, Count: 1), lease: null);
        var outcome = await HttpProposal.ProposeAsync(context, http, command);
        if (outcome.Rejection is { } rejection)
        {
            // A repetition with If-Match would fail because of the first attempt's effect.
            await RavenErrors.WriteAsync(http, rejection, clientMayRetry: http.Request.Headers.IfMatch.Count == 0);
            return;
        }

        var stored = outcome[0];
        await JsonResponse.SendAsync(
            http,
            json => Write(json, database, attachment, contentType, content, stored),
            StatusCodes.Status201Created
        );
    }

    public async Task DeleteAsync(HttpContext http, Database database)
    {
        _received.RequireLevel();
        var attachment = AttachmentParameters.Read(http);
        CheckExpectation(http);
        var command = EncodeDelete(http, database, attachment);
        await PatchRoom.TakeAsync(http, context, database, new ParsedBatch(command, Count: 1), lease: null);
        var outcome = await HttpProposal.ProposeAsync(context, http, command);
        if (outcome.Rejection is { } rejection)
        {
            await RavenErrors.WriteAsync(http, rejection, clientMayRetry: http.Request.Headers.IfMatch.Count == 0);
            return;
        }

        await EmptyResponse.AnswerNoContent(http);
    }

    private async Task<PinnedContent> ReceiveAsync(HttpContext http, AttachmentContents contents, Database database)
    {
        var body = http.Request.BodyReader;
        await using var interrupt = context.Stopping.UnsafeRegister(
            static body => ((PipeReader)body!).CancelPendingRead(),
            body
        );
        return await _received.ReceiveAsync(contents, database, http.Request.ContentLength ?? 0, body);
    }

    // Checks the header early, because the command is encoded only after the whole body was received.
    private static void CheckExpectation(HttpContext http)
    {
        Span<byte> buffer = stackalloc byte[ExpectedChangeVector.MaxBytes];
        IfMatch.Read(http, buffer);
    }

    private static CommandBuffer Encode(
        HttpContext http,
        Database database,
        AttachmentParameters attachment,
        byte[] contentType,
        PinnedContent content
    )
    {
        Span<byte> buffer = stackalloc byte[ExpectedChangeVector.MaxBytes];
        using var writer = new BatchWriter(CommandKind.Batch, database.Number);
        writer.PutAttachment(
            attachment.Id,
            IfMatch.Read(http, buffer),
            new AttachmentEntry
            {
                Name = attachment.Name,
                ContentType = contentType,
                Hash = content.Hash,
                Size = content.Size,
            }
        );
        return writer.Complete();
    }

    private static CommandBuffer EncodeDelete(HttpContext http, Database database, AttachmentParameters attachment)
    {
        Span<byte> buffer = stackalloc byte[ExpectedChangeVector.MaxBytes];
        using var writer = new BatchWriter(CommandKind.Batch, database.Number);
        writer.DeleteAttachment(attachment.Id, IfMatch.Read(http, buffer), attachment.Name);
        return writer.Complete();
    }

    private static void Write(
        Utf8JsonWriter json,
        Database database,
        AttachmentParameters attachment,
        byte[] contentType,
        PinnedContent content,
        OperationResult stored
    )
    {
        json.WriteString("ChangeVector"u8, database.ChangeVectorOf(stored.Etag));
        json.WriteString("ContentType"u8, contentType);
        json.WriteString("DocumentId"u8, stored.Id ?? Encoding.UTF8.GetString(attachment.Id));
        json.WriteString("Hash"u8, content.Hash.ToString());
        json.WriteString("Name"u8, attachment.Name);
        json.WriteNumber("Size"u8, content.Size);
    }
}
