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
    /// <summary>The source of a copy or a move; otherwise null.</summary>
    public CopySource? Source { get; init; }

    /// <summary>Returns the attachment of an operation; null if it changes none.</summary>
    public static BatchAttachment? Of(in Operation operation) =>
        operation.IsOfAttachment
            ? new BatchAttachment(
                Encoding.UTF8.GetString(operation.Attachment.Name),
                Encoding.UTF8.GetString(operation.Attachment.ContentType),
                operation.Attachment.Hash,
                operation.Attachment.Size
            )
            {
                Source = operation.Kind == OperationKind.AttachmentCopy ? CopySource.Of(operation.Copy) : null,
            }
            : null;

    /// <summary>Writes the members of the result of a copy or a move.</summary>
    /// <param name="json">Receives the members.</param>
    /// <param name="id">The id of the document with the new attachment.</param>
    /// <param name="database">The database.</param>
    /// <param name="result">The result of the copy.</param>
    /// <param name="removal">The result of the delete of the source, if it is in another document.</param>
    public void WriteCopied(
        Utf8JsonWriter json,
        string id,
        Database database,
        in OperationResult result,
        in OperationResult removal
    )
    {
        var copied = result.Attachment ?? throw new InvalidOperationException("A copy has an attachment.");
        string version = database.ChangeVectorOf(result.Etag);
        bool moves = Source is { Moves: true };
        json.WriteString("Type"u8, moves ? "AttachmentMOVE"u8 : "AttachmentCOPY"u8);
        // After a copy, clients add Name to the document Id. After a move, they remove it from there.
        json.WriteString("Id"u8, moves ? removal.Id ?? (Source!.Renames ? id : Source.Id) : id);
        json.WriteString("Name"u8, moves ? Source!.Name : Name);
        if (moves)
        {
            json.WriteString("DestinationId"u8, id);
            json.WriteString("DestinationName"u8, Name);
        }

        json.WriteString("ChangeVector"u8, version);
        json.WriteString("Hash"u8, copied.Hash.ToString());
        json.WriteString("ContentType"u8, copied.ContentType);
        json.WriteNumber("Size"u8, copied.Size);
        json.WriteString("DocumentChangeVector"u8, removal.Etag == 0 ? version : database.ChangeVectorOf(removal.Etag));
        if (moves)
        {
            json.WriteString("DestinationDocumentChangeVector"u8, version);
        }
    }

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

/// <summary>The attachment that a batch copies or moves.</summary>
/// <param name="Id">The document's id, as the request has it.</param>
/// <param name="Name">The attachment's name, as the request has it.</param>
/// <param name="Moves">Whether it is removed.</param>
/// <param name="Renames">Whether it is in the document that gets the new one.</param>
internal sealed record CopySource(string Id, string Name, bool Moves, bool Renames)
{
    /// <summary>Returns the source that a command names.</summary>
    public static CopySource Of(scoped in AttachmentCopyCommand copy) =>
        new(
            Encoding.UTF8.GetString(copy.Source.Written),
            Encoding.UTF8.GetString(copy.SourceName),
            copy.Moves,
            copy.Renames
        );
}
