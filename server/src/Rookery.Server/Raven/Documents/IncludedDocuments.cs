using System.Text;
using System.Text.Json;
using Rookery.Documents.Databases;

namespace Rookery.Server.Raven.Documents;

/// <summary>Writes the members of "Includes": documents by id, spelled as in the referring document.</summary>
internal static class IncludedDocuments
{
    /// <summary>Writes one document; writes nothing if it does not exist.</summary>
    /// <returns>False if the document needs more room than the answer has.</returns>
    public static bool TryWrite(
        DocumentResponse answer,
        in DatabaseReader reader,
        Database database,
        string id,
        ref bool isFirst,
        ref EntityTag tag,
        out long neededBytes
    )
    {
        neededBytes = 0;
        Span<byte> utf8 = stackalloc byte[512];
        if (
            !Encoding.UTF8.TryGetBytes(id, utf8, out int length)
            || !Rookery.Documents.Ids.DocumentId.TryValidate(utf8[..length], out _)
            || !reader.TryGetDocument(utf8[..length], out var document)
        )
        {
            tag.Add(0);
            return true;
        }

        using (document)
        {
            neededBytes = document.Length;
            if (!answer.TryReserve(neededBytes))
            {
                return false;
            }

            tag.Add(document.Etag);
            answer.Write(isFirst ? "\""u8 : ",\""u8);
            answer.Write(JsonEncodedText.Encode(id).EncodedUtf8Bytes);
            answer.Write("\":"u8);
            DocumentJson.Write(answer.Buffer, document, database);
            isFirst = false;
            return true;
        }
    }
}
