using System.Text;
using Rookery.Fixtures;
using Rookery.Indexing.Values;
using Rookery.Queries.Execution;

namespace Rookery.Queries.Tests.Execution;

/// <summary>Rows of an index that are computed while a query runs.</summary>
public sealed class IndexRowsTests
{
    /// <summary>
    /// Documents that a map loads for a query come from the query's snapshot, like the documents it maps.
    /// </summary>
    [Fact]
    public void Rows_computed_for_a_query_load_documents_from_its_snapshot()
    {
        using var node = IndexedNode.New();
        node.Put("companies/1", "\"city\":\"Ulm\"", "Companies");
        node.Put("users/1", "\"company\":\"companies/1\"");
        node.DefineField("ByCity", "load(o.company, 'Companies').city");
        node.SettleAll();
        var source = new IndexedQueries(node.Host).FindRowSource(node.Database(), "ByCity")!;
        using var reader = node.Database().OpenReader();
        node.Put("companies/1", "\"city\":\"Bonn\"", "Companies");
        using var rows = new IndexRows(source, node.Database(), () => reader);
        using var documents = reader.SeekByIdPrefix("users/"u8);
        Assert.True(documents.MoveNext());
        byte[] row = rows.Of(new QueriedDocument(documents.View, documents.Etag, [])).Single();
        Assert.Equal("\"n\":\"Ulm\"", Encoding.UTF8.GetString(row));
    }

    /// <summary>
    /// A stale index still finds a document that was archived since. Without rows, the document is no result.
    /// </summary>
    [Fact]
    public void An_archived_document_has_no_rows()
    {
        using var node = IndexedNode.New();
        node.DefineField("ByAge", "o.age");
        node.Put("users/1", "\"age\":7", metadata: ",\"@archived\":true");
        node.SettleAll();
        var source = new IndexedQueries(node.Host).FindRowSource(node.Database(), "ByAge")!;
        using var reader = node.Database().OpenReader();
        using var rows = new IndexRows(source, node.Database(), () => reader);
        using var documents = reader.SeekByIdPrefix("users/"u8);
        Assert.True(documents.MoveNext());
        Assert.Empty(rows.Of(new QueriedDocument(documents.View, documents.Etag, [])));
    }
}
