using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Attachments;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Platform;

namespace Rookery.Server.Raven.Attachments;

/// <summary>
/// POST attachments/bulk: several attachments in one answer, as RavenDB sends them. The answer is a JSON object that
/// describes each attachment, and then the bytes of all, one after the other. It ends early if a content is damaged, or
/// is deleted meanwhile: clients know the lengths.
/// </summary>
internal sealed class GetAttachments(ServerContext context)
{
    private const int MaxAttachments = 1024;
    private const int MaxBodyBytes = 2 << 20;

    private readonly GetAttachment _files = new(context);

    public async Task HandleAsync(HttpContext http, Database database)
    {
        List<AttachmentParameters> requested;
        using (var body = await RequestBody.ReadAsync(http, MaxBodyBytes, context.LargeRequests, BodyUse.Objects))
        {
            requested = JsonBody.Read(body.Span, ReadRequest);
        }

        if (requested.Count > MaxAttachments)
        {
            throw new RefusedException(
                StatusCodes.Status413PayloadTooLarge,
                RavenType.BadRequest,
                $"The request names {requested.Count} attachments, and at most {MaxAttachments} are sent at once. Send "
                    + "several requests."
            );
        }

        var found = new List<(AttachmentParameters Requested, GetAttachment.Found Attachment)>();
        foreach (var attachment in requested)
        {
            if (GetAttachment.TryFind(database, attachment, out var one))
            {
                found.Add((attachment, one));
            }
        }

        await SendAsync(http, database, found);
    }

    private async Task SendAsync(
        HttpContext http,
        Database database,
        List<(AttachmentParameters Requested, GetAttachment.Found Attachment)> found
    )
    {
        using var answer = ResponseBuffer.Rent();
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.ReadsEnd);
        var buffer = PooledMemory.Rent(ContentFile.ChunkBytes);
        try
        {
            // The first file is opened before the headers are sent, so that its damage can be answered with an error.
            var file = OpenFirst(database, found);
            try
            {
                long bytes = WriteDetails(answer, database, found);
                http.Response.ContentType = "application/octet-stream";
                http.Response.Headers.XContentTypeOptions = "nosniff";
                http.Response.ContentLength = answer.Length + bytes;
                await GetAttachment.SendPartAsync(context, http, answer.Written, ending.Token);
                for (int i = 0; i < found.Count; i++)
                {
                    file ??= OpenSame(database, found[i].Requested, found[i].Attachment);
                    if (file is null)
                    {
                        http.Abort(); // a part must not look like the whole
                        return;
                    }

                    for (int chunk = 0; chunk < file.ChunkCount; chunk++)
                    {
                        int length = file.ReadChunk(chunk, buffer.Span);
                        await GetAttachment.SendPartAsync(context, http, buffer.Memory[..length], ending.Token);
                    }

                    file.Dispose();
                    file = null;
                }
            }
            finally
            {
                file?.Dispose();
            }
        }
        catch (Exception failure) when (failure is ContentDamagedException or DiskException or RefusedException)
        {
            if (!http.Response.HasStarted)
            {
                throw failure is RefusedException ? failure : GetAttachment.Damaged(failure);
            }

            http.Abort(); // a part must not look like the whole; the damage is reported
        }
        finally
        {
            buffer.Return();
        }
    }

    // Leaves out attachments that were deleted meanwhile, until one can be opened.
    private ContentFile? OpenFirst(
        Database database,
        List<(AttachmentParameters Requested, GetAttachment.Found Attachment)> found
    )
    {
        while (found.Count > 0)
        {
            var (requested, attachment) = found[0];
            if (_files.Open(database, requested, ref attachment) is { } file)
            {
                found[0] = (requested, attachment);
                return file;
            }

            found.RemoveAt(0);
        }

        return null;
    }

    // Returns null if the attachment was replaced or deleted after its details were sent.
    private ContentFile? OpenSame(Database database, AttachmentParameters requested, GetAttachment.Found sent)
    {
        var found = sent;
        var file = _files.Open(database, requested, ref found);
        if (file is null || found.Etag == sent.Etag)
        {
            return file;
        }

        file.Dispose();
        return null;
    }

    private static long WriteDetails(
        ResponseBuffer answer,
        Database database,
        List<(AttachmentParameters Requested, GetAttachment.Found Attachment)> found
    )
    {
        long bytes = 0;
        using var json = new Utf8JsonWriter(answer);
        json.WriteStartObject();
        json.WriteStartArray("AttachmentsMetadata"u8);
        foreach (var (requested, attachment) in found)
        {
            json.WriteStartObject();
            json.WriteString("DocumentId"u8, requested.Id);
            json.WriteString("Name"u8, attachment.Name);
            json.WriteString("ChangeVector"u8, database.ChangeVectorOf(attachment.Etag));
            json.WriteString("ContentType"u8, attachment.ContentType);
            json.WriteString("Hash"u8, attachment.Hash.ToString());
            json.WriteNumber("Size"u8, attachment.Size);
            json.WriteEndObject();
            bytes += attachment.Size;
        }

        json.WriteEndArray();
        json.WriteEndObject();
        return bytes;
    }

    private static List<AttachmentParameters> ReadRequest(ref Utf8JsonReader json)
    {
        var requested = new List<AttachmentParameters>();
        JsonBody.ForEachMember(
            ref json,
            (string name, ref Utf8JsonReader value) =>
            {
                switch (name)
                {
                    case "AttachmentType":
                        string? type = JsonBody.ReadText(ref value, name);
                        if (type is not (null or "Document"))
                        {
                            throw RefusedException.NotSupported(
                                $"attachments/bulk: the AttachmentType '{type}' is not supported; it must be Document."
                            );
                        }

                        break;
                    case "Attachments":
                        ReadList(ref value, requested);
                        break;
                    default:
                        JsonBody.RequireNull(ref value, name, "the body of attachments/bulk", "Attachments");
                        break;
                }
            }
        );
        return requested;
    }

    private static void ReadList(ref Utf8JsonReader json, List<AttachmentParameters> requested)
    {
        if (json.TokenType != JsonTokenType.StartArray)
        {
            throw RefusedException.BadRequest("'Attachments' must be a list.");
        }

        while (json.Read() && json.TokenType != JsonTokenType.EndArray)
        {
            requested.Add(ReadAttachment(ref json));
        }
    }

    private static AttachmentParameters ReadAttachment(ref Utf8JsonReader json)
    {
        string? id = null;
        string? name = null;
        JsonBody.ForEachMember(
            ref json,
            (string member, ref Utf8JsonReader value) =>
            {
                switch (member)
                {
                    case "DocumentId":
                        id = JsonBody.ReadText(ref value, member);
                        break;
                    case "Name":
                        name = JsonBody.ReadText(ref value, member);
                        break;
                    default:
                        JsonBody.RequireNull(ref value, member, "an attachment", "DocumentId", "Name");
                        break;
                }
            },
            "An attachment"
        );
        byte[] documentId = Encoding.UTF8.GetBytes(id ?? "");
        byte[] attachment = Encoding.UTF8.GetBytes(name ?? "");
        if (!DocumentId.TryValidate(documentId, out var error))
        {
            throw RavenErrors.Refuse(error);
        }

        return AttachmentList.IsName(attachment)
            ? new AttachmentParameters(documentId, attachment)
            : throw RefusedException.BadRequest(
                $"The Name of an attachment has 1 to {AttachmentList.MaxNameBytes} bytes, and this one "
                    + $"{attachment.Length}. Choose another one."
            );
    }
}
