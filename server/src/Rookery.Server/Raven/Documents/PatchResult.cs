using System.Text;
using System.Text.Json;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Stored;

namespace Rookery.Server.Raven.Documents;

/// <summary>Writes the result of a patch in RavenDB's terms.</summary>
internal static class PatchResult
{
    public static string StatusName(OperationStatus status) =>
        status switch
        {
            OperationStatus.Patched => "Patched",
            OperationStatus.Created => "Created",
            OperationStatus.NotModified => "NotModified",
            OperationStatus.Skipped => "Skipped",
            _ => "DocumentDoesNotExist",
        };

    /// <summary>Writes ChangeVector, LastModified and, if the patch requested it, ModifiedDocument.</summary>
    public static void WriteMembers(Utf8JsonWriter json, in OperationResult result, Database database)
    {
        if (result.Etag == 0)
        {
            json.WriteNull("ChangeVector"u8);
            return;
        }

        json.WriteString("ChangeVector"u8, database.ChangeVectorOf(result.Etag));
        json.WriteString("LastModified"u8, DocumentJson.Date(result.LastModifiedTicks));
        if (result.Document is null)
        {
            return;
        }

        using var stored = result.Document;
        using var document = ResponseBuffer.Rent();
        DocumentWriter.Write(
            document,
            new DocumentView(result.Document.Written.Span),
            result.Etag,
            Encoding.ASCII.GetBytes(database.HistoryId)
        );
        json.WritePropertyName("ModifiedDocument"u8);
        json.WriteRawValue(document.Written.Span, skipInputValidation: true);
    }
}
