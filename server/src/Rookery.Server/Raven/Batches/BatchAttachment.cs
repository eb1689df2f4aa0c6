using System.Text;
using System.Text.Json;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;

namespace Rookery.Server.Raven.Batches;

/// <summary>The attachment that an operation of a batch changes, for its result.</summary>
/// <param name="Name">The name.</param>
/// <param name="ContentType">The content type.</param>
/// <param name="Hash">Hash of the content.</param>
/// <param name="Size">Size of the content.</param>
internal sealed record BatchAttachment(string Name, string ContentType, ContentHash Hash, long Size)
{
    /// <summary>Returns the attachment of an operation; null if it changes none.</summary>
    public static BatchAttachment? Of(in Operation operation) =>
        operation.Kind is OperationKind.AttachmentPut or OperationKind.AttachmentDelete
            ? new BatchAttachment(
                Encoding.UTF8.GetString(operation.Attachment.Name),
                Encoding.UTF8.GetString(operation.Attachment.ContentType),
                operation.Attachment.Hash,
                operation.Attachment.Size
            )
            : null;

    /// <summary>Writes the members of the result.</summary>
    public void WriteResult(
        Utf8JsonWriter json,
        OperationKind kind,
        string id,
        Database database,
        in OperationResult result
    )
    {
        bool isPut = kind == OperationKind.AttachmentPut;
        json.WriteString("Type"u8, isPut ? "AttachmentPUT"u8 : "AttachmentDELETE"u8);
        json.WriteString(isPut ? "Id"u8 : "@id"u8, id);
        json.WriteString("Name"u8, Name);
        if (isPut)
        {
            json.WriteString("ChangeVector"u8, database.ChangeVectorOf(result.Etag));
            json.WriteString("Hash"u8, Hash.ToString());
            json.WriteString("ContentType"u8, ContentType);
            json.WriteNumber("Size"u8, Size);
        }

        if (result.Etag != 0)
        {
            json.WriteString("DocumentChangeVector"u8, database.ChangeVectorOf(result.Etag));
        }
    }
}
