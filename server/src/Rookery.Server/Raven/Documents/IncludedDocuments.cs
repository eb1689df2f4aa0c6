using System.Text;
using System.Text.Json;
using Rookery.Documents;

namespace Rookery.Server.Raven.Documents;

/// <summary>Writes the members of "Includes": documents by their ids, as the referring documents write them.</summary>
internal static class IncludedDocuments
{
    /// <summary>Writes one; nothing when there is no such document.</summary>
    /// <returns>Whether it was written.</returns>
    public static bool TryWrite(AnswerBuffer answer, in DatabaseReader reader, Database database, string id, bool isFirst, ref EntityTag tag)
    {
        Span<byte> utf8 = stackalloc byte[512];
        if (!Encoding.UTF8.TryGetBytes(id, utf8, out int length)
            || !Rookery.Documents.Ids.DocumentId.TryValidate(utf8[..length], out _)
            || !reader.TryGetDocument(utf8[..length], out var document))
        {
            tag.Add(0);
            return false;
        }

        using (document)
        {
            tag.Add(document.Etag);
            answer.Write(isFirst ? "\""u8 : ",\""u8);
            answer.Write(JsonEncodedText.Encode(id).EncodedUtf8Bytes);
            answer.Write("\":"u8);
            DocumentJson.Write(answer, document.View, document.Etag, database);
            return true;
        }
    }
}
