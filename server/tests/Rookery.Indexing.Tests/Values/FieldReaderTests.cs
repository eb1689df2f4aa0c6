using System.Buffers;
using System.Text;
using Rookery.Documents.Stored;
using Rookery.Fixtures;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Tests.Values;

/// <summary>The values of a field that a path names in a document, for conditions and for results.</summary>
public sealed class FieldReaderTests
{
    private const string Order = """
        { "name": "Ann", "none": null, "empty": [], "address": { "city": "Rome" }, "tags": ["a", ["b", null]], "a\"b": 1,
          "lines": [ { "product": "x", "sizes": [1, 2] }, { "product": "y" }, 5, { "sizes": 3 } ],
          "@metadata": { "@collection": "Orders", "@expires": "2027-01-01T00:00:00.0000000Z", "Raven-Node-Type": "Order", "deep": { "x": [ { "y": 1 } ] } } }
        """;

    [Theory]
    [InlineData("name", "\"Ann\"")]
    [InlineData("none", "null")]
    [InlineData("empty", "")]
    [InlineData("missing", "")]
    [InlineData("address", "{\"city\":\"Rome\"}")]
    [InlineData("address.city", "\"Rome\"")]
    [InlineData("name.city", "")]
    [InlineData("tags", "\"a\" \"b\" null")]
    [InlineData("tags[]", "\"a\" \"b\" null")]
    [InlineData("lines.product", "\"x\" \"y\"")]
    [InlineData("lines[].product", "\"x\" \"y\"")]
    [InlineData("lines[].sizes[]", "1 2 3")]
    [InlineData("name[]", "\"Ann\"")]
    [InlineData("a\"b", "1")]
    [InlineData("@metadata.@id", "\"orders/1\"")]
    [InlineData("@metadata.@collection", "\"Orders\"")]
    [InlineData("@metadata.@last-modified", "\"2026-11-21T09:49:45.0000000Z\"")]
    [InlineData("@metadata.@change-vector", "\"A:7-AAAAAAAAAAAAAAAAAAAAAA\"")]
    [InlineData("@metadata.@expires", "\"2027-01-01T00:00:00.0000000Z\"")]
    [InlineData("@metadata.Raven-Node-Type", "\"Order\"")]
    [InlineData("@metadata.deep.x.y", "1")]
    [InlineData("@metadata.missing", "")]
    [InlineData("@metadata.@id.x", "")]
    public void A_path_reads_its_values_and_the_elements_of_arrays(string path, string expected)
    {
        var visitor = new Collector(new StringBuilder());
        byte[] stored = StoredExample.Store("orders/1", Order);
        Assert.True(
            new FieldReader(FieldPaths.Parse(path)).Read(
                new QueriedDocument(new DocumentView(stored), 7, Encoding.UTF8.GetBytes(StoredExample.HistoryId)),
                ref visitor
            )
        );
        Assert.Equal(expected, visitor.ToString());
    }

    [Theory]
    [InlineData("name", "\"Ann\"")]
    [InlineData("missing", "null")]
    [InlineData("name.city", "null")]
    [InlineData("tags", "[\"a\",[\"b\",null]]")]
    [InlineData("empty", "[]")]
    [InlineData("lines[].product", "[\"x\",\"y\"]")]
    [InlineData("lines[].missing", "[]")]
    [InlineData("lines.sizes", "[1,2,3]")]
    [InlineData("@metadata.@id", "\"orders/1\"")]
    [InlineData("@metadata.deep.x", "[{\"y\":1}]")]
    [InlineData("@metadata.missing", "null")]
    public void A_projection_keeps_arrays_whole_and_collects_values_of_their_elements(string path, string expected)
    {
        var output = new ArrayBufferWriter<byte>();
        byte[] stored = StoredExample.Store("orders/1", Order);
        var writer = new FieldWriter(FieldPaths.Parse(path));
        var document = new QueriedDocument(
            new DocumentView(stored),
            etag: 7,
            Encoding.UTF8.GetBytes(StoredExample.HistoryId)
        );
        writer.Write(document, output);
        Assert.Equal(expected, output.Text());
        Assert.Equal(expected is not "null", writer.IsIn(document));
    }

    [Fact]
    public void The_whole_metadata_is_read_as_a_client_gets_it()
    {
        var output = new ArrayBufferWriter<byte>();
        byte[] stored = StoredExample.Store("a", """{"@metadata":{"@collection":"Users","k":1}}""");
        new FieldWriter(FieldPaths.Parse("@metadata")).Write(
            new QueriedDocument(new DocumentView(stored), 7, Encoding.UTF8.GetBytes(StoredExample.HistoryId)),
            output
        );
        Assert.Equal(
            """{"k":1,"@collection":"Users","@id":"a","@change-vector":"A:7-AAAAAAAAAAAAAAAAAAAAAA","@last-modified":"2026-11-21T09:49:45.0000000Z"}""",
            output.Text()
        );
    }

    private readonly struct Collector(StringBuilder values) : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            values.Append(values.Length == 0 ? "" : " ").Append(Encoding.UTF8.GetString(json));
            return true;
        }

        public override string ToString() => values.ToString();
    }
}
