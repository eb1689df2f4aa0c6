using System.Buffers;
using System.Text;
using System.Text.Json;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Json;
using static Rookery.Documents.Tests.Parsing.ParsedExample;

namespace Rookery.Documents.Tests.Stored;

/// <summary>Documents as they are stored, and as answers return them.</summary>
public class StoredDocumentTests
{
    private static readonly long Ticks = new DateTime(2026, 11, 21, 9, 49, 45, 212, DateTimeKind.Utc).Ticks;

    /// <summary>Returns the stored form of a document.</summary>
    internal static byte[] Store(string json, string id, long ticks = 0)
    {
        using DocumentParser parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(Bytes(json), out ParsedDocument document, out InputError error), error.ToString());
        byte[] value = new byte[StoredDocument.MaxHeadBytes + StoredDocument.ContentBytes(document)];
        int head = StoredDocument.WriteHead(value, Bytes(id), ticks, document.ExpiresAtTicks);
        return value[..(head + StoredDocument.WriteContent(value.AsSpan(head), document))];
    }

    [Fact]
    public void A_document_is_returned_with_computed_metadata()
    {
        byte[] value = Store(
            """{"a":1,"@metadata":{"@collection":"Users","k":true,"@id":"old"},"b":2}""",
            "users/1",
            Ticks
        );
        Assert.Equal(
            """{"a":1,"b":2,"@metadata":{"k":true,"@collection":"Users","@id":"users/1","@change-vector":"A:7-abcdefghijklmnopqrstuv","@last-modified":"2026-11-21T09:49:45.2120000Z"}}""",
            WriteAnswer(value)
        );
        Assert.Equal(
            """{"@metadata":{"@id":"x","@change-vector":"A:7-abcdefghijklmnopqrstuv","@last-modified":"2026-11-21T09:49:45.2120000Z"}}""",
            WriteAnswer(Store("{}", "x", Ticks))
        );
    }

    [Fact]
    public void Ids_and_collections_are_escaped_in_answers()
    {
        using JsonDocument answer = JsonDocument.Parse(
            WriteAnswer(Store("""{"@metadata":{"@collection":"a\"b\\"}}""", "q\"\\é", Ticks))
        );
        JsonElement metadata = answer.RootElement.GetProperty("@metadata");
        Assert.Equal("a\"b\\", metadata.GetProperty("@collection").GetString());
        Assert.Equal("q\"\\é", metadata.GetProperty("@id").GetString());
    }

    [Fact]
    public void A_large_document_has_the_same_JSON_in_one_part_and_in_chunks()
    {
        byte[] value = Store(
            $$$"""{"a":"{{{new string('x', 100_000)}}}","@metadata":{"k":"{{{new string('y', 5000)}}}"}}""",
            "big",
            Ticks
        );
        int bodyOffset = StoredDocument.BodyOffset(value.AsSpan(0, 1200));
        var head = new DocumentView(value.AsSpan(0, bodyOffset));
        var output = new ArrayBufferWriter<byte>();
        output.Write("{"u8);
        output.Write(value.AsSpan(bodyOffset));
        DocumentWriter.WriteTail(output, head, hasBody: true, etag: 7, "abcdefghijklmnopqrstuv"u8);
        Assert.Equal(WriteAnswer(value), Text(output.WrittenSpan));
    }

    [Fact]
    public void Metadata_can_be_returned_alone()
    {
        var output = new ArrayBufferWriter<byte>();
        DocumentWriter.WriteMetadataOnly(
            output,
            new DocumentView(Store("""{"a":1,"@metadata":{"k":1}}""", "x", Ticks)),
            etag: 7,
            "abcdefghijklmnopqrstuv"u8
        );
        using JsonDocument answer = JsonDocument.Parse(output.WrittenMemory);
        Assert.Equal(["@metadata"], answer.RootElement.EnumerateObject().Select(member => member.Name));
    }

    [Fact]
    public void Every_truncated_head_is_refused_with_a_message()
    {
        byte[] value = Store("""{"@metadata":{"@expires":"2026-11-21T09:49:45Z","@collection":"Users"}}""", "users/1");
        for (int length = 0; length < value.Length; length++)
        {
            byte[] truncated = value[..length];
            Assert.Throws<StoredDocumentException>(() => new DocumentView(truncated).Body.Length);
        }

        value[0] = 2; // the next version of the format
        Assert.Contains(
            "newer version",
            Assert.Throws<StoredDocumentException>(() => new DocumentView(value).Body.Length).Message,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("2026-11-21T09:49:45.2120000Z")]
    [InlineData("0001-01-01T00:00:00.0000000Z")]
    [InlineData("9999-12-31T23:59:59.9999999Z")]
    [InlineData("2024-02-29T00:00:00.0000000Z")]
    public void Dates_are_written_as_they_were_read(string text)
    {
        Assert.True(WireDate.TryParse(Bytes(text), out long ticks));
        byte[] written = new byte[WireDate.Length];
        WireDate.Write(written, ticks);
        Assert.Equal(text, Text(written));
    }

    [Theory]
    [InlineData("2026-11-21")]
    [InlineData("2026-11-21 09:49:45")]
    [InlineData("2026-13-21T09:49:45")]
    [InlineData("2026-11-21T24:00:00")]
    [InlineData("2026-11-21T09:49:45.")]
    [InlineData("2026-11-21T09:49:45.12345678Z")]
    [InlineData("2026-11-21T09:49:45+2")]
    [InlineData("2026-11-21T09:49:45ZZ")]
    [InlineData("0001-01-01T00:00:00+01:00")]
    public void Text_that_is_no_date_is_refused(string text) => Assert.False(WireDate.TryParse(Bytes(text), out _));

    [Fact]
    public void A_change_vector_names_node_etag_and_history()
    {
        byte[] text = new byte[ChangeVector.MaxBytes];
        ReadOnlySpan<byte> history = "abcdefghijklmnopqrstuv"u8;
        ReadOnlySpan<byte> vector = text.AsSpan(0, ChangeVector.Write(text, etag: 42, history));
        Assert.Equal("A:42-abcdefghijklmnopqrstuv", Text(vector));
    }

    /// <summary>Returns a stored document as an answer has it, with etag 7.</summary>
    private static string WriteAnswer(byte[] value)
    {
        var output = new ArrayBufferWriter<byte>();
        DocumentWriter.Write(output, new DocumentView(value), etag: 7, "abcdefghijklmnopqrstuv"u8);
        return Encoding.UTF8.GetString(output.WrittenSpan);
    }
}
