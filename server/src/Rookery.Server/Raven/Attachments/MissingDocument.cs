using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;

namespace Rookery.Server.Raven.Attachments;

/// <summary>
/// Checks, before the file of an attachment is uploaded, that its document exists. The check only saves uploads that
/// would be refused: apply decides, because the document can be stored or deleted meanwhile.
/// </summary>
internal static class MissingDocument
{
    /// <summary>Returns whether a document exists now.</summary>
    public static bool Exists(Database database, ReadOnlySpan<byte> id)
    {
        using var reader = database.OpenReader();
        bool exists = reader.TryGetDocument(id, out var document);
        document.Dispose();
        return exists;
    }

    /// <summary>
    /// Returns the id of a document to which a batch adds an attachment, and which neither exists nor is stored by the
    /// batch; null if there is none.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="batch">The command.</param>
    public static string? Find(Database database, ReadOnlySpan<byte> batch)
    {
        var missing = ReadMissing(database, batch);
        if (missing.Count == 0)
        {
            return null;
        }

        Span<byte> lower = stackalloc byte[DocumentId.MaxBytes];
        var command = new CommandReader(batch);
        while (command.TryReadOperation(out var operation))
        {
            if (operation.Kind is not (OperationKind.Put or OperationKind.Patch))
            {
                continue;
            }

            if (operation.Id.IsCompletedByApply)
            {
                return null; // its id is known only at apply
            }

            missing.Remove(Encoding.UTF8.GetString(lower[..operation.Id.WriteLowerName(lower)]));
        }

        return missing.Values.FirstOrDefault();
    }

    /// <summary>Returns the refusal.</summary>
    public static RefusedException Refuse(string id) =>
        new(
            StatusCodes.Status400BadRequest,
            RavenType.DocumentDoesNotExist,
            $"Document {id} does not exist, so it can have no attachment. Store the document first."
        );

    // By lower-cased id.
    private static Dictionary<string, string> ReadMissing(Database database, ReadOnlySpan<byte> batch)
    {
        Span<byte> lower = stackalloc byte[DocumentId.MaxBytes];
        var missing = new Dictionary<string, string>(StringComparer.Ordinal);
        var command = new CommandReader(batch);
        while (command.TryReadOperation(out var operation))
        {
            if (
                operation.Kind == OperationKind.AttachmentPut
                && operation.Id.Kind == CommandIdKind.Literal
                && !Exists(database, operation.Id.Written)
            )
            {
                string id = Encoding.UTF8.GetString(lower[..operation.Id.WriteLowerName(lower)]);
                missing[id] = Encoding.UTF8.GetString(operation.Id.Written);
            }
        }

        return missing;
    }
}
