using System.Buffers;
using System.Text;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Json;

namespace Rookery.Fixtures;

/// <summary>Documents as the engine stores them.</summary>
public static class StoredExample
{
    public const string HistoryId = "AAAAAAAAAAAAAAAAAAAAAA";

    /// <summary>Stores a document.</summary>
    /// <param name="id">Its id.</param>
    /// <param name="json">The document as a client sends it.</param>
    public static byte[] Store(string id, string json)
    {
        using DocumentParser parser = DocumentParser.Rent();
        Assert.True(
            parser.TryParse(Encoding.UTF8.GetBytes(json), out ParsedDocument document, out InputError error),
            error.ToString()
        );
        byte[] head = new byte[StoredDocument.MaxHeadBytes];
        byte[] content = new byte[StoredDocument.ContentBytes(document)];
        StoredDocument.WriteContent(content, document);
        return
        [
            .. head[
                ..StoredDocument.WriteHead(
                    head,
                    Encoding.UTF8.GetBytes(id),
                    new DateTime(2026, 11, 21, 9, 49, 45, DateTimeKind.Utc).Ticks,
                    document.ExpiresAtTicks
                )
            ],
            .. content,
        ];
    }

    public static string Text(this ArrayBufferWriter<byte> output) => Encoding.UTF8.GetString(output.WrittenSpan);
}
