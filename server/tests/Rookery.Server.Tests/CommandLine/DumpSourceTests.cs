using System.Text;
using System.Text.Json;
using Rookery.Transfer;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>
/// Reads dumps: files that RavenDB exports, JSON in which the bytes of attachments and time series follow their
/// descriptions.
/// </summary>
public sealed class DumpSourceTests
{
    /// <summary>Bytes arrive in pieces of any length. The result does not depend on where a piece ends.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(4096)]
    public void Raw_bytes_between_the_JSON_are_skipped(int pieceBytes)
    {
        // The attachment has 9 raw bytes, and the time series 3, which are no valid JSON.
        const string Dump = """
            { "BuildVersion" : 70000 , "Docs": [
              {"@metadata":{"@export-type":"Attachment"},"Hash":"h","Size":9,"Tag":"t"}]},{"x":[ , {"a" : 1,
                "@metadata" : {"@id":"a/1"}} ,{"@metadata":{"@id":"a/2"}}],
              "Identities":[{"Key":"a|","Value":"7"},{"Key":"b|","Value":8}], "Indexes":[],
              "TimeSeries":[{"@raven-data":{"DocId":"a"},"@raven-blob-size":3}]]]], "New": {"a":[]} }
            """;
        var source = new DumpSource(new ByteSource(new PieceStream(Encoding.UTF8.GetBytes(Dump), pieceBytes)));
        var documents = new List<string>();
        while (source.TryRead(out var record))
        {
            documents.Add(Encoding.UTF8.GetString(record.Json.Span));
        }

        Assert.Equal(
            ["""{"a":1,"@metadata":{"@id":"a/1"}}""", """{"@metadata":{"@id":"a/2"}}"""],
            documents.Select(static document => document.Replace(" ", string.Empty, StringComparison.Ordinal))
        );
        Assert.DoesNotContain(documents, static document => document.Contains('\n', StringComparison.Ordinal));
        Assert.Equal([("a|", 7), ("b|", 8)], source.TakeIdentities());
        Assert.Equal(["Attachments", "New", "TimeSeries"], source.Skipped.Keys);
        Assert.Equal("70000", source.BuildVersion);
    }

    [Theory]
    [InlineData("[1]")]
    [InlineData("{\"Docs\":{\"a\":1}}")]
    [InlineData("{\"Docs\":[{\"@metadata\":{\"@id\":\"a\"}},5]}")]
    [InlineData("{\"Docs\":[null]}")]
    [InlineData("{\"Identities\":{\"a|\":5}}")]
    [InlineData("{\"Indexes\":7}")]
    [InlineData("{\"Docs\":[{\"@metadata\":{\"@id\":\"a\"}}")]
    [InlineData("{\"Docs\":[{\"@metadata\":{\"@export-type\":\"Attachment\"},\"Size\":99}abc")]
    [InlineData("{\"Docs\":[{]}")]
    [InlineData("{\"Docs\":[{\"@metadata\":{\"@export-type\":\"Attachment\"}}]}")]
    [InlineData("{\"Docs\":[{\"@metadata\":{\"@export-type\":\"Attachment\"},\"Size\":\"9\"}]}")]
    [InlineData("{\"Identities\":[{\"Key\":\"a|\",\"Value\":\"x\"}]}")]
    [InlineData("{\"Identities\":[{\"Key\":\"a|\",\"Value\":\"99999999999999999999\"}]}")]
    [InlineData("{\"Identities\":[1]}")]
    [InlineData("{\"Identities\":[{\"Key\":null,\"Value\":\"1\"}]}")]
    [InlineData("{\"Indexes\":[{\"Type\":\"Map\",\"IndexDefinition\":7}]}")]
    [InlineData("")]
    public void Files_that_are_not_dumps_are_refused(string text)
    {
        Assert.Throws<BadInputException>(() =>
        {
            var source = new DumpSource(new ByteSource(new MemoryStream(Encoding.UTF8.GetBytes(text))));
            while (source.TryRead(out _))
            {
                // The invalid part may come after valid documents.
            }
        });
    }

    [Theory]
    [InlineData("{\"Docs\":[]}{\"Docs\":[]}")]
    [InlineData("{}x")]
    public void Bytes_after_a_dump_are_refused_after_the_dump_is_read(string text)
    {
        var source = new DumpSource(new ByteSource(new MemoryStream(Encoding.UTF8.GetBytes(text))));
        Assert.False(source.TryRead(out _));
        Assert.Throws<BadInputException>(source.RequireEnd);
    }

    [Theory]
    [InlineData("{\"Name\":\"Orders/ByCompany\"}", "Orders/ByCompany")]
    [InlineData("{\"Name\":7}", "-")]
    [InlineData("{\"Name\":null}", "-")]
    [InlineData("{\"Name\":\"\\ud800\"}", "-")]
    [InlineData("{\"\\ud800\":1,\"Name\":\"A\"}", "A")]
    [InlineData("{}", "-")]
    public void A_refused_index_is_reported_by_name(string definition, string name)
    {
        using var index = JsonDocument.Parse(definition);
        Assert.Equal(name, DumpSource.NameOf(index.RootElement));
    }

    [Theory]
    [InlineData("{\"name\":\"M\u00ff\",\"@metadata\":{\"@id\":\"a\"}}")]
    [InlineData("{\"name\":\"\\ud800\",\"@metadata\":{\"@id\":\"a\"}}")]
    [InlineData("{\"\\ud800\":1,\"@metadata\":{\"@id\":\"a\"}}")]
    [InlineData("{\"@metadata\":{\"\\ud800\":1,\"@export-type\":7,\"@id\":\"a\"}}")]
    public void A_document_with_an_invalid_text_is_left_to_the_node_unchanged(string document)
    {
        // Each character becomes one byte, so that some documents are no UTF-8.
        var dump = Encoding.Latin1.GetBytes($"{{\"Docs\":[{document},{{\"@metadata\":{{\"@id\":\"b\"}}}}]}}");
        var source = new DumpSource(new ByteSource(new MemoryStream(dump)));
        Assert.True(source.TryRead(out var record));
        Assert.Equal(document, Encoding.Latin1.GetString(record.Json.Span));
        Assert.True(source.TryRead(out _));
        Assert.False(source.TryRead(out _));
        Assert.Empty(source.Skipped);
    }

    [Fact]
    public void Unknown_sections_of_a_dump_are_counted_under_a_bounded_number_of_short_names()
    {
        string members = string.Join(
            ',',
            Enumerable.Range(0, 1000).Select(static n => $"\"{n}{new string('x', 1000)}\":1")
        );
        var source = new DumpSource(new ByteSource(new MemoryStream(Encoding.UTF8.GetBytes($"{{{members}}}"))));
        Assert.False(source.TryRead(out _));
        // DumpSource names at most 64 sections, and counts the others under one further name.
        Assert.InRange(source.Skipped.Count, 2, 65);
        Assert.All(source.Skipped.Keys, static kind => Assert.InRange(kind.Length, 1, 60));
        Assert.Equal(1000, source.Skipped.Values.Sum());
    }

    [Fact]
    public void Any_number_of_identities_is_imported_in_portions()
    {
        const int Identities = 250_000;
        var all = Enumerable.Range(1, Identities).Select(static n => $"{{\"Key\":\"{n}|\",\"Value\":{n}}}");
        string identities = string.Join(',', all);
        string dump = $"{{\"Identities\":[{identities}],\"Docs\":[{{\"@metadata\":{{\"@id\":\"a\"}}}}]}}";
        var source = new DumpSource(new ByteSource(new MemoryStream(Encoding.UTF8.GetBytes(dump))));
        long identityCount = 0,
            documents = 0;
        while (source.TryRead(out var record))
        {
            documents += record.IsPause ? 0 : 1;
            identityCount += Count(source.TakeIdentities());
        }

        Assert.Equal((Identities, 1), (identityCount + Count(source.TakeIdentities()), documents));

        static int Count((string Name, long Value)[] portion)
        {
            const int MaxPortion = 1000;
            Assert.InRange(portion.Length, 0, MaxPortion);
            return portion.Length;
        }
    }

    /// <summary>Returns at most a number of bytes from each read.</summary>
    internal sealed class PieceStream(byte[] bytes, int pieceBytes) : MemoryStream(bytes)
    {
        public override int Read(byte[] buffer, int offset, int count) =>
            base.Read(buffer, offset, Math.Min(count, pieceBytes));
    }
}
