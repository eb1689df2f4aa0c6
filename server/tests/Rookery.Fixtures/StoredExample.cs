using System.Buffers;
using System.Text;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Json;

namespace Rookery.Fixtures;

/// <summary>Documents in the form in which the store has them.</summary>
public static class StoredExample
{
    /// <summary>A history ID of a database.</summary>
    public const string HistoryId = "AAAAAAAAAAAAAAAAAAAAAA";

    /// <summary>Returns the bytes of a stored document, last modified on 2026-11-21.</summary>
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

    /// <summary>Returns the written bytes as text.</summary>
    public static string Text(this ArrayBufferWriter<byte> output) => Encoding.UTF8.GetString(output.WrittenSpan);
}
