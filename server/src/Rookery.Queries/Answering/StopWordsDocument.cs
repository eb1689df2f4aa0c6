using System.Text;
using System.Text.Json;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Json;
using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>
/// Reads the documents that list words for <c>moreLikeThis</c> to ignore: an array <c>StopWords</c>, as RavenDB's
/// clients store it. Any casing of the name is accepted.
/// </summary>
internal static class StopWordsDocument
{
    // Lists of stop words of any language have a few KiB.
    private const int MaxBytes = 256 << 10;

    /// <summary>Returns the words.</summary>
    /// <exception cref="QueryException">There is no such document, or it lists no words.</exception>
    public static IReadOnlyList<string> Read(Database database, string id)
    {
        using var reader = database.OpenReader();
        byte[] idBytes = Encoding.UTF8.GetBytes(id);
        if (!DocumentId.TryValidate(idBytes, out _) || !reader.TryGetDocument(idBytes, out var document))
        {
            throw Refuse($"There is no document '{id}' with stop words.");
        }

        using (document)
        {
            if (document.Length > MaxBytes)
            {
                throw Refuse($"A document with stop words has at most {MaxBytes >> 10} KiB, and '{id}' has more.");
            }

            byte[] json = [(byte)'{', .. document.View.Body, (byte)'}'];
            using var parsed = JsonDocument.Parse(
                json,
                new JsonDocumentOptions { MaxDepth = JsonLimits.MaxEnvelopeDepth }
            );
            var words = parsed
                .RootElement.EnumerateObject()
                .FirstOrDefault(static member =>
                    string.Equals(member.Name, "StopWords", StringComparison.OrdinalIgnoreCase)
                )
                .Value;
            return words.ValueKind == JsonValueKind.Array
                ?
                [
                    .. words
                        .EnumerateArray()
                        .Where(static word => word.ValueKind == JsonValueKind.String)
                        .Select(static word => word.GetString()!),
                ]
                : throw Refuse($"The document '{id}' has no array 'StopWords'.");
        }
    }

    private static QueryException Refuse(string message) => new(QueryFault.Invalid, message);
}
